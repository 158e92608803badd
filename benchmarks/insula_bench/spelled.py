"""A logistic regression on how sentences are spelled, by AdaGrad: what `insula.language.heads` reads beside vectors.

AdaGrad: Duchi, Hazan and Singer 2011 (JMLR 12).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from insula.language.spelling import PLACES, Spelled

Array = npt.NDArray[Any]

EPOCHS, BATCH = 5, 256
RATE, FIRST = 1.0, 1e-6
SHRINK = 3e-6
"""What the weights are drawn to nothing by."""
SURE = 30.0


def fit(rows: Sequence[Spelled], labels: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """The weights of the places, the bias last; always from the same start.

    Args:
        labels: whether each means what the head decides.
    """
    dice = np.random.default_rng(0)
    weights, squares = np.zeros(PLACES + 1), np.full(PLACES + 1, FIRST)
    for _ in range(EPOCHS):
        order = dice.permutation(len(rows))
        for begin in range(0, len(rows), BATCH):
            some = [rows[at] for at in map(int, order[begin : begin + BATCH])]
            error = (1 / (1 + np.exp(-_odds(some, weights))) - labels[order[begin : begin + BATCH]]) / len(some)
            places, shares, owner = _joined(some)
            slope = np.bincount(places, error[owner] * shares, PLACES + 1) + SHRINK * weights
            slope[-1] = error.sum()
            squares += slope * slope
            weights -= RATE * slope / np.sqrt(squares)
    return weights.astype(np.float32)


def _odds(rows: Sequence[Spelled], weights: Array) -> Array:
    places, shares, owner = _joined(rows)
    return np.clip(np.bincount(owner, weights[places] * shares, len(rows)) + weights[-1], -SURE, SURE)


def _joined(rows: Sequence[Spelled]) -> tuple[Array, Array, Array]:
    """The places, the shares and the row of each n-gram of some rows."""
    lengths = [len(one.places) for one in rows]
    return (
        np.concatenate([one.places for one in rows]),
        np.concatenate([one.shares for one in rows]),
        np.repeat(np.arange(len(rows)), lengths),
    )
