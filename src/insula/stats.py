"""Statistics in a few lines of NumPy."""

import math
from collections.abc import Sequence

import numpy as np


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a positive scores above a negative, ties counting half (Mann and Whitney), in [0, 1].

    Args:
        positive: scores of the positives, at least one.
        negative: scores of the negatives, at least one.
    """
    above = np.asarray(positive)[:, None] - np.asarray(negative)[None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


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
