"""Statistics in a few lines of NumPy."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    Array = np.typing.NDArray[np.float64]


Z95 = 1.959964
"""Quantile of the normal distribution for an interval of 95 %."""


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, which stays within [0, 1] and holds for few trials (Wilson 1927).

    Args:
        n: how many trials; of none nothing is known, and the interval is (0, 1).
    """
    if n == 0:
        return 0.0, 1.0
    share, z2 = successes / n, Z95 * Z95 / n
    middle = share + z2 / 2
    half = math.sqrt(share * (1 - share) * z2 + z2 * z2 / 4)
    return max(0.0, (middle - half) / (1 + z2)), min(1.0, (middle + half) / (1 + z2))


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
