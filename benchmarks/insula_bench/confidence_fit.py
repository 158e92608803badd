"""The fit of the model of confidence that is shipped: weights that are not negative, by a weighted log loss."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from insula.stats import sigmoid
from insula.types import Calibration

if TYPE_CHECKING:
    Array = np.typing.NDArray[np.float64]

RIDGE = 0.001
"""Penalty on the squared weights of standardised features, beside a mean loss: enough to keep them finite."""
STEPS = 3_000
"""Steps of the fit; it converges in fewer, and costs a second for some thousand cases."""
RATE = 0.02
_BETAS = 0.9, 0.999
_TINY = 1e-9


class Case(NamedTuple):
    """A question that was asked of memory: its features, and whether memory held the answer."""

    values: Mapping[str, float]
    whose: Mapping[str, float]
    """Features of whether it is said of the person asked; empty where none is."""
    known: bool
    weight: float = 1.0


def fit_calibration(cases: Sequence[Case], start: Calibration) -> Calibration:
    """The calibration that fits some cases best, with the features that `start` names.

    Args:
        start: names the features of each half, and is what the fit begins with.
    """
    sides = _Side(cases, start.weights, whose=False), _Side(cases, start.whose_weights, whose=True)
    truth = np.array([case.known for case in cases], float)
    share = np.array([case.weight for case in cases], float)
    asked = np.array([bool(case.whose) and bool(start.whose_weights) for case in cases])
    first = (
        sides[0].to_vector(start.intercept, start.weights),
        sides[1].to_vector(start.whose_intercept, start.whose_weights),
    )
    fitted = _minimise_loss(np.concatenate(first), sides, truth, share / share.sum(), asked)
    cut = len(first[0])
    intercept, weights = sides[0].from_vector(fitted[:cut])
    whose_intercept, whose_weights = sides[1].from_vector(fitted[cut:])
    return replace(
        start, intercept=intercept, weights=weights, whose_intercept=whose_intercept, whose_weights=whose_weights
    )


class _Side:
    """The features of one half, standardised."""

    def __init__(self, cases: Sequence[Case], weights: Mapping[str, float], *, whose: bool) -> None:
        self.names = tuple(weights)
        rows = [[(case.whose if whose else case.values).get(name, 0.0) for name in self.names] for case in cases]
        raw = np.array(rows, float).reshape(len(cases), len(self.names))
        here = raw[[bool(case.whose) for case in cases]] if whose else raw
        self._mean = here.mean(axis=0) if len(here) else np.zeros(len(self.names))
        spread = here.std(axis=0) if len(here) else np.zeros(len(self.names))
        self._spread = np.where(spread > _TINY, spread, np.inf)
        self.x = np.column_stack([np.ones(len(cases)), (raw - self._mean) / self._spread])

    def to_vector(self, intercept: float, weights: Mapping[str, float]) -> "Array":
        raw = np.array([weights[name] for name in self.names], float)
        scaled = np.where(np.isinf(self._spread), 0.0, raw * np.where(np.isinf(self._spread), 0.0, self._spread))
        return np.concatenate([[intercept + float(raw @ self._mean)], scaled])

    def from_vector(self, fitted: "Array") -> tuple[float, dict[str, float]]:
        raw = fitted[1:] / self._spread
        return float(fitted[0] - raw @ self._mean), dict(zip(self.names, raw.tolist(), strict=True))


def _minimise_loss(at: "Array", sides: tuple[_Side, _Side], truth: "Array", share: "Array", asked: "Array") -> "Array":
    """Minimise the weighted log loss of the product (Adam, with the weights projected to what is not negative)."""
    cut = sides[0].x.shape[1]
    slopes = np.ones(len(at), bool)
    slopes[[0, cut]] = False
    mean, square = np.zeros(len(at)), np.zeros(len(at))
    for step in range(1, STEPS + 1):
        gradient = _loss_gradient(at, cut, sides, truth, share, asked) + RIDGE * at * slopes
        mean = _BETAS[0] * mean + (1 - _BETAS[0]) * gradient
        square = _BETAS[1] * square + (1 - _BETAS[1]) * gradient**2
        at = at - RATE * mean / (1 - _BETAS[0] ** step) / (np.sqrt(square / (1 - _BETAS[1] ** step)) + _TINY)
        at = np.where(slopes, np.maximum(at, 0.0), at)
    return at


def _loss_gradient(
    at: "Array", cut: int, sides: tuple[_Side, _Side], truth: "Array", share: "Array", asked: "Array"
) -> "Array":
    stored = sigmoid(sides[0].x @ at[:cut])
    whose = np.where(asked, sigmoid(sides[1].x @ at[cut:]), 1.0)
    p = np.clip(stored * whose, _TINY, 1 - _TINY)
    by_log = -share * (truth - (1 - truth) * p / (1 - p))  # of the loss, by the logarithm of the product
    return np.concatenate([sides[0].x.T @ (by_log * (1 - stored)), sides[1].x.T @ (by_log * (1 - whose) * asked)])
