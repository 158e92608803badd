"""The last snapshots and adaptations, bounded, as a value that can be written down and read again (S10, S11).

When the next snapshot is due is a turn that is fixed in advance, not a remainder of a moving interval (S1, S7).
Sessions that stay stable have snapshots at turns 5, 11, 18, 26, 35, 45, 55, 65, …; those that are under load from the
first turn at 5, 9, 12, 14, 16, 18, …
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from insula.session.adaptation import Adaptation, settle_effects, snapshot_figures
from insula.session.conditions import STM_LEAVE, Reason
from insula.session.saved import Lever, Record, Saved
from insula.session.snapshot import Snapshot
from insula.value import is_list

R = TypeVar("R", bound=Record)

SIZE = 50
"""Snapshots kept, as many changes of their interval, and as many of the other levers:
`metacog_snapshot_history_size` (seed 003, its code)."""
PACE: Lever = "snapshot_interval"


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


class Ring(Record):
    """What a service instance remembers of itself; `model_dump(mode="json")` is its plain JSON."""

    size: Annotated[int, Field(ge=1)] = SIZE
    schedule: Schedule = Schedule()
    snapshots: tuple[Snapshot, ...] = ()
    """Oldest first."""
    adaptations: tuple[Adaptation, ...] = ()
    """Oldest first; those of the snapshot interval are its history."""

    @property
    def last(self) -> Snapshot | None:
        """The last snapshot; where counting goes on after a restart is its `turn_counter`."""
        return self.snapshots[-1] if self.snapshots else None

    def with_adaptations(self, adaptations: Iterable[Adaptation]) -> "Ring":
        """The ring with adaptations on record."""
        return self.model_copy(
            update={"adaptations": _latest_adaptations((*self.adaptations, *adaptations), self.size)}
        )

    def with_saved(self, made: Adaptation, saved: Saved) -> "Ring":
        """The ring with more put down as saved by an adaptation; the same where that has left it."""
        for place in range(len(self.adaptations) - 1, -1, -1):
            adaptation = self.adaptations[place]
            if adaptation.is_same(made):
                others = self.adaptations[:place], self.adaptations[place + 1 :]
                return self.model_copy(update={"adaptations": (*others[0], adaptation.with_saved(saved), *others[1])})
        return self

    def with_snapshot(self, snapshot: Snapshot, reasons: Sequence[Reason]) -> "Ring":
        """The ring after a snapshot: it is kept, effects are filled in, and the next one is scheduled."""
        schedule = self.schedule.reschedule(snapshot.turn_counter, reasons, snapshot.stm_utilization)
        known = settle_effects(self.adaptations, snapshot)
        update = {
            "schedule": schedule,
            "snapshots": (*self.snapshots, snapshot)[-self.size :],
            "adaptations": known,
        }
        return self.model_copy(update=update).with_adaptations(self.schedule.change_to(schedule, snapshot, reasons))


def restore_ring(data: Mapping[str, Any], size: int = SIZE) -> Ring:
    """The ring that was written as JSON; what cannot be read, or is of another version, is left out.

    The next snapshot is due an interval after the last one that could be read, where counting goes on.

    Args:
        data: what `model_dump(mode="json")` gave, perhaps damaged since.
    """
    schedule = next(iter(_read_records(Schedule, [data.get("schedule")])), Schedule())
    snapshots = _read_records(Snapshot, data.get("snapshots"))[-size:]
    return Ring(
        size=size,
        schedule=Schedule.start_schedule(schedule.interval, snapshots[-1].turn_counter if snapshots else 0),
        snapshots=snapshots,
        adaptations=_latest_adaptations(_read_records(Adaptation, data.get("adaptations")), size),
    )


def _latest_adaptations(adaptations: Sequence[Adaptation], size: int) -> tuple[Adaptation, ...]:
    """The last changes of the interval and the last of the other levers: many of one drive out none of the other."""
    kept: list[Adaptation] = []
    room = {True: size, False: size}
    for adaptation in reversed(adaptations):
        pace = adaptation.lever == PACE
        if room[pace]:
            kept.append(adaptation)
            room[pace] -= 1
    return tuple(reversed(kept))


def _read_records(kind: type[R], values: object) -> tuple[R, ...]:
    records: list[R] = []
    for value in values if is_list(values) else ():
        try:
            records.append(kind.model_validate(value))
        except ValidationError:
            continue
    return tuple(records)
