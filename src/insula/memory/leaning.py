"""How likely a line bears on a question that it does not plainly answer, in other words or without the very value.

A small head on five things that are known of the two; `insula bench leaning` fits it on the small conversations, and
says how it does on each table that it was not fitted on.
"""

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from insula.memory.assertion import Question, Statement
from insula.memory.matter import FLOOR
from insula.memory.near import Near

LEAST = -2.5
"""Log-odds from which a line is shown as one that bears on the question: of tables left out nine in ten of what is
known are found so, and of what is not known a third has such a line."""
LIKELY = 0.5
"""Lines of another matter with as much for them, from which that says nothing."""
LONG = 12
"""Content words from which a line counts as telling much."""


def features(question: Question, statement: Statement, near: Near, *, lacks: bool) -> tuple[float, ...]:
    """What the head weighs, in the order of `leaning.json`.

    Args:
        question: what is asked.
        statement: what is told.
        near: how near it is.
        lacks: whether the kind of value that is asked for is missing.
    """
    supposed = statement.modality == "plan" and question.modality != "plan"
    return (
        near.cosine,
        math.log(near.common + FLOOR),
        min(len(statement.terms), LONG) / LONG,
        float(lacks),
        float(supposed),
    )


def leaning(question: Question, statement: Statement, near: Near, *, lacks: bool) -> float:
    """The log-odds that a statement bears on a question; see `features`."""
    weights = _weights()
    values = features(question, statement, near, lacks=lacks)
    return weights["intercept"] + sum(weights[name] * value for name, value in zip(NAMES, values, strict=True))


def is_likely(odds: float, memories: int) -> bool:
    """Whether a line with such log-odds bears on the question, and not by luck.

    Args:
        odds: from `leaning`.
        memories: how many there are: the more, the likelier one of another matter has as much for it.
    """
    return odds >= _least(memories)


def least_cosine(memories: int) -> float:
    """The cosine below which no line is likely to bear on a question, whatever else it has for it."""
    weights = _weights()
    rest = weights["intercept"] + weights["words"] + weights["common"] * math.log(1 + FLOOR)
    return (_least(memories) - rest) / weights["cosine"]


def _least(memories: int) -> float:
    """The log-odds that are likely: those from which at most `LIKELY` lines of another matter have as much."""
    weights = _weights()
    by_luck = (weights["luck"] + math.log(max(memories, LIKELY) / LIKELY)) / weights["fall"]
    return max(LEAST, by_luck)


NAMES = ("cosine", "common", "words", "lacks", "plan")
"""The features."""


@cache
def _weights() -> Mapping[str, float]:
    return json.loads((files("insula.memory") / "leaning.json").read_text("utf-8"))
