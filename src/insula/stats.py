"""Statistics in a few lines of NumPy."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    Array = np.typing.NDArray[np.float64]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a positive scores above a negative, ties counting half (Mann and Whitney), in [0, 1].

    Args:
        positive: scores of the positives, at least one.
        negative: scores of the negatives, at least one.
    """
    ordered = np.sort(negative)
    below, up_to = (np.searchsorted(ordered, positive, side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(ordered)))


Z95 = 1.959964
"""Quantile of the normal distribution for an interval of 95 %."""


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, which stays within [0, 1] and holds for few trials (Wilson 1927).

    Args:
        successes: how many of the trials succeeded.
        n: how many trials; of none nothing is known, and the interval is (0, 1).
    """
    if n == 0:
        return 0.0, 1.0
    share, z2 = successes / n, Z95 * Z95 / n
    middle = share + z2 / 2
    half = math.sqrt(share * (1 - share) * z2 + z2 * z2 / 4)
    return max(0.0, (middle - half) / (1 + z2)), min(1.0, (middle + half) / (1 + z2))


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided p-value that two methods are right equally often on the same problems (McNemar 1947).

    Args:
        only_one: problems that the first alone solves.
        only_other: problems that the second alone solves.
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
        resamples: how many are drawn.

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
        bins: how many.
    """
    total = len(probabilities)
    return sum(count * abs(mean - share) for count, mean, share in reliability(probabilities, truth, bins)) / total


RIDGE = 0.01
_STEPS = 50


def logistic(features: "Array", truth: "Array", ridge: float = RIDGE) -> "Array":
    """Coefficients of a logistic regression, the intercept first, by Newton's steps.

    Args:
        features: case x feature.
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


def sigmoid(x: "Array") -> "Array":
    """The logistic function, which cannot overflow."""
    return 0.5 * (1 + np.tanh(0.5 * x))


def slope(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """The median slope of a line through two of the points, with its 95 % interval (Theil 1950; Sen 1968).

    It holds where a few points are far off, and a slope is only told from chance where the interval is without 0.

    Args:
        x: abscissae; pairs of points with equal ones are left out.
        y: as many ordinates.

    Returns:
        The slope and its interval; of fewer than three points with different abscissae (0, -inf, inf).
    """
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    one, other = np.triu_indices(len(xs), 1)
    apart = xs[other] - xs[one]
    slopes = np.sort(((ys[other] - ys[one])[apart != 0]) / apart[apart != 0])
    if len(set(xs.tolist())) < 3 or not len(slopes):
        return 0.0, -math.inf, math.inf
    half = Z95 * math.sqrt(_kendall_variance(xs, ys)) / 2
    low, high = round(len(slopes) / 2 - half) - 1, round(len(slopes) / 2 + half)
    ends = (slopes[low] if low >= 0 else -math.inf, slopes[high] if high < len(slopes) else math.inf)
    return float(np.median(slopes)), float(ends[0]), float(ends[1])


def _kendall_variance(x: "np.typing.NDArray[np.float64]", y: "np.typing.NDArray[np.float64]") -> float:
    """Variance of Kendall's S under no trend, with Kendall's correction for ties (1970)."""
    n = len(x)
    total = n * (n - 1) * (2 * n + 5)
    for values in (x, y):
        _, counts = np.unique(values, return_counts=True)
        total -= float((counts * (counts - 1) * (2 * counts + 5)).sum())
    return max(total, 0.0) / 18
