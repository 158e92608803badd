"""How sure it is, by the meaning of a sentence, that it wishes something of the manner of answers for good.

A small head on the shipped embedding tells five kinds of sentences: standing wishes, biddings for one answer, what is
said of others or of the world, what takes a wish back, and plain facts and questions. `insula bench wishes` fits it on
sentences written for it in eight languages (`wishes.txt`), and measures it on tables that it was not fitted on.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import numpy as np

from insula.memory.matter import DIMENSIONS, SCALE
from insula.memory.vectors import Array, Vector

KINDS = ("wish", "once", "other", "lift", "fact")
WEIGHTS = "wishes.npz"


def chances(parts: Iterable[tuple[str, Vector | None]]) -> tuple[tuple[str, float], ...]:
    """The chance of each part of a message that it is a standing wish; without a vector of the shipped kind, none."""
    told = [(text, vector) for text, vector in parts if vector is not None and vector.size == DIMENSIONS]
    return tuple((text, round(float(wishing(vector, weights())), 3)) for text, vector in told)


def wishing(vector: Vector, head: Array) -> float:
    """The chance that a sentence is a standing wish, by a head: a column for each kind, the last row its intercept."""
    odds = SCALE * vector @ head[:-1] + head[-1]
    chance = np.exp(odds - odds.max())
    return float(chance[KINDS.index("wish")] / chance.sum())


@cache
def weights() -> Array:
    """The shipped weights."""
    with (files("insula.memory") / WEIGHTS).open("rb") as file:
        return np.load(file)["sentence"].astype(np.float32)
