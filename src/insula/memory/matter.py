"""What a statement or a question is about, in common with others: by meaning where there are vectors, else by words.

Beside the cosine of two vectors stand small heads on the shipped embedding: of ninety matters of people's lives (where
one lives, what one does, a dog's name, …) the chance that a question asks for each, and that a statement tells it.
`bench/matters.py` fits them on sentences written for it.
"""

import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from insula.memory.assertion import Question, Statement
from insula.memory.vectors import Array, Vector

DIMENSIONS = 512
"""Of the embedding that the heads were fitted on."""
SCALE = 8.0
"""What its vectors are multiplied by before the heads."""
HEAD, FLOOR = 0.05, 0.001
"""What the logarithm of the chance of a matter in common weighs beside the cosine, and its least chance."""
HEADLESS = -0.17
"""The same of another embedding, of which there are no heads: what they give to what has little in common."""
WORDS = 0.35
"""What the share of a question's words weighs where there is no vector, beside that of its meaning."""
CHANCE, FALL = 0.05, 11.0
"""The chance that a line of another matter seems to answer, and how fast it falls with the nearness: of each question
of the small conversations against the lines of all others."""
LIKELY = 0.5
"""Lines as near by chance from which nearness alone tells nothing: no succession, and not that memory holds it."""


class Heads(NamedTuple):
    """The weights, one column for each matter, the last row its intercept."""

    question: Array
    statement: Array


@cache
def heads() -> Heads:
    """The shipped weights."""
    with (files("insula.memory") / "matters.npz").open("rb") as file:
        raw = np.load(file)
        return Heads(raw["question"], raw["statement"])


def matters_asked(vector: Vector | None) -> npt.NDArray[np.float32] | None:
    """The chance that a question asks for each matter; None without a vector of the shipped embedding."""
    return None if vector is None or vector.size != DIMENSIONS else _softmax(vector[None, :], heads().question)[0]


def matters_of(vectors: Sequence[Vector | None]) -> list[Vector | None]:
    """The same of each of some vectors, all at once; None for what is none of the shipped embedding."""
    found: list[Vector | None] = [None] * len(vectors)
    known = {at: one for at, one in enumerate(vectors) if one is not None and one.size == DIMENSIONS}
    if known:
        for at, row in zip(known, _softmax(np.array([*known.values()]), heads().statement), strict=True):
            found[at] = row
    return found


def matters_told(vectors: Array) -> npt.NDArray[np.float32] | None:
    """The chance that each statement tells each matter, a row for each."""
    return _softmax(vectors, heads().statement) if vectors.shape[1:] == (DIMENSIONS,) else None


def common(one: Statement, other: Statement) -> float | None:
    """The chance that two statements tell the same matter; None without vectors of the shipped embedding."""
    (first, second) = (matters_of([each.vector])[0] if each.matters is None else each.matters for each in (one, other))
    return None if first is None or second is None else float(first @ second)


def nearness(cosine: float | None, common: float | None, shared: float) -> float:
    """How near a statement is to a question, about -0.3 to 1.

    Args:
        cosine: of their vectors; None without.
        common: the chance of a matter in common; None without.
        shared: the share of the question's words in the statement.
    """
    if cosine is None:
        return WORDS * (2 * shared - 0.5)
    return cosine + (HEAD * math.log(common + FLOOR) if common is not None else HEADLESS)


def shared(question: Question, statement: Statement) -> float:
    """The share of a question's content words that a statement holds, in [0, 1]."""
    return len(question.terms & statement.terms) / len(question.terms) if question.terms else 0.0


def by_chance(fit: float, memories: float) -> float:
    """How many of so many memories are as near as this by chance, though of another matter."""
    return CHANCE * math.exp(-FALL * max(fit, 0.0)) * memories


def beyond_chance(memories: float) -> float:
    """The nearness from which at most `LIKELY` of so many memories are as near by chance; of few any does."""
    seeming = CHANCE * memories / LIKELY
    return math.log(seeming) / FALL if seeming > 1 else -math.inf


def _softmax(vectors: Array, weights: Array) -> npt.NDArray[np.float32]:
    odds = SCALE * (vectors @ weights[:-1]) + weights[-1]
    chance = np.exp(odds - odds.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True)
