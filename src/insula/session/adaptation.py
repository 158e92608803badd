"""What was changed, why, from what to what, and what was different afterwards (S11)."""

from collections.abc import Iterable
from typing import Literal

from insula.session.conditions import Reason
from insula.session.record import Record
from insula.session.snapshot import Snapshot

Lever = Literal["max_context_items", "consolidation_threshold", "snapshot_interval", "skipped_stages"]
Stage = Literal["embedding", "assessor_model"]
"""A stage of a turn that costs a model call and has a stand-in that costs none: term recall, the built-in monitor."""


Cause = Reason | Literal["stable"]
"""The condition that began; or that the one for which the lever had been moved is over."""


class Figures(Record):
    """How fast turns were and how full working memory was at one moment; absent where unknown."""

    latency_p95_ms: float | None = None
    stm_utilization: float | None = None


class Effect(Record):
    """How the figures of the next snapshot differ from those at an adaptation; absent where either is unknown.

    A difference is not yet a cause (law 7): whoever shows it says "afterwards", not "because".
    """

    latency_p95_ms: float | None = None
    stm_utilization: float | None = None


class Adaptation(Record):
    """One lever, moved for one reason."""

    at: float
    """In seconds since the epoch."""
    lever: Lever
    reason: Cause
    before: int | float | tuple[Stage, ...]
    after: int | float | tuple[Stage, ...]
    found: Figures = Figures()
    """What it was made in view of: what was slow already is no effect of it."""
    effect: Effect | None = None
    """Absent until the next snapshot is known."""


def settled(adaptations: Iterable[Adaptation], after: Snapshot) -> tuple[Adaptation, ...]:
    """The adaptations, those without an effect given the one that the next snapshot shows.

    Args:
        adaptations: in the order in which they were made.
        after: the snapshot just taken; an adaptation made at its very moment waits for the next.
    """
    now = figures(after)
    return tuple(
        one.model_copy(update={"effect": _effect(one.found, now)}) if one.effect is None and one.at < after.ts else one
        for one in adaptations
    )


def figures(seen: Snapshot) -> Figures:
    """The figures of a snapshot that an effect is measured by."""
    return Figures(latency_p95_ms=seen.performance.latency_p95_ms, stm_utilization=seen.stm_utilization)


def _effect(before: Figures, after: Figures) -> Effect:
    return Effect(
        latency_p95_ms=_change(before.latency_p95_ms, after.latency_p95_ms),
        stm_utilization=_change(before.stm_utilization, after.stm_utilization),
    )


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 4)
