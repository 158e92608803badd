"""When the next snapshot is due: a turn that is fixed in advance, not a remainder of a moving interval (S1, S7).

Sessions that stay stable have snapshots at turns 5, 11, 18, 26, 35, 45, 55, 65, …; those that are under load from the
first turn at 5, 9, 12, 14, 16, 18, …
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from insula.session.adaptation import Adaptation, snapshot_figures
from insula.session.conditions import STM_LEAVE, Reason
from insula.session.saved import Record
from insula.session.snapshot import Snapshot

INTERVAL = 5
"""User turns between snapshots, to begin with: `metacog_turn_interval` (S1)."""
SHORTEST = 2
"""Turns to which the interval tightens under load (S7)."""
LONGEST = 10
"""Turns to which it relaxes when all is well (S7)."""


class Schedule(Record):
    """The interval in force and the turn that it leads to."""

    interval: Annotated[int, Field(ge=SHORTEST, le=LONGEST)] = INTERVAL
    due: Annotated[int, Field(ge=1)] = INTERVAL

    @classmethod
    def start_schedule(cls, interval: int = INTERVAL, turn: int = 0) -> "Schedule":
        """The schedule from `turn` on; an interval out of bounds is taken to the nearest that is allowed."""
        interval = min(LONGEST, max(SHORTEST, interval))
        return cls(interval=interval, due=turn + interval)

    def is_due(self, turn: int) -> bool:
        """Whether turn number `turn` ends with a snapshot; a due turn that was missed is made up for at the next."""
        return turn >= self.due

    def reschedule(self, turn: int, reasons: Sequence[Reason], utilization: float | None) -> "Schedule":
        """The schedule after a snapshot: shorter under load, longer when stable, as it was in between.

        Args:
            utilization: of working memory, in [0, 1]; unknown is taken for calm (seed 003, its code).
        """
        calm = utilization is None or utilization < STM_LEAVE
        return Schedule.start_schedule(self.interval + (-1 if reasons else 1 if calm else 0), max(turn, self.due))

    def change_to(self, other: "Schedule", seen: Snapshot, reasons: Sequence[Reason]) -> tuple[Adaptation, ...]:
        """The record of a change of the interval; none where it stayed.

        Args:
            reasons: the conditions that hold; the first of them is the reason.
        """
        if other.interval == self.interval:
            return ()
        reason = reasons[0] if reasons else "stable"
        made = Adaptation(
            at=seen.ts,
            lever="snapshot_interval",
            reason=reason,
            before=self.interval,
            after=other.interval,
            found=snapshot_figures(seen),
        )
        return (made,)
