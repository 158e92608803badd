"""A network of one hidden layer, fitted by Adam in NumPy: what the heads of `insula.language.heads` are.

Adam: Kingma and Ba 2014 (arXiv 1412.6980), with their constants and a rate that falls to nothing. Half of what it reads
is left out at random in each step (dropout: Srivastava et al. 2014), since sentences are few and dimensions many.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

HIDDEN = 64
RATE, DECAY, SECOND, EPSILON = 1e-3, 0.9, 0.999, 1e-8
LEAST_RATE = 1e-5
SHRINK = 3e-4
"""What the weights are drawn to nothing by."""
LEFT_OUT = 0.5
BATCH = 256
SPREAD = 1 / 3
SURE = 30.0


class Head(NamedTuple):
    """The weights; the last row of each layer is its bias."""

    hidden: Array
    out: Array

    def odds(self, rows: Array) -> Array:
        """The log-odds of each row."""
        return _odds(np.maximum(_through(rows, self.hidden), 0), self.out)


def fit(
    rows: npt.NDArray[Any],
    labels: npt.NDArray[np.bool_],
    epochs: int,
    hidden: int = HIDDEN,
    which: npt.NDArray[np.intp] | None = None,
) -> Head:
    """Fit a head, always from the same start.

    Args:
        rows: what is read of each text.
        labels: whether each means what the head decides.
        hidden: how wide its hidden layer is.
        which: the row that each label is of; a row each where there is none.
    """
    which = np.arange(len(rows)) if which is None else which
    dice = np.random.default_rng(0)
    width = rows.shape[1]
    inner = np.vstack([dice.normal(size=(width, hidden)) * SPREAD / np.sqrt(width), np.zeros((1, hidden))])
    weights = inner.astype(np.float32), np.append(dice.normal(size=hidden) / np.sqrt(hidden), 0).astype(np.float32)
    moments = [(np.zeros_like(each), np.zeros_like(each)) for each in weights]
    step = 0
    for epoch in range(epochs):
        rate = RATE * (1 - epoch / epochs) + LEAST_RATE
        order = dice.permutation(len(which))
        for begin in range(0, len(which), BATCH):
            some = order[begin : begin + BATCH]
            kept = dice.random((len(some), width), np.float32) >= LEFT_OUT
            step += 1
            read = rows[which[some]].astype(np.float32) * kept / np.float32(1 - LEFT_OUT)
            for at, slope in enumerate(_slopes(*weights, read, labels[some])):
                _adam(weights[at], moments[at], slope, rate, step)
    return Head(*weights)


def chance(odds: float) -> float:
    """The chance in [0, 1] of some log-odds."""
    return float(1 / (1 + np.exp(-np.clip(odds, -SURE, SURE))))


def _slopes(hidden: Array, out: Array, rows: Array, labels: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    inner = _through(rows, hidden)
    felt = np.maximum(inner, 0)
    odds = np.clip(_odds(felt, out), -SURE, SURE)
    error = ((1 / (1 + np.exp(-odds)) - labels) / np.float32(len(rows))).astype(np.float32)
    back = np.outer(error, out[:-1]) * (inner > 0)
    to_hidden = np.vstack([rows.T @ back + SHRINK * hidden[:-1], back.sum(0, keepdims=True)])
    return to_hidden.astype(np.float32), np.append(felt.T @ error + SHRINK * out[:-1], error.sum()).astype(np.float32)


def _adam(weights: Array, moments: tuple[Array, Array], slope: Array, rate: float, step: int) -> None:
    """One step, in place."""
    first, second = moments
    first += (1 - DECAY) * (slope - first)
    second += (1 - SECOND) * (slope * slope - second)
    size = np.sqrt(second / (1 - SECOND**step)) + EPSILON
    weights -= (rate / (1 - DECAY**step) * first / size).astype(np.float32)


def _through(rows: Array, layer: Array) -> Array:
    return rows @ layer[:-1] + layer[-1]


def _odds(felt: Array, layer: Array) -> Array:
    return felt @ layer[:-1] + layer[-1]
