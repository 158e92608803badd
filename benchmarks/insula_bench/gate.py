"""The scores behind `insula.turn.gate` and `insula.turn.relevance`, fitted on messages that were lived, not listed.

In each language four people tell the first facts of a life, few or many, and are asked for some of them and for as many
that they did not tell; a fifth tells the facts of the table of questions and writes its first half (`life.py`), whose
other half no fit reads. Who told much also writes real messages that need nothing. A line answers where it holds the
value asked for. Whole languages are left out in turn for what is reported.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from insula.metacognition import Metacognition
from insula.stats import auroc
from insula.testing import FrozenClock
from insula.turn import gate, relevance
from insula.turn.relevance import FEW, Evidence
from insula_bench import life

Array = npt.NDArray[np.float64]

FACTS, ASKED = (2, 6, 15, 60), 12
"""Facts that are told in each language by four people, and how many of them are asked for at most."""
MUCH = 10
"""Facts from which a person also writes real messages that need nothing: of many lines, one is near by chance."""
UNKNOWN = 12
"""Facts that are asked for and were not told."""
STEPS, RIDGE = 25, 1.0


class Said(NamedTuple):
    """A message, and the values that a line which answers it holds."""

    kind: str
    """`told`, `untold`, `world` or `real`."""
    text: str
    value: Sequence[str] = ()


class Lived(NamedTuple):
    """A message, what is known of each of the user's lines that came up, and whether each answers."""

    text: str
    language: str
    kind: str
    lines: Array
    answers: npt.NDArray[np.bool_]
    confidence: float
    memories: int
    """How many lines there were in all."""

    def evidence(self, weights: Array) -> Evidence:
        """What memory has for it."""
        best = float((self.lines @ weights).max()) if len(self.lines) else relevance.NONE
        return Evidence(best, self.confidence, self.memories)


def live(real: Mapping[str, Sequence[str]]) -> list[Lived]:
    """What becomes of questions that memory can answer or not, and of messages of each language that need nothing."""
    return asyncio.run(_live(real))


async def _live(real: Mapping[str, Sequence[str]]) -> list[Lived]:
    lived: list[Lived] = []
    for language in life.languages():
        people = list(_people(language))
        talkative = [facts for facts, _ in people if len(facts) >= MUCH]
        for facts, asks in people:
            mine = real[language][talkative.index(facts) :: len(talkative)] if facts in talkative else ()
            needless = [Said("real", text) for text in mine]
            async with life.person(facts) as (mind, clock):
                for said in (*asks, *needless):
                    known = await _recalled(mind, clock, said)
                    lived.append(Lived(said.text, language, said.kind, *known))
    return lived


def _people(language: str) -> Iterator[tuple[list[str], list[Said]]]:
    """What each of five people told, and what they ask."""
    rows = life.read("lives", language)
    for number, told in enumerate(FACTS):
        known = rows[: told : max(told // ASKED, 1)]
        unknown = rows[max(FACTS) + number :: (len(rows) - max(FACTS)) // UNKNOWN]
        asks = [Said("told", ask, row["value"]) for row in known for ask in row["asks"]]
        yield (
            [row["text"] for row in rows[:told]],
            asks + [Said("untold", ask) for row in unknown for ask in row["asks"]],
        )
    rows = life.read("questions", language)
    asked = [row for row in rows if row.get("half") == "dev"]
    asks = [Said("world", row["text"]) for row in asked if row["kind"] == "world"]
    for row in asked:
        if row["kind"] in {"personal", "both"}:
            asks.append(Said("told" if row["told"] else "untold", row["text"], row["value"]))
    yield [row["text"] for row in rows if row["kind"] == "told"], asks


async def _recalled(
    mind: Metacognition, clock: FrozenClock, said: Said
) -> tuple[Array, npt.NDArray[np.bool_], float, int]:
    """The user's lines that a message brings up, in a session of its own."""
    clock.advance(life.HOUR)
    async with mind.turn(life.USER, f"at {clock()}", said.text) as turn:
        turn.finish(life.REPLY)
        own = list(filter(relevance.may_answer, turn.recalled))
    held = [any(each.casefold() in one.memory.content.casefold() for each in said.value) for one in own]
    rows = np.array([relevance.features(one) for one in own], float).reshape(-1, len(relevance.NAMES))
    return rows, np.array(held, bool), turn.confidence.unadjusted, turn.memories


def fit(lived: Sequence[Lived], personal: Sequence[float], share: float) -> dict[str, dict[str, float]]:
    """The weights of both scores, and how they do on people who were left out.

    Args:
        lived: the messages.
        personal: of each, the chance that only its user can have told what it asks.
        share: of the real messages that need nothing, how many may be let in.
    """
    line = _fit_lines(lived)
    rows = [gate.features(chance, one.evidence(line)) for one, chance in zip(lived, personal, strict=True)]
    kind = np.array([one.kind for one in lived])
    asked = kind != "untold"
    let_in = _fit(np.array(rows)[asked], kind[asked] == "told")
    odds = np.array(rows) @ let_in
    let_in[-1] -= float(np.quantile(odds[kind == "real"], 1 - share))
    odds = np.array(rows) @ let_in
    return {
        "lines": _named(gate.NAMES, let_in)
        | {f"let_in_{name}": round(float((odds[kind == name] >= 0).mean()), 3) for name in sorted(set(kind))},
        "answer": _named(relevance.NAMES, line) | _left_out(lived),
    }


def _left_out(lived: Sequence[Lived]) -> dict[str, float]:
    """On people left out: how often the best line answers, or one of the best, and the AUROC of told against untold."""
    first: list[bool] = []
    shown: list[bool] = []
    odds: dict[str, list[float]] = {"told": [], "untold": []}
    for language in sorted({one.language for one in lived}):
        others = [one for one in lived if one.language != language]
        line = _fit_lines(others)
        for one in lived:
            if one.language == language and one.kind in odds:
                odds[one.kind].append(one.evidence(line).best)
            if one.language == language and one.kind == "told":
                order = np.argsort(-(one.lines @ line))[:FEW]
                first.append(bool(one.answers[order[:1]].any()))
                shown.append(bool(one.answers[order].any()))
    found = {"first": np.mean(first), "shown": np.mean(shown), "auroc": auroc(odds["told"], odds["untold"])}
    return {name: round(float(value), 3) for name, value in found.items()}


def _fit_lines(lived: Sequence[Lived]) -> Array:
    told = [one for one in lived if one.kind == "told"]
    return _fit(np.vstack([one.lines for one in told]), np.concatenate([one.answers for one in told]))


def _fit(rows: Array, labels: npt.NDArray[np.bool_]) -> Array:
    """A logistic regression with a ridge, by Newton's method."""
    head = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ head))
        hessian = (rows * (chance * (1 - chance))[:, None]).T @ rows + RIDGE * np.eye(rows.shape[1])
        head -= np.linalg.solve(hessian, rows.T @ (chance - labels) + RIDGE * head)
    return head


def _named(names: Sequence[str], weights: Array) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(names, weights, strict=True)}
