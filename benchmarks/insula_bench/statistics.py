"""Statistics of the measurements, in a few lines of NumPy."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from insula.stats import sigmoid

if TYPE_CHECKING:
    Array = np.typing.NDArray[np.float64]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a positive scores above a negative, ties counting half (Mann and Whitney), in [0, 1]."""
    ordered = np.sort(negative)
    below, up_to = (np.searchsorted(ordered, positive, side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(ordered)))


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided p-value that two methods are right equally often on the same problems (McNemar 1947).

    Args:
        only_one: problems that the first alone solves.
    """
    n, fewer = only_one + only_other, min(only_one, only_other)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / 2**n)


RESAMPLES = 10_000

_BATCH = 500


def bootstrap(
    values: "Sequence[Sequence[float]]",
    statistic: "Callable[[Array], Array]",
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """The 95 % interval of a statistic by drawing the cases anew, with replacement (Efron 1979; percentiles).

    Args:
        values: the cases, each a row of as many numbers.
        statistic: from resamples (resample x case x number) to one figure each; a resample without one is NaN.
        seed: of the draws; the same seed gives the same interval.

    Returns:
        The interval; (-inf, inf) of no cases, or where no resample has a figure.
    """
    cases, draw = np.asarray(values, float), np.random.default_rng(seed)
    if not len(cases):
        return -math.inf, math.inf
    batches = (min(_BATCH, resamples - done) for done in range(0, resamples, _BATCH))
    drawn = [statistic(cases[draw.integers(0, len(cases), (size, len(cases)))]) for size in batches]
    figures = np.concatenate(drawn)
    figures = figures[~np.isnan(figures)]
    if not len(figures):
        return -math.inf, math.inf
    low, high = np.quantile(figures, (0.025, 0.975))
    return float(low), float(high)


def mean_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of a mean, as of paired differences, by `bootstrap`."""
    return bootstrap([[value] for value in values], lambda drawn: drawn[:, :, 0].mean(axis=1), seed=seed)


def auroc_interval(
    scores: Sequence[float], truth: Sequence[bool], *, seed: int = 0, resamples: int = 1_000
) -> tuple[float, float]:
    """The 95 % interval of `auroc` by `bootstrap`, positives and negatives drawn together."""

    def statistic(drawn: "Array") -> "Array":
        return np.array([ranked(case[:, 0], case[:, 1] > 0) for case in drawn])

    pairs = [[score, float(true)] for score, true in zip(scores, truth, strict=True)]
    return bootstrap(pairs, statistic, seed=seed, resamples=resamples)


def ranked(scores: "Array", truth: "np.typing.NDArray[np.bool_]") -> float:
    """`auroc` of scores and what they should tell, by ranks, for many cases; NaN where either kind is missing."""
    positive = int(truth.sum())
    negative = len(truth) - positive
    if not positive or not negative:
        return math.nan
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))


BINS = 10


def reliability(
    probabilities: Sequence[float], truth: Sequence[bool], bins: int = BINS
) -> list[tuple[int, float, float]]:
    """Of each bin of equal width that is not empty: how many cases, their mean probability, the share that is true."""
    p, y = np.asarray(probabilities, float), np.asarray(truth, float)
    place = np.minimum((p * bins).astype(int), bins - 1)
    return [
        (int(inside.sum()), float(p[inside].mean()), float(y[inside].mean()))
        for number in range(bins)
        if (inside := place == number).any()
    ]


def ece(probabilities: Sequence[float], truth: Sequence[bool], bins: int = BINS) -> float:
    """The expected calibration error: how far shares lie from probabilities, by bins of equal width (Guo et al. 2017).

    Args:
        probabilities: in [0, 1], at least one.
        truth: whether what was held probable is so.
    """
    total = len(probabilities)
    return sum(count * abs(mean - share) for count, mean, share in reliability(probabilities, truth, bins)) / total


RIDGE = 0.01

_STEPS = 50


def logistic(features: "Array", truth: "Array", ridge: float = RIDGE) -> "Array":
    """Coefficients of a logistic regression, the intercept first, by Newton's steps.

    Args:
        truth: 0 or 1 of each case.
        ridge: a little, so that cases that can be told apart without error have finite coefficients.
    """
    x = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = sigmoid(x @ weights)
        slopes = x.T @ (p - truth) + ridge * weights
        curve = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(weights))
        step = np.linalg.solve(curve, slopes)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return weights
