"""The scores behind `insula.turn.gate` and `insula.memory.relevance`, fitted on messages that were lived, not listed.

In each language four people tell the first facts of a life, few or many, and are asked for some of them and for as many
that they did not tell; another tells the facts of a table of questions (`life.py`) and writes one half of what stands
there, the other half no fit reads; three more do so with the tables on which `affinity.py` is fitted, of whose lines
nothing is learned here, and four with tables that it does not read. Each also writes real messages that need nothing.
The small talks are asked, too. A line answers where it holds the value asked for. Whole languages are left out in turn
for what is reported.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import log_odds
from insula.memory import relevance
from insula.memory.retrieval.embedding import embed_text
from insula.metacognition import Metacognition
from insula.turn import gate
from insula.turn.instructions import NONE, is_own_line
from insula_bench import affinity, conversations, life
from insula_bench.statistics import auroc

Array = npt.NDArray[np.float64]

FEW = 5
TABLES = ("third", "fourth", "fifth")
"""Of the small talks."""
FACTS, ASKED = (2, 6, 15, 60), 12
"""Facts that are told in each language by four people, and how many of them are asked for at most."""
UNKNOWN = 12
"""Facts that are asked for and were not told."""
VARIED = 6.0
"""What the messages of the others count for: they are of all lengths and kinds, those of the lives are short
questions alone."""
SURE = 0.01
"""The share of questions of the world that may be taken for surely the user's to answer."""
MESSAGE = ("piece", "whole", "intercept")
STEPS, RIDGE = 25, 1.0


class Said(NamedTuple):
    """A message, and the values that a line which answers it holds."""

    kind: str
    """`told`, `untold`, `world` or `real`; `asked`, told or not, where the head `answer` learned from it; of the small
    talks, `trap` where it was not told."""
    text: str
    value: Sequence[str] = ()


class Lived(NamedTuple):
    """A message, what is known of each of the user's lines that came up, and whether each answers."""

    text: str
    language: str
    kind: str
    lines: Array
    answers: npt.NDArray[np.bool_]
    counts: float = 1.0
    """What it counts for in the fit of what a message asks."""
    further: bool = False
    """Whether it is of a further table: it counts for what lets lines in, and not for how likely a line answers."""

    @property
    def overlap(self) -> float:
        """The largest share of what is asked that stands in one line."""
        return float(self.lines[:, relevance.NAMES.index("overlap")].max()) if len(self.lines) else 0.0

    def best(self, weights: Array) -> float:
        """The log-odds of its likeliest line."""
        return float((self.lines @ weights).max()) if len(self.lines) else NONE


def live(real: Mapping[str, Sequence[str]]) -> list[Lived]:
    """What becomes of questions that memory can answer or not, and of messages of each language that need nothing."""
    return asyncio.run(_live(real))


async def _live(real: Mapping[str, Sequence[str]]) -> list[Lived]:
    lived: list[Lived] = []
    for language in life.languages():
        people = list(_people(language))
        for number, (facts, asks) in enumerate(people):
            needless = [Said("real", text) for text in real[language][number :: len(people)]]
            further = number >= len(people) - len(affinity.UNREAD)
            async with life.person(facts) as (mind, clock):
                for said in (*asks, *needless):
                    clock.advance(life.HOUR)
                    known = await _recalled(mind, f"at {clock()}", said)
                    counts = VARIED if number >= len(FACTS) else 1.0
                    lived.append(Lived(said.text, language, said.kind, *known, counts, further))
    return [*lived, *[one async for one in _talks()]]


async def _talks() -> AsyncIterator[Lived]:
    """The small talks: what they tell sets traps for who asks (somebody else's, supposed, without the very detail)."""
    for table in TABLES:
        for one in conversations.read(str(files("insula_bench") / f"conversations_{table}.jsonl"), held=False):
            said = Said("trap, told" if one["known"] else "trap", one["ask"], [one["line"]] if one["known"] else ())
            async with conversations.told(one, embed_text) as mind:
                known = await _recalled(mind, "asked", said)
            yield Lived(said.text, one["lang"], said.kind, *known)


def _people(language: str) -> Iterator[tuple[list[str], list[Said]]]:
    """What each person told, and what they ask."""
    rows = life.read("lives", language)
    for number, told in enumerate(FACTS):
        known = rows[: told : max(told // ASKED, 1)]
        unknown = rows[max(FACTS) + number :: (len(rows) - max(FACTS)) // UNKNOWN]
        asks = [Said("told", ask, row["value"]) for row in known for ask in row["asks"]]
        yield (
            [row["text"] for row in rows[:told]],
            asks + [Said("untold", ask) for row in unknown for ask in row["asks"]],
        )
    for table in ("questions", *affinity.LIVES, *affinity.UNREAD):
        rows = life.read(table, language)
        asked = [row for row in rows if row.get("half", "dev") == "dev"]
        asks = [Said("world", row["text"]) for row in asked if row["kind"] == "world"]
        for row in asked:
            if row["kind"] in {"personal", "both"}:
                kind = "asked" if table in affinity.LIVES else "told" if row["told"] else "untold"
                asks.append(Said(kind, row["text"], row["value"]))
        yield [row["text"] for row in rows if row["kind"] == "told"], asks


async def _recalled(mind: Metacognition, session: str, said: Said) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The user's lines that a message brings up, in a session of its own."""
    async with mind.turn(life.USER, session, said.text) as turn:
        turn.finish(life.REPLY)
        own = list(filter(is_own_line, turn.recalled))
    held = [any(each.casefold() in one.memory.content.casefold() for each in said.value) for one in own]
    rows = np.array([relevance.list_features(one.parts) for one in own], float).reshape(-1, len(relevance.NAMES))
    return rows, np.array(held, bool)


def fit(
    lived: Sequence[Lived], personal: Sequence[tuple[float, float]], let_in: Mapping[str, float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The weights of the scores, and how they do on people who were left out.

    Args:
        personal: of each, the chance that only its user can have told what its likeliest piece asks, and of the whole.
        let_in: of the messages of each kind that need nothing, how many may be shown lines.

    Returns:
        Of the card of `personal`: what a message's piece and whole count for, from when on it is sure, what lets lines
        in. And how likely a line answers, and any of them.
    """
    plain = [one for one in lived if not one.further]
    meant = _fit_lines(plain)
    best = [one.best(meant) for one in lived]
    kind = np.array([one.kind for one in lived])
    counts = np.array([one.counts for one in lived])
    lives = ~np.char.startswith(kind, "trap")  # beside them nothing ordinary is written
    asks = np.array([[log_odds(piece), log_odds(whole), 1.0] for piece, whole in personal])
    message = logistic(asks[lives], np.isin(kind, ("told", "untold", "asked"))[lives], counts[lives])
    chances = 1 / (1 + np.exp(-asks @ message))
    rows = np.array(
        [gate.features(chance, odds, one.overlap) for chance, odds, one in zip(chances, best, lived, strict=True)]
    )
    weighed = {
        "message": _named(MESSAGE, message),
        "sure": float(np.quantile(chances[kind == "world"], 1 - SURE)),
        "lines": _gate(rows, kind, lives & ~np.isin(kind, ("untold", "asked")), let_in, counts),
    }
    held = _fit_held([one.best(meant) for one in plain], np.array([one.kind for one in plain]))
    answer = {
        "decides": "how likely a remembered line answers what is asked",
        "meant": _named(relevance.NAMES, meant),
        "worded": _named(("overlap", "intercept"), _fit_lines(plain, WORDED)),
        "held": {"best": round(float(held[0]), 4), "intercept": round(float(held[1]), 4)},
        "left_out": _left_out(plain),
    }
    return weighed, answer


WORDED = [relevance.NAMES.index("overlap"), relevance.NAMES.index("intercept")]


def _gate(
    rows: Array,
    kind: npt.NDArray[np.str_],
    among: npt.NDArray[np.bool_],
    shares: Mapping[str, float],
    counts: Array,
) -> dict[str, float]:
    """The weights that tell what was told from the other messages, cut where few are taken that need nothing."""
    weights = logistic(rows[among], (kind == "told")[among], counts[among])
    odds = rows @ weights
    weights[-1] -= max(float(np.quantile(odds[kind == name], 1 - share)) for name, share in shares.items())
    odds = rows @ weights
    return _named(gate.NAMES, weights) | {
        f"takes_{name}": round(float((odds[kind == name] >= 0).mean()), 3) for name in sorted(set(kind))
    }


def _fit_held(best: Sequence[float], kind: npt.NDArray[np.str_]) -> Array:
    """The weights of the chance that memory holds what is asked, of the log-odds of the likeliest line."""
    asked = (kind == "told") | (kind == "untold")
    rows = np.column_stack([best, np.ones(len(best))])
    return logistic(rows[asked], (kind == "told")[asked])


def _left_out(lived: Sequence[Lived]) -> dict[str, float]:
    """On people left out: how often the best line answers, or one of the best, and the AUROC of told against untold."""
    first: list[bool] = []
    shown: list[bool] = []
    odds: dict[str, list[float]] = {"told": [], "untold": []}
    chance: dict[str, list[float]] = {"told": [], "untold": []}
    for language in sorted({one.language for one in lived}):
        others = [one for one in lived if one.language != language]
        line = _fit_lines(others)
        held = _fit_held([one.best(line) for one in others], np.array([one.kind for one in others]))
        for one in (one for one in lived if one.language == language):
            if one.kind in odds:
                odds[one.kind].append(one.best(line))
                chance[one.kind].append(float(1 / (1 + np.exp(-(held[0] * one.best(line) + held[1])))))
            if one.kind == "told":
                order = np.argsort(-(one.lines @ line))[:FEW]
                first.append(bool(one.answers[order[:1]].any()))
                shown.append(bool(one.answers[order].any()))
    found = {"first": np.mean(first), "shown": np.mean(shown), "auroc": auroc(odds["told"], odds["untold"])}
    for point in (0.5, 0.9):
        for kind, values in chance.items():
            found[f"{kind}_from_{point}"] = np.mean(np.array(values) >= point)
    return {name: round(float(value), 3) for name, value in found.items()}


def _fit_lines(lived: Sequence[Lived], columns: Sequence[int] | None = None) -> Array:
    asked = [one for one in lived if one.kind not in {"world", "real", "asked"}]
    rows = np.vstack([one.lines for one in asked])
    return logistic(rows if columns is None else rows[:, columns], np.concatenate([one.answers for one in asked]))


def logistic(rows: Array, labels: npt.NDArray[np.bool_], counts: Array | None = None) -> Array:
    """A logistic regression with a ridge, by Newton's method; each row counts for one, or for what is said of it."""
    head, weighs = np.zeros(rows.shape[1]), np.ones(len(rows)) if counts is None else counts
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ head))
        hessian = (rows * (weighs * chance * (1 - chance))[:, None]).T @ rows + RIDGE * np.eye(rows.shape[1])
        head -= np.linalg.solve(hessian, rows.T @ (weighs * (chance - labels)) + RIDGE * head)
    return head


def _named(names: Sequence[str], weights: Array) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(names, weights, strict=True)}
