"""The control loop of the session: figures of turns go in, what the next turn may use comes out (S1–S11).

It holds values and does no I/O. Conditions belong to a session, its pace to a model, snapshots to the service. Nothing
restores a setting (law 6): the settings go in and a new value comes out, so that a turn that raises, or one that runs
beside another, cannot leave a lowered limit behind.
"""

import math
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from insula.caches import LatestEntries
from insula.session.conditions import (
    DEGRADED,
    DEGRADED_BAND,
    KEPT,
    Conditions,
    Latency,
    Observation,
    Pace,
    Reason,
    percentile_95,
    read_pace,
    recent_p95,
    write_pace,
)
from insula.session.snapshot import (
    INTERVAL,
    SIZE,
    Adaptation,
    Advisory,
    Cause,
    Figures,
    Lever,
    Performance,
    Ring,
    Saved,
    Schedule,
    Snapshot,
    Stage,
    count_occupied,
    measure_utilization,
    read_figures,
    restore_ring,
)
from insula.types import Controls
from insula.value import is_object

RETRIEVAL_FACTOR = 0.75
"""`max_context_items` is multiplied by this for each condition (S6)."""
HISTORY_SHARES = 1.0, 0.75, 0.5
"""Share of the conversation that is sent along: as usual, degraded, severely degraded. What a model is to read before
its first token is what a slow one can be spared at the least loss: what was said is recalled all the same (ours)."""
RETRIEVAL_FLOOR = 4
"""Memories below which no condition lowers it (S6)."""
THRESHOLD_STEP = 0.05
"""What each condition adds to the consolidation threshold (S5)."""
THRESHOLD_CAP = 0.85
"""Above this no condition raises it (S5)."""
SKIPPED: tuple[Stage, ...] = ("embedding", "assessor_model")
"""What a turn goes without under severe degradation (S11)."""


LeverValue = int | float | tuple[Stage, ...]
Values = Mapping[Lever, LeverValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regulation:
    """What conditions make of the settings for one turn."""

    controls: Controls
    skipped: tuple[Stage, ...] = ()
    """Stages that this turn goes without."""


def regulate_controls(settings: Controls, conditions: Conditions) -> Regulation:
    """What a turn may use under the present conditions: the settings themselves where there are none."""
    number, degree = len(conditions.active), _slowness_degree(conditions)
    controls = replace(
        settings,
        max_context_items=_limit_items(settings, number),
        consolidation_threshold=_raise_threshold(settings, number),
        history_share=min(settings.history_share, HISTORY_SHARES[degree]),
        retry=0 if degree else settings.retry,
    )
    return Regulation(controls=controls, skipped=SKIPPED if degree > 1 else ())


def record_changes(
    settings: Controls, before: Conditions, after: Conditions, at: float, figures: Figures | None = None
) -> tuple[Adaptation, ...]:
    """What goes on record when conditions change: each lever that moved, first for what ended, then for what began.

    Args:
        settings: what a turn may use before conditions change it.
        figures: those in view of which the conditions changed.
    """
    kept = sum(held in after.active for held in before.active)
    begun: list[Reason] = [reason for reason, since in after.active if (reason, since) not in before.active]
    moves: list[tuple[Cause, Values, Values]] = [
        ("stable", _values_under(settings, len(before.active)), _values_under(settings, kept)),
        *(
            (reason, _values_under(settings, number), _values_under(settings, number + 1))
            for number, reason in enumerate(begun, kept)
        ),
    ]
    slower = _slowness_degree(after) > _slowness_degree(before)
    moves.append((DEGRADED if slower else "stable", _speed_values(settings, before), _speed_values(settings, after)))
    return tuple(
        Adaptation(at=at, lever=lever, reason=cause, before=old[lever], after=new[lever], found=figures or Figures())
        for cause, old, new in moves
        for lever in old
        if old[lever] != new[lever]
    )


def record_return(settings: Controls, adaptations: Iterable[Adaptation], at: float) -> tuple[Adaptation, ...]:
    """What goes on record when a process starts: conditions begin anew, so a lever left moved is back where it was.

    Args:
        settings: what a turn may use before conditions change it.
        adaptations: those of the process before, oldest first.
    """
    usual = {**_values_under(settings, 0), **_speed_values(settings, Conditions())}
    last: dict[Lever, Adaptation] = {adaptation.lever: adaptation for adaptation in adaptations}
    return tuple(
        Adaptation(at=at, lever=lever, reason="stable", before=adaptation.after, after=usual[lever])
        for lever, adaptation in last.items()
        if adaptation.reason != "stable" and adaptation.after != usual.get(lever, adaptation.after)
    )


def _values_under(settings: Controls, conditions: int) -> Values:
    """Where the levers stand that each condition moves, under so many."""
    return {
        "max_context_items": _limit_items(settings, conditions),
        "consolidation_threshold": _raise_threshold(settings, conditions),
    }


def _speed_values(settings: Controls, conditions: Conditions) -> Values:
    """Where the levers stand that only a slow model moves: it is spared history to read, and a second answer."""
    made = regulate_controls(settings, conditions)
    return {
        "history_share": made.controls.history_share,
        "retry": made.controls.retry,
        "skipped_stages": made.skipped,
    }


def _limit_items(settings: Controls, conditions: int) -> int:
    """Memories for a number of conditions; a limit that is set below the floor is left alone."""
    lowered = math.floor(settings.max_context_items * RETRIEVAL_FACTOR**conditions)
    return min(settings.max_context_items, max(RETRIEVAL_FLOOR, lowered))


def _raise_threshold(settings: Controls, conditions: int) -> float:
    """Threshold for a number of conditions; one that is set above the cap is left alone."""
    if not conditions:
        return settings.consolidation_threshold
    raised = round(settings.consolidation_threshold + THRESHOLD_STEP * conditions, 4)
    return max(settings.consolidation_threshold, min(THRESHOLD_CAP, raised))


def _slowness_degree(conditions: Conditions) -> int:
    """How slow the model is: 0 as usual, 1 degraded, 2 severely."""
    # Times that fall fast may end degradation while severity still dwells.
    return 1 + conditions.severe.active if conditions.degraded.active else 0


SESSIONS = 1_000
"""Sessions whose conditions are kept in mind; one that is forgotten starts anew."""
MODELS = 100
"""Models whose pace is kept in mind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTurn:
    """What is known of a turn when it is over."""

    at: float
    """Seconds since the epoch."""
    ms: float
    """How long it took, with its model."""
    answered: bool
    """Whether there was a response."""
    stored: bool
    """Whether the message was written to memory."""
    observation: Observation | None = None
    """How long its model took, without anything of ours; None where that is not known."""
    advisories: tuple[Advisory, ...] = ()
    """What it went without."""


class TurnAllowance(NamedTuple):
    """What a turn may use, and what that changes."""

    regulation: Regulation
    conditions: Conditions
    adaptations: tuple[Adaptation, ...]


@dataclass(slots=True)
class _Model:
    """How slow a model is, and how long its last turns took, all in all."""

    pace: Pace = field(default_factory=Pace)
    recent: deque[Latency] = field(default_factory=lambda: deque[Latency](maxlen=KEPT))


@dataclass(slots=True)
class _Session:
    """How a session stands."""

    conditions: Conditions = field(default_factory=Conditions)
    occupied: int | None = None
    waiting: int = 0
    """Things said that would be in long-term memory by now, were its threshold as usual."""
    moved: dict[Lever, Adaptation] = field(default_factory=dict[Lever, Adaptation])
    """The last change of each lever, where it stands on record."""


@dataclass(slots=True)
class _Tally:
    """What happened since the last snapshot."""

    stored: int = 0
    ages: list[float] = field(default_factory=list[float])
    saved: dict[tuple[Reason, Lever], Saved] = field(default_factory=dict[tuple[Reason, Lever], Saved])

    def note_advisory(self, advisory: Advisory) -> None:
        """Count what a turn went without."""
        key = advisory.reason, advisory.lever
        self.saved[key] = self.saved.get(key, Saved()) + advisory.saved

    @property
    def advisories(self) -> tuple[Advisory, ...]:
        """All that turns went without, by reason and lever."""
        return tuple(Advisory(reason=reason, lever=lever, saved=saved) for (reason, lever), saved in self.saved.items())


class Regulator:
    """Monitors the turns of a service and regulates the next.

    Args:
        settings: what a turn may use before conditions change it.
        interval: user turns between snapshots, to begin with (`metacog_turn_interval`).
        size: snapshots kept in mind (`metacog_snapshot_history_size`).

    Attributes:
        ring: the last snapshots and adaptations; a new value whenever one is added.
        turns: user turns of the service so far, those before a restart included.
    """

    def __init__(
        self,
        settings: Controls | None = None,
        *,
        interval: int = INTERVAL,
        size: int = SIZE,
    ) -> None:
        self.settings = settings or Controls()
        self.ring = Ring(size=size, schedule=Schedule.start_schedule(interval))
        self.turns = 0
        self._sessions = LatestEntries[Hashable, _Session](SESSIONS)
        self._models = LatestEntries[str, _Model](MODELS)
        self._tally = _Tally()
        self._restored = False

    def knows_session(self, session: Hashable) -> bool:
        """Whether the session has had a turn that is still in mind."""
        return session in self._sessions

    def resume_session(self, session: Hashable, saliences: Sequence[float]) -> None:
        """Take in what the working memory of a session holds."""
        self._find_session(session).occupied = count_occupied(saliences, self.settings.consolidation_threshold)

    def begin_turn(self, session: Hashable, model: str, at: float) -> TurnAllowance:
        """What a turn of a session may use now, with the changes since its turn before on record."""
        if self._restored:
            self._restored = False
            self.ring = self.ring.with_adaptations(record_return(self.settings, self.ring.adaptations, at))
        here = self._find_session(session)
        before = here.conditions
        here.conditions = self._read_conditions(here, model, at)
        made: tuple[Adaptation, ...] = ()
        if here.conditions != before:
            made = record_changes(self.settings, before, here.conditions, at, self._read_figures(here, model, at))
            self.ring = self.ring.with_adaptations(made)
            here.moved |= {change.lever: change for change in made}
        return TurnAllowance(regulate_controls(self.settings, here.conditions), here.conditions, made)

    def note_consolidation(
        self, session: Hashable, stored: int, ages: Sequence[float], saliences: Sequence[float], threshold: float
    ) -> int:
        """Take in what became of working memory at the end of a turn.

        Args:
            threshold: salience that long-term memory asked for in this turn.

        Returns:
            How many more things than before wait because the threshold is raised.
        """
        self._tally.stored += stored
        self._tally.ages.extend(ages)
        self.resume_session(session, saliences)
        here, usual = self._find_session(session), self.settings.consolidation_threshold
        before, here.waiting = here.waiting, sum(usual <= salience < threshold for salience in saliences)
        return max(0, here.waiting - before)

    def end_turn(self, session: Hashable, model: str, turn: EndedTurn) -> Snapshot | None:
        """Take in what became of a turn; returns the snapshot where one is due."""
        self.turns += 1
        self._note_pace(model, turn)
        self._note_saved(self._find_session(session), turn.advisories)
        if not self.ring.schedule.is_due(self.turns):
            return None
        here = self._find_session(session)
        now = self._read_conditions(here, model, turn.at)
        snapshot = self._make_snapshot(here, now, model, turn)
        self.ring = self.ring.with_snapshot(snapshot, now.reasons)
        self._tally = _Tally()
        return snapshot

    def measure_performance(self, model: str, at: float, degraded: bool | None = None) -> Performance:
        """How fast a model's turns are now.

        Args:
            degraded: as the session's condition says; by default whether a session that begins now would be.
        """
        known = self._models.get(model, _Model())
        p95, slowdown = recent_p95(known.recent, at), known.pace.measure_slowdown(at)
        slow = slowdown is not None and slowdown >= DEGRADED_BAND.enter
        return Performance(latency_p95_ms=p95, slowdown=slowdown, degraded=slow if degraded is None else degraded)

    def _read_figures(self, here: _Session, model: str, at: float) -> Figures:
        """The figures in view of which the conditions of a session change."""
        return read_figures(self.measure_performance(model, at), self._measure_utilization(here))

    def dump_state(self) -> dict[str, Any]:
        """What is to survive a restart, as plain JSON."""
        usual = {name: write_pace(model.pace) for name, model in self._models.items()}
        ring = self.ring.model_dump(mode="json")
        return {"ring": ring, "turns": self.turns, "usual": usual}

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that was written; what cannot be read of it is left out."""
        if not is_object(ring := state.get("ring")):
            return
        self.ring, self._restored = restore_ring(ring, self.ring.size), True
        known, last = state.get("turns"), self.ring.last
        self.turns = max(self.turns, known if isinstance(known, int) else 0, last.turn_counter if last else 0)
        usual = state.get("usual")
        for name, values in usual.items() if is_object(usual) else ():
            if is_object(values):
                self._find_model(str(name)).pace = read_pace(values)

    def _read_conditions(self, here: _Session, model: str, at: float) -> Conditions:
        """How a session stands by the figures of now; its next turn is regulated by those of then."""
        slowdown = self._models.get(model, _Model()).pace.measure_slowdown(at)
        return here.conditions.observe_turn(at, slowdown, self._measure_utilization(here))

    def _measure_utilization(self, here: _Session) -> float | None:
        return measure_utilization(here.occupied, self.settings.stm_capacity)

    def _make_snapshot(self, here: _Session, now: Conditions, model: str, turn: EndedTurn) -> Snapshot:
        tally = self._tally
        return Snapshot(
            ts=turn.at,
            turn_counter=self.turns,
            performance=self.measure_performance(model, turn.at, now.degraded.active),
            recent_consolidation_selectivity=len(tally.ages) / tally.stored if tally.stored else None,
            promotion_age_p95_seconds=percentile_95(age for age in tally.ages if age >= 0),
            stm_utilization=self._measure_utilization(here),
            stm_capacity=self.settings.stm_capacity or None,
            last_user_turn_status="stored" if turn.stored else "skipped",
            advisories=tally.advisories or None,
        )

    def _note_pace(self, model: str, turn: EndedTurn) -> None:
        """A turn without a response says nothing of its model's pace: one that fails is not fast, and not slow."""
        known = self._find_model(model)
        if turn.answered:
            known.recent.append(Latency(turn.at, turn.ms))
            known.pace = known.pace.observe_answer(turn.observation) if turn.observation else known.pace

    def _note_saved(self, here: _Session, advisories: Sequence[Advisory]) -> None:
        for advisory in advisories:
            self._tally.note_advisory(advisory)
            if (made := here.moved.get(advisory.lever)) is not None:
                self.ring = self.ring.with_saved(made, advisory.saved)
                here.moved[advisory.lever] = made.with_saved(advisory.saved)

    def _find_session(self, key: Hashable) -> _Session:
        self._sessions[key] = session = self._sessions.get(key) or _Session()
        return session

    def _find_model(self, name: str) -> _Model:
        self._models[name] = model = self._models.get(name) or _Model()
        return model
