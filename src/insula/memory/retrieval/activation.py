"""ACT-R's base-level learning: what is used often and lately is more active."""

import math
from collections.abc import Sequence

DECAY = 0.5
"""d, the decay of each use (Anderson and Schooler 1991; ACT-R's default)."""

KEPT_USES = 8
"""Recent uses kept one by one; the older ones are summed in closed form (Petrov 2006)."""

SCALE = 1.0
"""Activation noise s: how steeply activation turns into a probability of retrieval (ACT-R: 0.25–1)."""

THRESHOLD = -2.0
"""Retrieval threshold τ in units of ln(hours): used once a day and a half ago stands at one half."""

_HOUR = 3600.0
_SOONEST = 1.0 / 60.0


def base_level(uses: Sequence[float], count: int, created: float, now: float) -> float:
    """B = ln Σ t⁻ᵈ over all uses, in ln(hours⁻ᵈ).

    Args:
        uses: times of the most recent uses in seconds since the epoch, the creation among them, newest last.
        count: how often it was used in all, at least `len(uses)`.
        created: when it was created, in seconds since the epoch.
        now: the present, in seconds since the epoch.
    """
    ages = [max((now - use) / _HOUR, _SOONEST) for use in uses]
    total = sum([age**-DECAY for age in ages])
    if (older := count - len(ages)) > 0:
        life, oldest = max((now - created) / _HOUR, _SOONEST), max(ages, default=_SOONEST)
        if life > oldest:
            spread = (life ** (1 - DECAY) - oldest ** (1 - DECAY)) / ((1 - DECAY) * (life - oldest))
            total += older * spread
    return math.log(total) if total > 0 else -math.inf


def retrieval_probability(activation: float) -> float:
    """Probability of retrieval in [0, 1]: ACT-R's 1 / (1 + e^((τ − B) / s))."""
    return 1.0 / (1.0 + math.exp(min((THRESHOLD - activation) / SCALE, 60.0)))
