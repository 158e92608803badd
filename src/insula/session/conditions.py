"""Whether the session is under load: conditions that begin and end at different thresholds, and not too often (S7)."""

from dataclasses import dataclass, replace
from typing import Literal

Reason = Literal["performance_degraded", "stm_high_utilization"]
DEGRADED: Reason = "performance_degraded"
STM_HIGH: Reason = "stm_high_utilization"

DWELL_SECONDS = 30.0
"""How long a condition stays as it is, once it has changed (S7: a minimum dwell; the number is ours)."""
STM_ENTER = 0.85
"""Utilisation from which working memory is highly used (seed 003)."""
STM_LEAVE = 0.70
"""Below this it no longer is; also, where the snapshot interval relaxes (seed 003)."""


@dataclass(frozen=True, slots=True)
class ConditionBand:
    """Where a condition begins and ends; between the two it stays as it is."""

    enter: float
    """A value at or above this begins it."""
    leave: float
    """A value below this ends it."""


STM_BAND = ConditionBand(STM_ENTER, STM_LEAVE)
DEGRADED_BAND = ConditionBand(2.0, 1.5)
"""In multiples of what is usual for the model: who waits twice as long notices (ours; how often chance reaches it is
measured by `insula bench slowness`)."""
SEVERE_BAND = ConditionBand(4.0, 3.0)
"""In multiples of what is usual for the model: so slow that stages are skipped (S11; the numbers are ours)."""


def describe_slowdown(times: float) -> str:
    """How slow a model is, for a person: in figures only where it is slower than what ends degradation."""
    if times < DEGRADED_BAND.leave:
        return "the model is as fast as usual"
    return f"the model takes {times:.1f} times as long as usual"


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether something holds, and since when."""

    active: bool = False
    since: float | None = None
    """When it last changed, in seconds since the epoch; None where it never has."""

    def observe_value(self, at: float, value: float | None, band: ConditionBand) -> "Condition":
        """The condition after a value was seen.

        Args:
            value: None where it is not known: then nothing supports the condition, and it ends after its dwell.
            band: where the condition begins and ends.
        """
        active = self.active
        if value is None or value < band.leave:
            active = False
        elif value >= band.enter:
            active = True
        return self if active == self.active or self._is_dwelling(at) else Condition(active, at)

    def _is_dwelling(self, at: float) -> bool:
        # A clock that was put back must not hold a condition until it has caught up.
        return self.since is not None and 0 <= at - self.since < DWELL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions of one session; they start anew with the process."""

    degraded: Condition = Condition()
    severe: Condition = Condition()
    stm_high: Condition = Condition()

    def observe_turn(self, at: float, slowdown: float | None, utilization: float | None) -> "Conditions":
        """The conditions of the next turn.

        Args:
            slowdown: of the model, as a multiple of what is usual for it (`latency.Pace.slowdown`).
            utilization: of working memory, in [0, 1].
        """
        return replace(
            self,
            degraded=self.degraded.observe_value(at, slowdown, DEGRADED_BAND),
            severe=self.severe.observe_value(at, slowdown, SEVERE_BAND),
            stm_high=self.stm_high.observe_value(at, utilization, STM_BAND),
        )

    @property
    def active(self) -> tuple[tuple[Reason, float], ...]:
        """The conditions that hold, each with when it began in seconds since the epoch; always in the same order."""
        known: tuple[tuple[Reason, Condition], ...] = ((DEGRADED, self.degraded), (STM_HIGH, self.stm_high))
        return tuple((reason, condition.since or 0.0) for reason, condition in known if condition.active)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The conditions that hold: what an adaptation gives as its reason."""
        return tuple(reason for reason, _ in self.active)
