"""The control loop of the session: figures of turns go in, what the next turn may use comes out (S1–S11).

It holds values and does no I/O. Conditions belong to a session, its pace to a model, snapshots to the service.
"""

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from insula.caches import LatestEntries
from insula.session.adaptation import Adaptation, Figures
from insula.session.conditions import DEGRADED_BAND, Conditions, Reason
from insula.session.control import Regulation, record_changes, record_return, regulate_controls
from insula.session.latency import KEPT, Latency, Observation, Pace, percentile_95, read_pace, recent_p95, write_pace
from insula.session.ring import INTERVAL, SIZE, Ring, Schedule, restore_ring
from insula.session.saved import Advisory, Lever, Saved
from insula.session.snapshot import Performance, Snapshot, count_occupied, measure_utilization
from insula.types import Controls
from insula.value import is_object

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
        now = self.measure_performance(model, at)
        return Figures(
            latency_p95_ms=now.latency_p95_ms, slowdown=now.slowdown, stm_utilization=self._measure_utilization(here)
        )

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
