"""A network of one hidden layer that tells several meanings apart, and a regression on spelling beside it, in NumPy.

As `network` and `spelled`, which tell one meaning. Of what is only known not to mean something, a row of `may` leaves
the rest open: it counts as whichever of these the network finds likeliest (Grandvalet 2002, learning from partial
labels).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.spelling import PLACES, Spelled
from insula_bench.network import BATCH, DECAY, EPSILON, HIDDEN, LEAST_RATE, RATE, SECOND, SHRINK, SPREAD

Array = npt.NDArray[np.float32]
May = npt.NDArray[np.bool_]

EPOCHS_SPELLED = 5
SHRINK_SPELLED, FIRST = 3e-6, 1e-6


class Network(NamedTuple):
    """The weights; the last row of each layer is its bias."""

    hidden: Array
    out: Array

    def odds(self, rows: Array) -> Array:
        """The log-odds of each meaning, up to a constant, a row for each row."""
        return np.maximum(rows @ self.hidden[:-1] + self.hidden[-1], 0) @ self.out[:-1] + self.out[-1]


def softmax(odds: Array) -> Array:
    """The chances in [0, 1] of some log-odds, by row."""
    raised = np.exp(odds - odds.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def fit(rows: Array, may: May, epochs: int, hidden: int = HIDDEN) -> Network:
    """Fit a network, always from the same start.

    Args:
        may: which meanings each may have.
        hidden: how wide its hidden layer is.
    """
    dice = np.random.default_rng(0)
    width, meanings = rows.shape[1], may.shape[1]
    start = (
        np.vstack([dice.normal(size=(width, hidden)) * SPREAD / np.sqrt(width), np.zeros((1, hidden))]),
        np.vstack([dice.normal(size=(hidden, meanings)) / np.sqrt(hidden), np.zeros((1, meanings))]),
    )
    network = Network(*(one.astype(np.float32) for one in start))
    moments = [(np.zeros_like(one), np.zeros_like(one)) for one in network]
    step = 0
    for epoch in range(epochs):
        rate = RATE * (1 - epoch / epochs) + LEAST_RATE
        order = dice.permutation(len(rows))
        for begin in range(0, len(rows), BATCH):
            some = order[begin : begin + BATCH]
            kept = dice.integers(0, 2, (len(some), width), np.uint8)  # half is left out
            step += 1
            slopes = _slopes(network, rows[some] * (kept * np.float32(2)), may[some])
            for at, slope in enumerate(slopes):
                _adam(network[at], moments[at], slope, rate, step)
    return network


def _adam(weights: Array, moments: tuple[Array, Array], slope: Array, rate: float, step: int) -> None:
    """One step, in place."""
    first, second = moments
    first += np.float32(1 - DECAY) * (slope - first)
    second += np.float32(1 - SECOND) * (slope * slope - second)
    size = np.sqrt(second / np.float32(1 - SECOND**step)) + np.float32(EPSILON)
    weights -= np.float32(rate / (1 - DECAY**step)) * first / size


def _slopes(network: Network, rows: Array, may: May) -> tuple[Array, Array]:
    inner = rows @ network.hidden[:-1] + network.hidden[-1]
    felt = np.maximum(inner, 0)
    error = _error(felt @ network.out[:-1] + network.out[-1], may)
    back = (error @ network.out[:-1].T) * (inner > 0)
    shrink = np.float32(SHRINK)
    hidden = np.vstack([rows.T @ back + shrink * network.hidden[:-1], back.sum(0, keepdims=True)])
    out = np.vstack([felt.T @ error + shrink * network.out[:-1], error.sum(0, keepdims=True)])
    return hidden, out


def _error(odds: Array, may: May) -> Array:
    """How far the chances are from what each example may be, as it is likeliest."""
    chances = softmax(odds)
    meant = chances * may
    meant /= np.maximum(meant.sum(1, keepdims=True), 1e-9)
    return ((chances - meant) / np.float32(len(odds))).astype(np.float32)


def fit_spelled(rows: Sequence[Spelled], may: May) -> Array:
    """The weights of the n-grams, a column for each meaning, the bias last; always from the same start."""
    dice, meanings = np.random.default_rng(0), range(may.shape[1])
    weights = np.zeros((PLACES + 1, len(meanings)), np.float32)
    squares = np.full_like(weights, FIRST)
    for _ in range(EPOCHS_SPELLED):
        order = dice.permutation(len(rows))
        for begin in range(0, len(rows), BATCH):
            some = order[begin : begin + BATCH]
            places, shares, owner = _joined([rows[at] for at in map(int, some)])
            error = _error(_sums(owner, weights[places] * shares[:, None], len(some)) + weights[-1], may[some])
            columns = [np.bincount(places, error[owner, each] * shares, PLACES + 1) for each in meanings]
            slope = np.stack(columns, 1).astype(np.float32) + np.float32(SHRINK_SPELLED) * weights
            slope[-1] = error.sum(0)
            squares += slope * slope
            weights -= slope / np.sqrt(squares)
    return weights


def _joined(rows: Sequence[Spelled]) -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64]]:
    lengths = [len(one.places) for one in rows]
    owner = np.repeat(np.arange(len(rows)), lengths)
    return np.concatenate([one.places for one in rows]), np.concatenate([one.shares for one in rows]), owner


def _sums(owner: npt.NDArray[np.int64], values: npt.NDArray[Any], rows: int) -> Array:
    return np.stack([np.bincount(owner, column, rows) for column in values.T], 1).astype(np.float32)


def spelled_odds(rows: Sequence[Spelled], weights: Array) -> Array:
    """The log-odds of each meaning by spelling, a row for each row."""
    return np.stack([one.shares @ weights[one.places] + weights[-1] for one in rows])
