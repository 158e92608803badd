"""What a service writes down of itself: snapshots, what was changed, what that saved (S1–S3, S10, S11).

Figures in a bounded ring, and no text of anybody's. When the next snapshot is due is a turn that is fixed in advance,
not a remainder of a moving interval. Sessions that stay stable have snapshots at turns 5, 11, 18, 26, 35, 45, 55, 65,
…; those that are under load from the first turn at 5, 9, 12, 14, 16, 18, …
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from insula.session.conditions import DEGRADED, STM_LEAVE, Reason
from insula.value import is_list

Lever = Literal[
    "max_context_items", "consolidation_threshold", "history_share", "retry", "skipped_stages", "snapshot_interval"
]
OF_SPEED: frozenset[Lever] = frozenset(("history_share", "retry", "skipped_stages"))
"""Levers that only a slow model moves."""
METACOG: Literal["metacog"] = "metacog"

Some = Annotated[int, Field(ge=1)]


class Record(BaseModel):
    """A frozen record that can be written as JSON; what is None is left out of it, never written as null or zero (S2).

    Raises:
        pydantic.ValidationError: a field is missing, unknown or out of range, or a number is not finite.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # No return annotation: with one, the JSON schema of a subclass would say "an object" and nothing of its fields.
    @model_serializer(mode="wrap")
    def _without_unknown(self, handler: SerializerFunctionWrapHandler):
        return {name: value for name, value in handler(self).items() if value is not None}


class Saved(Record):
    """What turns really went without, counted; absent where it is nothing."""

    memories: Some | None = None
    """That would have stood before the model."""
    candidates: Some | None = None
    """Memories that recall would have scored."""
    promotions: Some | None = None
    """Things said that would be in long-term memory by now: from this turn on they wait in working memory."""
    history_chars: Some | None = None
    """Of the conversation that would have been sent along."""
    vectors: Some | None = None
    """Of responses: made after their turns, and nobody waits for them."""
    calls: Some | None = None
    """Of a model: a second answer, a second judge."""
    output_tokens: Some | None = None
    """That those calls would have asked for."""

    def __add__(self, other: "Saved") -> "Saved":
        mine, theirs = dict(self), dict(other)
        return Saved(**{name: (mine[name] or 0) + (theirs[name] or 0) or None for name in mine})

    def __bool__(self) -> bool:
        return any(dict(self).values())

    @property
    def words(self) -> str:
        """What it was, in a line for a person."""
        return ", ".join(_FORMS[name].format(many=many) for name, many in dict(self).items() if many)


_FORMS = {
    "memories": "{many:,} fewer memories shown",
    "candidates": "{many:,} fewer memories scored",
    "promotions": "{many:,} not yet in long-term memory",
    "history_chars": "{many:,} fewer characters of the conversation sent",
    "vectors": "{many:,} responses read after their turn",
    "calls": "{many:,} fewer calls of a model",
    "output_tokens": "{many:,} fewer tokens asked for",
}


class Advisory(Record):
    """That a turn went without something, and for what reason: for whoever runs the agent, never for its model (S3)."""

    source_system: Literal["metacog"] = METACOG
    reason: Reason
    lever: Lever
    saved: Saved


def make_advisories(saved: Mapping[Lever, Saved], reasons: Sequence[Reason]) -> tuple[Advisory, ...]:
    """What there is to say of what was saved; nothing where nothing was, or where no condition holds.

    Args:
        saved: by lever.
        reasons: the conditions that hold; where both do, what they lower together is said of the first.
    """
    if not reasons:
        return ()
    return tuple(
        Advisory(reason=DEGRADED if lever in OF_SPEED else reasons[0], lever=lever, saved=counts)
        for lever, counts in saved.items()
        if counts
    )


VERSION = 1
"""Of the schema below; a snapshot of another version is not read."""
ONE_USE = 0.1
"""Salience that one use adds to an item: what it may lack and still be within reach of promotion (S0)."""
FILLED = 11 / 32
"""Share of working memory's items that long talks fill with what is within reach of promotion: what the talks of a user
with an assistant reach, and one of five conversations of LoCoMo (`insula bench session`)."""

TurnStatus = Literal["stored", "skipped"]
"""Whether the last user turn was written to memory (seed 003)."""
NonNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Performance(Record):
    """How fast turns are, and whether the model is slower than usual."""

    latency_p95_ms: NonNegative | None = None
    """Milliseconds of whole turns, as somebody waits for them; absent until there are enough. It decides nothing."""
    slowdown: NonNegative | None = None
    """How many times longer than usual the model takes for such answers; absent until it can be told."""
    degraded: bool = False
    """Whether the model is so much slower that turns go without something."""


class Snapshot(Record):
    """One snapshot of a service instance; a figure that does not exist yet is absent, not zero."""

    version: Literal[1] = VERSION
    ts: float
    """When it was taken, in seconds since the epoch."""
    turn_counter: Count
    """User turns of the service instance so far."""
    performance: Performance
    recent_consolidation_selectivity: NonNegative | None = None
    """Promotions to long-term memory per item stored; above 1 where items stored earlier were promoted."""
    promotion_age_p95_seconds: NonNegative | None = None
    """How old items were when they were promoted."""
    stm_utilization: Share | None = None
    stm_capacity: Annotated[int, Field(ge=1)] | None = None
    last_user_turn_status: TurnStatus | None = None
    advisories: tuple[Advisory, ...] | None = None
    """What turns of all sessions went without since the snapshot before; absent where that is nothing."""


def measure_utilization(occupied: int | None, capacity: int | None) -> float | None:
    """How full working memory is of what matters, in [0, 1]; None where either is unknown."""
    return min(1.0, occupied / (FILLED * capacity)) if capacity and occupied is not None else None


def count_occupied(saliences: Iterable[float], consolidation_threshold: float) -> int:
    """How many items take up working memory: those that one more use would promote.

    Working memory always holds the last few things said, so that a count of all items is at its capacity from some turn
    on, whatever is said. Small talk, which may go at any time, takes no room.

    Args:
        saliences: of the items not yet promoted that were said lately.
        consolidation_threshold: the one in the settings; with a raised one, raising it would raise utilisation.
    """
    return sum(salience + ONE_USE >= consolidation_threshold for salience in saliences)


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


def settle_effects(adaptations: Iterable[Adaptation], after: Snapshot) -> tuple[Adaptation, ...]:
    """The adaptations, those without an effect given the one that the next snapshot shows.

    Args:
        after: the snapshot just taken; an adaptation made at its very moment waits for the next.
    """
    now = read_figures(after.performance, after.stm_utilization)
    return tuple(
        adaptation.model_copy(update={"effect": _measure_effect(adaptation.found, now)})
        if adaptation.effect is None and adaptation.at < after.ts
        else adaptation
        for adaptation in adaptations
    )


def read_figures(performance: Performance, utilization: float | None) -> Figures:
    """The figures that an effect is measured by."""
    known = performance.model_dump(include={"latency_p95_ms", "slowdown"})
    return Figures(**known, stm_utilization=utilization)


def _measure_effect(before: Figures, after: Figures) -> Figures:
    return Figures(**{name: _difference_of(known, getattr(after, name)) for name, known in before})


def _difference_of(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 4)


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
            found=read_figures(seen.performance, seen.stm_utilization),
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
        adaptations = list(self.adaptations)
        for place, adaptation in reversed([*enumerate(adaptations)]):
            if adaptation.model_copy(update={"effect": made.effect}) == made:  # its effect may be known by now
                adaptations[place] = adaptation.with_saved(saved)
                return self.model_copy(update={"adaptations": tuple(adaptations)})
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
