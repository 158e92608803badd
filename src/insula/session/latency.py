"""How slow turns have been lately, and how slow is too slow for this model."""

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

WINDOW_SECONDS = 300.0
"""How far back a percentile looks where turns are frequent, so that old turns mask no recovery (S7)."""
MINIMUM = 20
"""The smallest sample of which a p95 is taken, and what the window reaches back for where turns are rare: of fewer,
the p95 by nearest rank is the slowest turn alone (S7)."""
OLDEST_SECONDS = 3_600.0
"""No turn older than this counts, however few there are."""
KEPT = 500
"""Turns that a caller needs to keep, so that a busy service spends no time on a percentile (seed 003, its code)."""
BASELINE_TURNS = 20
"""Turns of a model whose median says what is normal for it (S7)."""
SLO_FACTOR = 3.0
"""How many times that median is too slow (S7)."""
SLO_SPREAD = 1.5
"""How many times the p95 of those turns is too slow, where that is more: long answers among short ones are a model's
nature, not its load (ours; the embedded model's p95 is 3 to 4 times its median)."""
SLO_FLOOR_MS = 100.0
"""Nobody calls an answer slow that takes less, however fast the model is otherwise (Nielsen 1993: felt as at once)."""
P95 = 0.95


class Latency(NamedTuple):
    """How long one turn took."""

    at: float
    """When it ended, in seconds since the epoch."""
    ms: float


def p95(values: Iterable[float]) -> float | None:
    """The 95th percentile by nearest rank (the value at rank ⌈0.95·n⌉), in the unit of the values.

    Returns:
        None where there is no finite value.
    """
    finite = sorted(value for value in values if math.isfinite(value))
    return finite[math.ceil(P95 * len(finite)) - 1] if finite else None


def recent_p95(latencies: Iterable[Latency], now: float, *, minimum: int = MINIMUM) -> float | None:
    """The p95 of the turns of the last `WINDOW_SECONDS`, or of the last `minimum` where those are fewer.

    A window by time alone would forget a slow model for its very slowness: the slower the turns, the fewer there are.

    Args:
        latencies: of one model, in any order; its last `KEPT` are enough.
        now: seconds since the epoch.
        minimum: the smallest sample to speak of.

    Returns:
        Milliseconds; None where there are fewer than `minimum` turns in the last `OLDEST_SECONDS`.
    """
    # After a clock was put back, turns of its future would hide those that follow until it has caught up.
    known = sorted(one for one in latencies if 0 <= now - one.at <= OLDEST_SECONDS and math.isfinite(one.ms))
    if not known or len(known) < minimum:
        return None
    frequent = sum(now - one.at <= WINDOW_SECONDS for one in known)
    return p95(one.ms for one in known[-max(frequent, minimum) :])


def slo(first: Sequence[float], configured: float | None = None) -> float | None:
    """The latency above which a model counts as degraded: its own objective, not one number for all (S7).

    Args:
        first: milliseconds of the model's turns, oldest first; only the first `BASELINE_TURNS` count.
        configured: `latency_slo_ms`, which stands where it is given.

    Returns:
        Milliseconds; None while neither is known, and then nothing is degraded.
    """
    if configured is not None:
        return configured
    if len(first) < BASELINE_TURNS:
        return None
    normal = first[:BASELINE_TURNS]
    return max(SLO_FLOOR_MS, SLO_FACTOR * median(normal), SLO_SPREAD * (p95(normal) or 0.0))


def load(p95_ms: float | None, slo_ms: float | None) -> float | None:
    """The p95 in units of the objective: above 1 it is missed; None where either is unknown."""
    return p95_ms / slo_ms if p95_ms is not None and slo_ms else None
