"""The head behind `insula.language.heads.limit_odds`: whether what somebody told limits the answer to their request.

`shapes/` holds, one file an author and a language, what people tell (`text`), later requests whose good answer must
keep to it though they do not mention it (`shapes`), and messages for which it does not matter though a machine could
think so (`near`). `limits/` holds the plainest cases, to be composed: by language, kinds of facts (`!`), kinds of
requests (`?`), words to put into them (`$`) and requests that nothing limits (`-`); `limits.json` says which facts
limit which requests. Beside them stand tables of `life/`, and real messages, which nothing limits.

The log-odds of a pair are a low-rank product of both vectors, with their cosine and a constant. A request is drawn to
what limits it, among all that its author told, or to a choice of nothing, whose log-odds are 0: the loss is the cross
entropy, fitted by Adam (Kingma and Ba 2014); half of what is read is left out at random in each step. Each table of
`life/` is left out in turn for the operating point, and so is half of the real messages.
"""

import json as jsonlib
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.encoder import DIMENSIONS, load_encoder
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.text.analysis import analyse_text
from insula.text.pasted import split_units
from insula_bench import life

Array = npt.NDArray[Any]

RANK, EPOCHS = 48, 100
REQUESTS, FACTS = 220, 180
"""Of each that one step reads."""
RATE, LEAST_RATE, DECAY, SECOND, EPSILON = 3e-3, 1e-5, 0.9, 0.99, 1e-8
SCALE, SHRINK, LEFT_OUT = 4.0, 0.015, 0.4
PULL = 10.0
"""What the loss counts for beside what draws the weights to nothing."""
PLACES = 0.5
"""What the places of a request count for beside its vector."""
BEGIN = {"cosine": 2.0, "intercept": -4.0}
LEAST = 1e-12
COMPOSED = 6
"""Sentences that are made of a template with slots."""
SENTENCE = 0.4
"""The share that begins with a capital."""
NONE, OTHER = "none", "other"
"""Requests that nothing limits, and what was told otherwise."""
EVERY = 3
"""Of what people told otherwise each so many-th line is read."""
TABLES = ("later", "third", "questions")
"""Tables of `life/`; of the last the first half alone."""
SHOWN: Mapping[str, float] = {"real": 0.005, "world": 0.02}
"""The share of real messages, and of questions of the world, that may be shown a limit by mistake."""
_SLOT = re.compile(r"{(\w+)}")


class Read(NamedTuple):
    """What one author wrote in one language, or was composed in it, or one person of `life/` asked: vectors."""

    requests: Array
    facts: Array
    limits: npt.NDArray[np.bool_]
    """A row for each request, a column for each fact."""
    each: bool = False
    """Whether each fact that limits a request is to be found beside those that do not; else any of them, as the pieces
    of one line."""


class Asked(NamedTuple):
    """A message after the facts of a table were told."""

    kind: str
    """`real`, `world` or `shaped`."""
    pieces: Array
    """The vectors of the whole and of its sentences."""
    facts: Array
    needed: npt.NDArray[np.bool_]
    """Which of the facts limit its answer."""


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
            + self.cosine * (requests[:, :DIMENSIONS] @ facts.T)
            + self.intercept
        )


def fit_limits(real: Mapping[str, Sequence[str]]) -> tuple[dict[str, Array], dict[str, Any]]:
    """The weights and the card."""
    authored = [_read_author(file.name[:2], file.read_text("utf-8")) for file in _authors()]
    learned, left = ({language: texts[part::2] for language, texts in real.items()} for part in (0, 1))
    made = [*authored, *(_read_composed(language) for language in life.languages())]
    made += [_read_life(table, language) for table in life.FURTHER for language in life.languages()]
    lives = {table: [_read_life(table, language) for language in life.languages()] for table in TABLES}
    cases: list[tuple[Asked, float]] = []
    for table in TABLES:
        others = [each for name in TABLES if name != table for each in lives[name]]
        head = _fit([*made, *others, *_needless(authored, learned)])
        cases += [(one, float(head.odds(one.pieces, one.facts).max())) for one in _ask(table, left)]
    odds = {kind: np.array([each for one, each in cases if one.kind == kind]) for kind in ("real", "world", "shaped")}
    point = max(float(np.quantile(odds[kind], 1 - share)) for kind, share in SHOWN.items())
    needs = [*made, *(each for table in TABLES for each in lives[table])]
    head = _fit(data := [*needs, *_needless(authored, real)])
    card = {
        "decides": "whether what the user told limits the answer to what they ask for",
        "fitted_on": {
            "requests": sum(len(one.requests) for one in data),
            "facts": sum(len(one.facts) for one in needs),
        },
        "cosine": round(head.cosine, 4),
        "intercept": round(head.intercept, 4),
        "points": {"show": round(point, 4)},
        "at_points": {
            "show": {f"takes_{kind}": round(float((each >= point).mean()), 3) for kind, each in odds.items()}
        },
    }
    head.asked[DIMENSIONS:-1] *= PLACES
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


def _read_composed(language: str) -> Read:
    """All composed requests beside all composed facts, and what people ask and tell otherwise."""
    made = list(compose_limits(language))
    requests = [(kind, text) for sign, kind, text in made if sign == "?"]
    requests += [(NONE, text) for sign, _, text in made if sign == "-"]
    requests += [(NONE, row["text"]) for row in _lines("ordinary", language) if row["kind"] in {"world", "personal"}]
    facts = [(kind, text) for sign, kind, text in made if sign == "!"]
    facts += [(OTHER, row["text"]) for row in list(_lines("asked", language))[::EVERY]]
    limits = np.array([[fact in _limiting().get(ask, ()) for fact, _ in facts] for ask, _ in requests])
    return Read(_readings([text for _, text in requests]), _vectors([text for _, text in facts]), limits, each=True)


@cache
def _limiting() -> Mapping[str, Sequence[str]]:
    """The kinds of facts that limit each kind of request."""
    return jsonlib.loads((files("insula_bench") / "limits" / "limits.json").read_text("utf-8"))


def _lines(folder: str, language: str) -> Iterator[dict[str, Any]]:
    for file in sorted((files("insula_bench") / folder).iterdir(), key=lambda one: one.name):
        if file.name.startswith(language):
            yield from map(jsonlib.loads, file.read_text("utf-8").splitlines())


def _authors() -> Sequence[Any]:
    return sorted((files("insula_bench") / "shapes").iterdir(), key=lambda file: file.name)


def _read_author(language: str, text: str) -> Read:
    rows = [jsonlib.loads(line) for line in text.splitlines()]
    told = [(piece, number) for number, row in enumerate(rows) for piece in _pieces(row["text"], language)]
    asked = [(ask, number) for number, row in enumerate(rows) for ask in row["shapes"]]
    asked += [(ask, len(rows)) for row in rows for ask in row["near"]]  # which no line limits
    limits = np.array([number for _, number in asked])[:, None] == np.array([number for _, number in told])[None]
    return Read(_readings([ask for ask, _ in asked]), _vectors([piece for piece, _ in told]), limits)


def _read_life(table: str, language: str) -> Read:
    rows = list(_rows(table, language))
    told = [(piece, row["id"]) for row in rows if row["kind"] == "told" for piece in _pieces(row["text"], language)]
    asks = [row for row in rows if row["kind"] != "told"]
    limits = np.array([[number in (row.get("needs") or ()) for _, number in told] for row in asks])
    return Read(_readings([row["text"] for row in asks]), _vectors([piece for piece, _ in told]), limits)


def _rows(table: str, language: str) -> Iterator[life.Row]:
    """What is told in a table, and what of the world and of requests that a fact limits is asked."""
    for row in life.read(table, language):
        shaped, world = row["kind"] == "shaped", row["kind"] == "world" and not row.get("needs")
        if row["kind"] == "told" or ((shaped or world) and row.get("half", "dev") == "dev"):
            yield row


def _needless(authored: Iterable[Read], real: Mapping[str, Sequence[str]]) -> Iterator[Read]:
    """Real messages beside what each author told."""
    for file, one in zip(_authors(), authored, strict=True):
        requests = _readings(real[file.name[:2]])
        yield Read(requests, one.facts, np.zeros((len(requests), len(one.facts)), np.bool_))


def _ask(table: str, real: Mapping[str, Sequence[str]]) -> Iterator[Asked]:
    """What is asked after the facts of a table were told."""
    for language in life.languages():
        rows = list(_rows(table, language))
        told = [(piece, row["id"]) for row in rows if row["kind"] == "told" for piece in _pieces(row["text"], language)]
        facts = _vectors([piece for piece, _ in told])
        asks = [(row["kind"], row["text"], row.get("needs") or ()) for row in rows if row["kind"] != "told"]
        asks += [("real", text, ()) for text in real[language]]
        for kind, text, needs in asks:
            yield Asked(
                kind, _readings(_pieces(text, language)), facts, np.array([number in needs for _, number in told])
            )


def _pieces(text: str, language: str) -> list[str]:
    return list(dict.fromkeys([text, *split_units(analyse_text(text, default=language))]))


def _vectors(texts: Sequence[str]) -> Array:
    return np.array(embed_each(embed_text, texts), np.float32)


def _readings(texts: Sequence[str]) -> Array:
    """The vectors, with what the encoder saw at the places of each text beside them."""
    read = load_encoder().read_texts(texts)
    return np.array([np.concatenate([one.vector, PLACES * one.places]) for one in read], np.float32)


def _biased(rows: Array) -> Array:
    return np.hstack([rows, np.ones((len(rows), 1), rows.dtype)])


def _fit(data: Sequence[Read]) -> Fitted:
    """Fit it, always from the same start; the scale of what is read goes into the weights."""
    dice = np.random.default_rng(0)
    widths = [data[0].requests.shape[1] + 1, data[0].facts.shape[1] + 1]
    weights: list[Array] = [dice.normal(0, 0.05, (width, RANK)).astype(np.float32) for width in widths]
    weights += [np.full(1, BEGIN[name], np.float32) for name in ("cosine", "intercept")]
    first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS) + LEAST_RATE
        for at in dice.permutation(len(data)):
            step += 1
            for each, slope in enumerate(_slopes(data[int(at)], weights, dice)):
                first[each] += (1 - DECAY) * (slope - first[each])
                second[each] += (1 - SECOND) * (slope**2 - second[each])
                mean, spread = first[each] / (1 - DECAY**step), second[each] / (1 - SECOND**step)
                weights[each] = weights[each] - rate * mean / (np.sqrt(spread) + EPSILON)
    for each in weights[:2]:
        each[:-1] *= SCALE
    return Fitted(weights[0], weights[1], float(weights[2][0]), float(weights[3][0]))


def _slopes(read: Read, weights: Sequence[Array], dice: np.random.Generator) -> list[Array]:
    """How the loss of some of the requests beside some of the facts grows with each weight."""
    rows = dice.permutation(len(read.requests))[:REQUESTS]
    columns = dice.permutation(len(read.facts))[:FACTS]
    some = read.limits[np.ix_(rows, columns)].any(axis=1)
    rows = rows[some | ~read.limits[rows].any(axis=1)]  # what limits the others is not read in this step
    requests, facts, limits = read.requests[rows], read.facts[columns], read.limits[np.ix_(rows, columns)]
    cosines = requests[:, :DIMENSIONS] @ facts.T
    asked, told = (_biased(_thinned(one, dice)) for one in (requests, facts))
    left, right = asked @ weights[0], told @ weights[1]
    odds = np.column_stack([left @ right.T + weights[2] * cosines + weights[3], np.zeros(len(rows))])
    rights = np.column_stack([limits, ~limits.any(axis=1)])
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    wrong = (_wrong_of_each if read.each else _wrong_of_any)(chances, rights)
    slope = (PULL * wrong[:, :-1] / len(rows)).astype(np.float32)
    return [
        asked.T @ (slope @ right) + SHRINK * weights[0],
        told.T @ (slope.T @ left) + SHRINK * weights[1],
        np.array([(slope * cosines).sum()], np.float32),
        np.array([slope.sum()], np.float32),
    ]


def _wrong_of_any(chances: Array, rights: npt.NDArray[np.bool_]) -> Array:
    """How the loss grows with the log-odds where any of what is right is to be found."""
    due = chances * rights
    return chances / chances.sum(axis=1, keepdims=True) - due / np.maximum(due.sum(axis=1, keepdims=True), LEAST)


def _wrong_of_each(chances: Array, rights: npt.NDArray[np.bool_]) -> Array:
    """The same where each of what is right is to be found, beside what is wrong alone."""
    others = (chances * ~rights).sum(axis=1, keepdims=True)
    whole, number = chances + others, rights.sum(axis=1, keepdims=True)
    missed = np.where(rights, chances / np.maximum(whole, LEAST) - 1, 0.0)
    drawn = np.where(rights, 1 / np.maximum(whole, LEAST), 0.0).sum(axis=1, keepdims=True)
    return np.where(rights, missed, chances * drawn) / number


def _thinned(rows: Array, dice: np.random.Generator) -> Array:
    kept = dice.random(rows.shape, np.float32) >= LEFT_OUT
    return (SCALE * rows * kept / (1 - LEFT_OUT)).astype(np.float32)
