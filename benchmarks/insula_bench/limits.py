"""The head behind `insula.language.heads.limit_odds`: whether what somebody told limits the answer to their request.

`limits/` holds, by language, kinds of facts (`!`), kinds of requests (`?`), words to put into them (`$`) and requests
that nothing limits (`-`); `limits.json` says which facts limit which requests. All pairs of a language are read, with
what people tell and ask otherwise as negatives. A low-rank product of both vectors beside their cosine, fitted by Adam
(Kingma and Ba 2014); half of what it reads is left out at random in each step. The point comes from real messages and
from the first half of the table of questions, asked after the facts of that table were told.
"""

import json as jsonlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.units import split_units
from insula.memory.retrieval.embedding import embed_text, embedded_all
from insula.text.analysis import analyse_text
from insula_bench import life

Array = npt.NDArray[Any]

RANK, EPOCHS = 48, 250
REQUESTS, FACTS = 220, 180
"""Of each that one step reads."""
RATE, LEAST_RATE, DECAY, SECOND, EPSILON = 3e-3, 1e-5, 0.9, 0.99, 1e-8
SCALE, SHRINK, LEFT_OUT = 4.0, 1e-3, 0.5
BEGIN = {"cosine": 2.0, "intercept": -4.0}
COMPOSED = 6
"""Sentences that are made of a template with slots."""
SENTENCE = 0.4
"""The share that begins with a capital."""
NONE, OTHER, UNSURE = "none", "other", 0.25
"""Requests that nothing limits, what was told otherwise, and what a pair of such a fact and a request counts for: it
may limit it, nobody labelled it."""
EVERY = 3
"""Of what people told otherwise each so many-th line is read."""
SAME = 0.5
"""How often facts are read in the language of the requests; else in any."""
SHOWN: Mapping[str, float] = {"real": 0.002, "world": 0.02}
"""The share of real messages, and of questions of the world, that may be shown a limit by mistake."""
_SLOT = re.compile(r"{(\w+)}")


class Read(NamedTuple):
    """What one language holds: vectors, each with its kind."""

    requests: Array
    asked: Array
    facts: Array
    told: Array


class Fitted(NamedTuple):
    """The projections, the bias in the last row, and what else counts."""

    asked: Array
    told: Array
    cosine: float
    intercept: float

    def odds(self, requests: Array, facts: Array) -> Array:
        """The log-odds of each pair."""
        return (
            _biased(requests) @ self.asked @ (_biased(facts) @ self.told).T
            + self.cosine * (requests @ facts.T)
            + self.intercept
        )


def fit_limits(real: Mapping[str, Sequence[str]]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The weights and the card.

    Args:
        real: real messages of each language that need nothing.
    """
    data = {language: _read(language) for language in life.languages()}
    head = _fit(list(data.values()))
    cases = [one for language in data for one in _cases(language, real[language])]
    odds: dict[str, list[float]] = {"real": [], "world": [], "shaped": []}
    for kind, requests, facts, needed in cases:
        likely = [float(head.odds(requests, fact).max()) for fact in facts]
        odds[kind].append(likely[needed] if needed is not None else max(likely))
    point = max(float(np.quantile(odds[kind], 1 - share)) for kind, share in SHOWN.items())
    shares = {f"takes_{kind}": round(float(np.mean(np.array(each) >= point)), 3) for kind, each in odds.items()}
    card = {
        "decides": "whether what the user told limits the answer to what they ask for",
        "fitted_on": {
            "requests": sum(len(one.requests) for one in data.values()),
            "facts": sum(len(one.facts) for one in data.values()),
        },
        "cosine": round(head.cosine, 4),
        "intercept": round(head.intercept, 4),
        "points": {"show": round(point, 4)},
        "at_points": {"show": shares},
    }
    return {"limits_asked": head.asked, "limits_told": head.told}, card


def compose_limits(language: str) -> Iterator[tuple[str, str, str]]:
    """The facts and requests of a language: a sign (`!`, `?`, `-`), a kind and a sentence each."""
    dice, words = random.Random(language), dict[str, list[str]]()
    for line in (files("insula_bench") / "limits" / f"{language}.txt").read_text("utf-8").splitlines():
        sign, rest = line.split(" ", 1)
        kind, _, listed = rest.partition(": ")
        texts = listed.split(" | ")
        if sign == "$":
            words[kind] = texts
            continue
        for text in texts:
            for made in sorted({_fill(text, words, dice) for _ in range(COMPOSED)}):
                yield sign, kind, made[0].upper() + made[1:] if dice.random() < SENTENCE else made


def _fill(text: str, words: Mapping[str, Sequence[str]], dice: random.Random) -> str:
    return _SLOT.sub(lambda found: dice.choice(words[found[1]]), text)


def _read(language: str) -> Read:
    made = list(compose_limits(language))
    requests = [(kind, text) for sign, kind, text in made if sign == "?"]
    requests += [(NONE, text) for sign, _, text in made if sign == "-"]
    requests += [(NONE, text) for text in _asked_otherwise(language)]
    facts = [(kind, text) for sign, kind, text in made if sign == "!"]
    facts += [(OTHER, text) for text in list(_told_otherwise(language))[::EVERY]]
    return Read(*_by_kind(requests), *_by_kind(facts))


def _by_kind(texts: Sequence[tuple[str, str]]) -> tuple[Array, Array]:
    known = _kinds()
    return _vectors([text for _, text in texts]), np.array([known.index(kind) for kind, _ in texts])


@cache
def _limiting() -> Mapping[str, Sequence[str]]:
    """The kinds of facts that limit each kind of request."""
    return jsonlib.loads((files("insula_bench") / "limits" / "limits.json").read_text("utf-8"))


@cache
def _kinds() -> Sequence[str]:
    """All kinds, of requests and of facts."""
    facts = {fact for limiting in _limiting().values() for fact in limiting}
    return (NONE, OTHER, *sorted(facts | _limiting().keys()))


@cache
def _table() -> Array:
    """A row for each kind of request, a column for each kind of fact: 1 where the fact limits it."""
    return np.array([[float(fact in _limiting().get(ask, ())) for fact in _kinds()] for ask in _kinds()])


def _asked_otherwise(language: str) -> Iterator[str]:
    for row in _rows("ordinary", language):
        if row["kind"] in {"world", "personal"}:
            yield row["text"]


def _told_otherwise(language: str) -> Iterator[str]:
    for row in _rows("asked", language):
        yield row["text"]


def _rows(folder: str, language: str) -> Iterator[dict[str, Any]]:
    for file in sorted((files("insula_bench") / folder).iterdir(), key=lambda one: one.name):
        if file.name.startswith(language):
            yield from map(jsonlib.loads, file.read_text("utf-8").splitlines())


def _cases(language: str, real: Sequence[str]) -> Iterator[tuple[str, Array, list[Array], int | None]]:
    """Messages after the facts of a table were told: of what kind, their pieces, the facts, and which one they need."""
    rows = life.read("questions", language)
    told = [row for row in rows if row["kind"] == "told"]
    facts = [_vectors(_pieces(row["text"], language)) for row in told]
    places = {row["id"]: at for at, row in enumerate(told)}
    for text in real:
        yield "real", _vectors(_pieces(text, language)), facts, None
    for row in rows:
        if (
            row.get("half") == "dev"
            and row["kind"] in {"world", "shaped"}
            and not (row["kind"] == "world" and row.get("needs"))
        ):
            needed = places[row["needs"][0]] if row["kind"] == "shaped" else None
            yield row["kind"], _vectors(_pieces(row["text"], language)), facts, needed


def _pieces(text: str, language: str) -> list[str]:
    return list(dict.fromkeys([text, *split_units(analyse_text(text, default=language))]))


def _vectors(texts: Sequence[str]) -> Array:
    return np.array(embedded_all(embed_text, texts), np.float32)


def _biased(rows: Array) -> Array:
    return np.hstack([rows, np.ones((len(rows), 1), rows.dtype)])


def _fit(data: Sequence[Read]) -> Fitted:
    """Fit it, always from the same start; the scale of what is read goes into the weights."""
    dice = np.random.default_rng(0)
    width = data[0].requests.shape[1] + 1
    weights: list[Array] = [dice.normal(0, 0.05, (width, RANK)).astype(np.float32) for _ in range(2)]
    weights += [np.full(1, BEGIN[name], np.float32) for name in ("cosine", "intercept")]
    first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS) + LEAST_RATE
        for at in dice.permutation(len(data)):
            step += 1
            other = data[int(at if dice.random() < SAME else dice.integers(len(data)))]
            for each, slope in enumerate(_slopes(data[int(at)], other, weights, dice)):
                first[each] += (1 - DECAY) * (slope - first[each])
                second[each] += (1 - SECOND) * (slope**2 - second[each])
                mean, spread = first[each] / (1 - DECAY**step), second[each] / (1 - SECOND**step)
                weights[each] = weights[each] - rate * mean / (np.sqrt(spread) + EPSILON)
    for each in weights[:2]:
        each[:-1] *= SCALE
    return Fitted(weights[0], weights[1], float(weights[2][0]), float(weights[3][0]))


def _slopes(read: Read, other: Read, weights: Sequence[Array], dice: np.random.Generator) -> list[Array]:
    """How the loss of some of the requests beside some of the facts grows with each weight."""
    rows = dice.permutation(len(read.requests))[:REQUESTS]
    columns = dice.permutation(len(other.facts))[:FACTS]
    requests, facts, kinds = read.requests[rows], other.facts[columns], other.told[columns]
    limits = _table()[np.ix_(read.asked[rows], kinds)]
    unsure = (read.asked[rows] != _kinds().index(NONE))[:, None] & (kinds == _kinds().index(OTHER))
    counts = np.where(unsure, UNSURE, 1.0)
    cosines = requests @ facts.T
    asked, told = (_biased(_thinned(one, dice)) for one in (requests, facts))
    left, right = asked @ weights[0], told @ weights[1]
    odds = left @ right.T + weights[2] * cosines + weights[3]
    wrong = (counts * (1 / (1 + np.exp(-odds)) - limits) / len(rows)).astype(np.float32)
    return [
        asked.T @ (wrong @ right) + SHRINK * weights[0],
        told.T @ (wrong.T @ left) + SHRINK * weights[1],
        np.array([(wrong * cosines).sum()], np.float32),
        np.array([wrong.sum()], np.float32),
    ]


def _thinned(rows: Array, dice: np.random.Generator) -> Array:
    kept = dice.random(rows.shape, np.float32) >= LEFT_OUT
    return (SCALE * rows * kept / (1 - LEFT_OUT)).astype(np.float32)
