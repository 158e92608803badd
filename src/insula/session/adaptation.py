"""What was changed, why, from what to what, what it saved, and what was different afterwards (S3, S11)."""

from collections.abc import Iterable
from typing import Literal

from insula.session.conditions import Reason
from insula.session.saved import Lever, Record, Saved
from insula.session.snapshot import Snapshot

Stage = Literal["embedding", "assessor_model"]
"""A stage between a response and its user that nobody has to wait for: the response's vector, which is made after the
turn instead, and a second model's judgement, for which the built-in monitor stands in."""

Cause = Reason | Literal["stable"]
"""The condition that began; or that the one for which the lever had been moved is over."""


class Figures(Record):
    """How fast turns were and how full working memory was at one moment, or by how much that differs; absent where
    unknown."""

    latency_p95_ms: float | None = None
    slowdown: float | None = None
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
    effect: Figures | None = None
    """How the figures of the next snapshot differ; absent until that is known. A difference is not yet a cause (law 7):
    whoever shows it says "afterwards", not "because"."""
    saved: Saved | None = None
    """What turns went without since, until the lever was moved again; absent while that is nothing."""

    def with_saved(self, saved: Saved) -> "Adaptation":
        """The same with more that was saved."""
        return self.model_copy(update={"saved": (self.saved or Saved()) + saved})

    def is_same(self, other: "Adaptation") -> bool:
        """Whether the other is this one, with an effect that is known or not."""
        mine, theirs = (
            (one.at, one.lever, one.reason, one.before, one.after, one.found, one.saved) for one in (self, other)
        )
        return mine == theirs


def settle_effects(adaptations: Iterable[Adaptation], after: Snapshot) -> tuple[Adaptation, ...]:
    """The adaptations, those without an effect given the one that the next snapshot shows.

    Args:
        after: the snapshot just taken; an adaptation made at its very moment waits for the next.
    """
    now = snapshot_figures(after)
    return tuple(
        adaptation.model_copy(update={"effect": _measure_effect(adaptation.found, now)})
        if adaptation.effect is None and adaptation.at < after.ts
        else adaptation
        for adaptation in adaptations
    )


def snapshot_figures(seen: Snapshot) -> Figures:
    """The figures of a snapshot that an effect is measured by."""
    performance = seen.performance
    return Figures(
        latency_p95_ms=performance.latency_p95_ms,
        slowdown=performance.slowdown,
        stm_utilization=seen.stm_utilization,
    )


def _measure_effect(before: Figures, after: Figures) -> Figures:
    return Figures(**{name: _difference_of(known, getattr(after, name)) for name, known in before})


def _difference_of(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 4)
