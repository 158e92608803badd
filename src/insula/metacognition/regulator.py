"""The control loop of the session: figures of turns go in, what the next turn may use comes out (S1–S11).

It holds values and does no I/O. Conditions belong to a session, latencies to a model, snapshots to the service.
"""

from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from insula.session.adaptation import Adaptation, Figures
from insula.session.conditions import Conditions
from insula.session.control import Regulation, changes, regulated, returned
from insula.session.latency import BASELINE_TURNS, KEPT, Latency, load, recent_p95, slo
from insula.session.ring import SIZE, Ring, restored
from insula.session.schedule import INTERVAL, Schedule
from insula.session.snapshot import Counts, Performance, Snapshot, occupied, take, utilization
from insula.types import Controls
from insula.value import is_list, is_object

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

SESSIONS = 10_000
"""Sessions whose conditions are kept in mind; one that is forgotten starts anew."""
MODELS = 100
"""Models whose latencies are kept in mind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What is known of a turn when it is over."""

    at: float
    """Seconds since the epoch."""
    ms: float
    """How long it took, with its model."""
    answered: bool
    """Whether there was a response."""
    stored: bool
    """Whether the message was written to memory."""


class Begun(NamedTuple):
    """What a turn may use, and what that changes."""

    regulation: Regulation
    conditions: Conditions
    adaptations: tuple[Adaptation, ...]


@dataclass(slots=True)
class _Model:
    """How slow a model is: its first turns say what is normal for it, its last ones how it is now."""

    first: list[float] = field(default_factory=list[float])
    recent: deque[Latency] = field(default_factory=lambda: deque[Latency](maxlen=KEPT))


@dataclass(slots=True)
class _Session:
    """How a session stands."""

    conditions: Conditions = field(default_factory=Conditions)
    occupied: int | None = None


@dataclass(slots=True)
class _Tally:
    """What happened since the last snapshot."""

    stored: int = 0
    ages: list[float] = field(default_factory=list[float])


class Regulator:
    """Monitors the turns of a service and regulates the next.

    Args:
        settings: what a turn may use before conditions change it.
        interval: user turns between snapshots, to begin with (`metacog_turn_interval`).
        size: snapshots kept in mind (`metacog_snapshot_history_size`).
        slo_ms: the latency above which a model counts as degraded; by default three times its own median.

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
        slo_ms: float | None = None,
    ) -> None:
        self.settings = settings or Controls()
        self.ring = Ring(size=size, schedule=Schedule.starting(interval))
        self.turns = 0
        self._slo_ms = slo_ms
        self._sessions: OrderedDict[Hashable, _Session] = OrderedDict()
        self._models: OrderedDict[str, _Model] = OrderedDict()
        self._tally = _Tally()
        self._restored = False

    def knows(self, session: Hashable) -> bool:
        """Whether the session has had a turn that is still in mind."""
        return session in self._sessions

    def resume(self, session: Hashable, saliences: Sequence[float]) -> None:
        """Take in what the working memory of a session holds."""
        self._session(session).occupied = occupied(saliences, self.settings.consolidation_threshold)

    def begin(self, session: Hashable, model: str, at: float) -> Begun:
        """What a turn of a session may use now, with the changes since its turn before on record."""
        if self._restored:
            self._restored = False
            self.ring = self.ring.noted(returned(self.settings, self.ring.adaptations, at))
        here = self._session(session)
        before = here.conditions
        here.conditions = self._conditions(here, model, at)
        p95 = self.performance(model, at).latency_p95_ms
        found = Figures(latency_p95_ms=p95, stm_utilization=self._used(here))
        made = changes(self.settings, before, here.conditions, at, found)
        if made:
            self.ring = self.ring.noted(made)
        return Begun(regulated(self.settings, here.conditions), here.conditions, made)

    def consolidated(self, session: Hashable, stored: int, ages: Sequence[float], saliences: Sequence[float]) -> None:
        """Take in what working memory was given, what of it was promoted at which age, and what is left in it."""
        self._tally.stored += stored
        self._tally.ages.extend(ages)
        self.resume(session, saliences)

    def end(self, session: Hashable, model: str, turn: Ended) -> Snapshot | None:
        """Take in what became of a turn; returns the snapshot where one is due."""
        self.turns += 1
        self._note_latency(model, turn)
        if not self.ring.schedule.is_due(self.turns):
            return None
        here = self._session(session)
        now = self._conditions(here, model, turn.at)
        snapshot = self._snapshot(here, now, model, turn)
        self.ring = self.ring.taken(snapshot, now.reasons)
        self._tally = _Tally()
        return snapshot

    def performance(self, model: str, at: float, degraded: bool | None = None) -> Performance:
        """How fast a model's turns are now.

        Args:
            model: its name.
            at: seconds since the epoch.
            degraded: as the session's condition says; by default whether the p95 is above the objective now.
        """
        known = self._models.get(model, _Model())
        p95 = recent_p95(known.recent, at)
        above = (load(p95, self.slo(model)) or 0.0) > 1.0
        return Performance(latency_p95_ms=p95, degraded=above if degraded is None else degraded)

    def slo(self, model: str) -> float | None:
        """Milliseconds above which a model counts as degraded; None while that is not known."""
        return slo(self._models.get(model, _Model()).first, self._slo_ms)

    def state(self) -> dict[str, Any]:
        """What is to survive a restart, as plain JSON."""
        first = {name: model.first for name, model in self._models.items()}
        return {"ring": self.ring.model_dump(mode="json"), "turns": self.turns, "first": first}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that was written; what cannot be read of it is left out."""
        if not is_object(ring := state.get("ring")):
            return
        self.ring, self._restored = restored(ring, self.ring.size), True
        known, last = state.get("turns"), self.ring.last
        self.turns = max(self.turns, known if isinstance(known, int) else 0, last.turn_counter if last else 0)
        first = state.get("first")
        for name, values in first.items() if is_object(first) else ():
            if is_list(values):
                numbers = [float(one) for one in values if isinstance(one, int | float)]
                self._model(str(name)).first = numbers[:BASELINE_TURNS]

    def _conditions(self, here: _Session, model: str, at: float) -> Conditions:
        """How a session stands by the figures of now; its next turn is regulated by those of then."""
        pace = load(recent_p95(self._models.get(model, _Model()).recent, at), self.slo(model))
        return here.conditions.observed(at, pace, self._used(here))

    def _used(self, here: _Session) -> float | None:
        return utilization(here.occupied, self.settings.stm_capacity)

    def _snapshot(self, here: _Session, now: Conditions, model: str, turn: Ended) -> Snapshot:
        counts = Counts(
            stored=self._tally.stored,
            promoted=len(self._tally.ages),
            promotion_ages=tuple(self._tally.ages),
            occupied=here.occupied,
            capacity=self.settings.stm_capacity,
            last_user_turn_status="stored" if turn.stored else "skipped",
        )
        performance = self.performance(model, turn.at, now.degraded.active)
        return take(counts, performance, at=turn.at, turn=self.turns)

    def _note_latency(self, model: str, turn: Ended) -> None:
        """A turn without a response says nothing of what is normal, and of the present only where it was slow."""
        known, objective = self._model(model), self.slo(model)
        if turn.answered and len(known.first) < BASELINE_TURNS:
            known.first.append(turn.ms)
        if turn.answered or (objective is not None and turn.ms > objective):
            known.recent.append(Latency(turn.at, turn.ms))

    def _session(self, key: Hashable) -> _Session:
        return _held(self._sessions, key, _Session, SESSIONS)

    def _model(self, name: str) -> _Model:
        return _held(self._models, name, _Model, MODELS)


def _held(kept: OrderedDict[K, V], key: K, new: type[V], limit: int) -> V:
    """The value under a key, new where there is none; of more than `limit` the one not used for longest goes."""
    found = kept.setdefault(key, new()) if key not in kept else kept[key]
    kept.move_to_end(key)
    if len(kept) > limit:
        kept.popitem(last=False)
    return found
