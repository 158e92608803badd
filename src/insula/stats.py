"""Statistics in a few lines of NumPy."""

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
