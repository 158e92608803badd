"""How sure it is, by the meaning of a sentence and what its words show, that it wishes something of answers for good.

Small heads on the shipped embedding and the marks of the words (`text/marks.py`) tell five kinds of sentences, each
with a chance of its own: standing wishes, biddings for one answer, what is said of others or of the world, what takes a
wish back, and plain facts and questions. `insula bench wishes` fits them on sentences written for it in eight languages
(`wishes.txt`), and measures them on tables that they were not fitted on.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from insula.memory.matter import DIMENSIONS, SCALE
from insula.memory.vectors import Array, Vector
from insula.text.marks import Part

KINDS = ("wish", "once", "other", "lift", "fact")
WEIGHTS = "wishes.npz"
_MOST = 12.0
"""Odds that are told apart."""


def chances(parts: Iterable[tuple[Part, Vector | None]]) -> tuple[tuple[str, float], ...]:
    """The chance of each part of a message that it is a standing wish; without a vector of the shipped kind, none."""
    told = [(part, vector) for part, vector in parts if vector is not None and vector.size == DIMENSIONS]
    return tuple((part.text, round(float(kinds(vector, part.marks)[0]), 3)) for part, vector in told)


def kinds(vector: Vector, marks: Sequence[float], head: Array | None = None) -> Array:
    """The chance of each kind, by a head: a column for each, a row for each number of `row`."""
    odds = row(vector, marks) @ (weights() if head is None else head)
    return (1 / (1 + np.exp(-np.clip(odds, -_MOST, _MOST)))).astype(np.float32)


def row(vector: Vector, marks: Sequence[float]) -> Array:
    """What the heads weigh: the meaning, the marks of the words, and one for the intercept."""
    return np.concatenate([SCALE * vector, np.array([*marks, 1.0], np.float32)])


@cache
def weights() -> Array:
    """The shipped weights."""
    with (files("insula.memory") / WEIGHTS).open("rb") as file:
        return np.load(file)["sentence"].astype(np.float32)
