"""What the turns of an agent share: where it remembers, who it is, what it has learned, and how it stands.

What the public verbs may be given is checked here, too: a wrong type is a mistake in the host's code, and raises at
once.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from socket import gethostname
from typing import Any, NamedTuple, Protocol, TypedDict, TypeVar, cast, get_args

from insula import claims as register
from insula.caches import LatestEntries
from insula.calibration import OWN, apply_own, check_features, load_shipped
from insula.content import is_opaque
from insula.errors import InputError, StoreError
from insula.language.heads import Vector
from insula.language.preferences import Preference
from insula.memory.retrieval.embedding import embed_text, resolve_embedding
from insula.memory.retrieval.query import Cue
from insula.memory.storage import statements, vitals
from insula.memory.storage.beginning import Beginning, read_beginning
from insula.memory.storage.lessons import Version
from insula.memory.storage.postgres import is_server
from insula.memory.storage.rows import Place, StoredGuidance, Voices
from insula.memory.storage.store import CLOSED, Recollection, Store
from insula.memory.storage.vectors import Embed
from insula.metacognition.reading import Backlog
from insula.night.prompts import ASKED
from insula.night.soul import document as soul
from insula.night.view import Guidelines, read_guidelines
from insula.session.regulator import Regulator
from insula.session.snapshot import Snapshot
from insula.telemetry import Telemetry
from insula.turn import confidence, feedback, forgetting, guidance, monitor
from insula.types import Assessment, Calibration, Confidence, Controls, Identity, Signal, Usage, Voice

LARGEST = 2**63 - 1
"""The largest id that the databases can hold."""


def check_message(message: object) -> None:
    """Whether something can be a message at all: not where it says nothing of itself, or is a number, a truth value, a
    function or a set.

    Raises:
        InputError: it cannot.
    """
    if is_opaque(message) or isinstance(message, int | float | set | frozenset) or callable(message):
        shown = str(cast(object, message))[:40]
        raise InputError(f"The message {shown} is no text; give a text, content parts, or a message of a library.")


def check_number(**numbers: object) -> None:
    """Whether some numbers can be those of a memory.

    Raises:
        InputError: one of them is none.
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= LARGEST:
            raise InputError(f"{name}={number!r} is no number of a memory; give its `id`, a whole number.")


def resolve_path(path: object) -> str:
    """What names a file, or a database on a server, with the user's home in the place of `~`.

    Raises:
        InputError: it names neither.
    """
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InputError(f"{path!r} names no file; give a path, such as 'insula.db'.")
    named = str(path)
    if is_server(named):
        return named
    if "://" in named:
        scheme = named.partition("://")[0]
        raise InputError(f"A URL of {scheme!r} names no file; give a path, such as 'insula.db', or postgresql://….")
    try:
        file = Path(named).expanduser()
    except RuntimeError as error:
        raise InputError(f"{named!r} lies in the home of nobody known here; give the whole path.") from error
    if file.is_dir():
        raise InputError(f"{str(file)!r} is a folder; give a file in it, such as {str(file / 'insula.db')!r}.")
    return str(file)


def is_usage(value: object) -> bool:
    """Whether something is a `Usage` whose figures are amounts."""
    if not isinstance(value, Usage):
        return False
    counts: list[object] = [value.calls, value.input_tokens, value.output_tokens]
    figures = [*counts, value.seconds, value.seconds_to_first_token or 0.0]
    return all(map(_is_amount, figures)) and not any(isinstance(count, float) for count in counts)


def check_model(model: object) -> None:
    """Whether something may be a model, which a name is not.

    Raises:
        InputError: it is a name, or nothing that answers.
    """
    if model is None or isinstance(model, str | int | float):
        shown = str(model)[:40]
        raise InputError(
            f"{shown!r} is no model; give one of Pydantic AI's: insula.llm.models.resolve_model makes it of a name."
        )


def check_options(*wanted: tuple[str, object, type[Any] | Callable[[object], bool], str]) -> None:
    """Whether some options are what they must be, where they are given.

    Args:
        wanted: of each its name, its value, the type or the test that it must pass, and what to give.

    Raises:
        InputError: one of them is not.
    """
    for name, value, fits, remedy in wanted:
        passes = value is None or (isinstance(value, fits) if isinstance(fits, type) else fits(value))
        if not passes:
            raise InputError(f"{name}={str(value)[:40]!r} cannot be used; give {remedy}.")


def check_identity(identity: Identity) -> None:
    """Whether an identity can be held to.

    Raises:
        InputError: a field of it cannot.
    """
    check_options(
        ("identity.name", identity.name, str, "a text"),
        ("identity.about", identity.about, str, "a text"),
        ("identity.voice", identity.voice, _is_voice, f"one of {', '.join(get_args(Voice))}"),
        ("identity.languages", identity.languages, _are_ids, "a tuple of codes such as 'en'"),
        ("identity.forbidden", identity.forbidden, _are_patterns, "a tuple of regular expressions"),
        ("identity.guidance", identity.guidance, _are_texts, "a mapping from topics to texts"),
    )


def check_controls(controls: Controls) -> None:
    """Whether a turn can be held to controls.

    Raises:
        InputError: a field of them is out of its range.
    """
    check_options(
        ("controls.max_context_items", controls.max_context_items, _is_positive, "a whole number from 1"),
        ("controls.consolidation_threshold", controls.consolidation_threshold, _is_share, "a number from 0 to 1"),
        ("controls.stm_capacity", controls.stm_capacity, _is_positive, "a whole number from 1"),
        ("controls.retry", controls.retry, _is_once, "0 or 1"),
        ("controls.history_share", controls.history_share, _is_share, "a number from 0 to 1"),
    )


def check_open(store: Any) -> None:
    """Whether a store is one, and open.

    Raises:
        InputError: it is none.
        StoreError: it is closed.
    """
    if not hasattr(store, "closed"):
        raise InputError(
            f"{store!r} is no store; write `await Metacognition.open(path)`, or `Metacognition.sync(path)`."
        )
    if store.closed:
        raise StoreError(CLOSED)


log = logging.getLogger(__name__)

V = TypeVar("V")

Assess = Callable[[str, str, Sequence[str], Identity], Assessment]
"""Judges a response: the message, the response, earlier responses of the session, who the agent is."""


class Estimate(Protocol):
    """How likely memory holds what a message needs."""

    def __call__(
        self,
        cue: Cue,
        found: Recollection,
        *,
        context: frozenset[str],
        identity: Identity,
        calibration: Calibration,
    ) -> Confidence:
        """The confidence for what a message asks of memory (`cue`) and what recall brought for it (`found`)."""
        ...


Subscriber = Callable[[Signal], object]

INSIGHTS = 100
"""Insights that a turn may be told of, the latest."""
SOUL = "soul"
"""Subject of the revisions of SOUL.md."""
SERVICE = "insula"
"""The name under which a service instance writes down how it stands, with its machine where several share a store."""
STALE_SECONDS = 60.0
"""For so long is trusted what is remembered of who talks where others may add to it."""
ASKED_FOR_NOW = 6
"""Requests of a session that are kept to until it ends, the latest."""
_JUDGED = 5
"""Turns of a session that are looked back on for its last judgement."""
_REMEMBERED = 1_000
"""Of how many users, or sessions, each of these is kept in mind, the latest: others are read again."""
_REMEMBERED_JUDGED = 250
"""Sessions whose last judgement is kept in mind: it has all terms of a message."""


class LearnedGuidance(NamedTuple):
    """What nights have learned of a user, as a turn needs it."""

    version: Version
    advice: tuple[guidance.ActiveLesson, ...]
    wishes: tuple[guidance.ActivePreference, ...]
    insights: tuple[guidance.ActiveInsight, ...]
    guidelines: Guidelines
    calibration: Calibration


class EngineOptions(TypedDict, total=False):
    """What `Metacognition` is made with beside its store; see there."""

    identity: Identity | None
    controls: Controls | None
    calibration: Calibration | None
    estimate: Estimate
    assess: Assess
    embed: Embed | None
    telemetry: Telemetry | None
    holdout: float
    regulator: Regulator | None
    claims: Iterable[str]
    soul: Callable[[str], Path | None]


class Engine:
    """The state behind `Metacognition`; see there for the arguments."""

    def __init__(  # noqa: PLR0913 one keyword for each thing that a host may replace
        self,
        store: Store,
        *,
        identity: Identity | None = None,
        controls: Controls | None = None,
        calibration: Calibration | None = None,
        estimate: Estimate = confidence.estimate_confidence,
        assess: Assess = monitor.assess,
        embed: Embed | None = embed_text,
        telemetry: Telemetry | None = None,
        holdout: float = 0.1,
        regulator: Regulator | None = None,
        claims: Iterable[str] = (),
        soul: Callable[[str], Path | None] = lambda _: None,
    ) -> None:
        check_options(
            ("identity", identity, Identity, "an Identity"),
            ("controls", controls, Controls, "Controls"),
            ("calibration", calibration, Calibration, "a Calibration"),
            ("telemetry", telemetry, Telemetry, "Telemetry"),
            ("regulator", regulator, Regulator, "a Regulator"),
            ("estimate", estimate, callable, "a function"),
            ("assess", assess, callable, "a function"),
            ("embed", embed, callable, "a function, or None"),
            ("soul", soul, callable, "a function from a user to a path"),
            ("claims", claims, _are_ids, "a list of ids"),
            ("holdout", holdout, _is_share, "a share from 0 to 1"),
        )
        self.store = store
        self.identity = identity or Identity()
        check_identity(self.identity)
        self.regulator = regulator or Regulator(controls)
        check_controls(self.regulator.settings)
        self.calibration = check_features(calibration) if calibration else load_shipped()
        self.estimate = estimate
        self.assess = assess
        self.embed = resolve_embedding(embed)
        self.backlog = Backlog(store)
        self.telemetry = telemetry or Telemetry()
        self.holdout = holdout
        self.claims = register.switch_claims(claims)
        self.soul = soul
        self.offers = LatestEntries[tuple[str, str], forgetting.ErasureOffer](_REMEMBERED)
        """Of each session, what a yes erases, if it comes next."""
        self._for_now = LatestEntries[tuple[str, str], tuple[Preference, ...]](_REMEMBERED)
        self._applied = LatestEntries[tuple[str, str], tuple[str, ...]](_REMEMBERED)
        """Of each session the guidelines that its latest message was told."""
        self.service = f"{SERVICE}@{gethostname()}" if store.is_shared else SERVICE
        """Its own name: two that share a store never write over each other."""
        self._restored = False
        self._written = 0
        self._forgot = store.now()
        self._subscribers: list[Subscriber] = []
        self._judged = LatestEntries[tuple[str, str], feedback.JudgedTurn | None](_REMEMBERED_JUDGED)
        self._voices = LatestEntries[int, Voices](_REMEMBERED)
        self._learned = LatestEntries[int, LearnedGuidance](_REMEMBERED)

    @property
    def controls(self) -> Controls:
        """What a turn may use before conditions change it."""
        return self.regulator.settings

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every signal as it is written; returns the function that ends it (K8)."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def asked_for_now(self, session: tuple[str, str], said: Sequence[Preference]) -> tuple[Preference, ...]:
        """What a session has asked of its answers for now, and what its newest message says of them; a preference for
        good ends the former.
        """
        is_settled = any(preference.force == "standing" for preference in said)
        before = () if is_settled else self._for_now.get(session, ())
        asked = tuple(preference for preference in said if preference.for_session)
        _keep_some(self._for_now, session, (*before, *asked)[-ASKED_FOR_NOW:])
        return (*before, *said)

    async def restore_state(self) -> None:
        """Go on from the snapshots and intervals of before a restart; done once, at the first turn if not sooner."""
        if not self._restored:
            state = await self.store.run(vitals.read_state, self.service)
            if not self._restored:  # a turn beside this one may have been faster
                self._restored = True
                self.regulator.restore_state(state)
                self._written = self.regulator.turns

    async def write_down(self, snapshot: Snapshot | None = None) -> None:
        """Write how the service stands where that is new, and a snapshot where one was taken (S8, S11)."""
        if snapshot is None and self.regulator.turns == self._written:
            return
        self._written = self.regulator.turns
        taken = None if snapshot is None else snapshot.model_dump(mode="json")
        await self.store.run(vitals.write_state, self.service, self.regulator.dump_state(), taken, self.store.now())

    async def resume_session(self, place: Place, lines: int = 0) -> Beginning:
        """Read how a session stands as a turn begins; what others asserted is remembered for it.

        Args:
            lines: how many of its last lines are read along.
        """
        await self.restore_state()
        key = place.user, place.session
        if self.store.is_shared:
            self._forget_session(key)
        is_new, is_unknown = key not in self._judged, self.store.is_shared or not self.regulator.knows_session(key)
        capacity = self.controls.stm_capacity if is_unknown else 0
        stands = await self.store.read(read_beginning, place, _JUDGED if is_new else 0, capacity, lines)
        if stands.has_left_behind:
            await self.store.run(statements.promote_elsewhere, place, self.store.now())
        if is_new:
            judged = (feedback.read_judged(turn.data) for turn in stands.turns)
            self._judged[key] = next((judged_turn for judged_turn in judged if judged_turn is not None), None)
        if is_unknown:
            self.regulator.resume_session(key, stands.saliences)
        return stands

    def _forget_session(self, session: tuple[str, str]) -> None:
        """Let go of what another server may know better by now."""
        self._judged.pop(session, None)
        if abs((now := self.store.now()) - self._forgot) > STALE_SECONDS:
            self._voices.clear()
            self._forgot = now

    def last_judged(self, key: tuple[str, str]) -> feedback.JudgedTurn | None:
        """What is kept of the last turn of a session that was answered."""
        return self._judged.get(key)

    def record_judged(self, key: tuple[str, str], current: feedback.JudgedTurn) -> str | None:
        """The reason for an impasse in a session, if there is one now."""
        reason = feedback.find_impasse(self._judged.get(key), current)
        self._judged[key] = current
        return reason

    async def read_voices(self, place: Place) -> Voices:
        """Who talks in a user's memory and in which languages, read once and kept in step."""
        if (known := self._voices.get(place.user_id)) is None:
            known = await self.store.read(statements.read_voices, place.user_id)
        self._voices[place.user_id] = known
        return known

    def note_voice(self, place: Place, language: str, speaker: str) -> None:
        """Note that somebody wrote in a language."""
        if (known := self._voices.get(place.user_id)) is not None:
            self._voices[place.user_id] = Voices(known.languages | {language}, known.speakers | {speaker})

    async def read_learned(self, place: Place, version: Version | None = None) -> LearnedGuidance:
        """What nights have learned of a user; read anew after a night, or after a person's word on it.

        Args:
            version: of what was learned, where it was read just now.
        """
        if version is None:
            version = await self.store.guidance.lessons_version(place.user_id)
        known = self._learned.get(place.user_id)
        if known is None or known.version != version:
            kept = await self.store.guidance.list_lessons(place.user_id)
            latest = await self.store.guidance.list_revisions(place.user_id, SOUL, 1)
            own = await self.store.guidance.list_revisions(place.user_id, OWN, 1)
            standing = guidance.active_preferences(kept)
            known = LearnedGuidance(
                version,
                guidance.find_lessons(kept, self.store.now()),
                standing,
                guidance.find_insights(await self.store.nights.list_insights(place.user_id, INSIGHTS), ASKED),
                await asyncio.to_thread(self._read_guidelines, latest[0].content if latest else "", kept, standing),
                apply_own(self.calibration, own[0].content) if own else self.calibration,
            )
        self._learned[place.user_id] = known
        return known

    def _read_guidelines(
        self, text: str, kept: Sequence[StoredGuidance], standing: Sequence[guidance.ActivePreference]
    ) -> Guidelines:
        parts = {preference.part for preference in standing if not preference.trigger}
        return read_guidelines(soul.parse_document(text), kept, parts, self.embed)

    def choose_guidelines(self, session: tuple[str, str], known: Guidelines, message: Collection[Vector]) -> str:
        """What of SOUL.md a message is told."""
        applying = known.choose_applying(message, self._applied.get(session, ()))
        _keep_some(self._applied, session, applying)
        return known.render_applying(applying)

    def publish_signals(self, signals: Sequence[Signal]) -> None:
        """Count signals and hand them to the subscribers; a subscriber that fails is counted and skipped."""
        for signal in signals:
            self.telemetry.signals.labels(signal.kind).inc()
            for subscriber in tuple(self._subscribers):
                try:
                    subscriber(signal)
                except Exception:
                    self.telemetry.failures.labels("subscriber").inc()
                    log.exception("A subscriber failed on %s.", signal.kind)


def _are_ids(value: object) -> bool:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    return all(isinstance(number, str) for number in cast(Iterable[object], value))


def _are_patterns(value: object) -> bool:
    if not isinstance(value, tuple) or not _are_ids(cast(object, value)):
        return False
    try:
        return all(re.compile(pattern) for pattern in cast(tuple[str, ...], value))
    except re.error:
        return False


def _are_texts(value: object) -> bool:
    return isinstance(value, Mapping) and _are_ids(cast(object, [*value.keys(), *value.values()]))


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _is_voice(value: object) -> bool:
    return value in get_args(Voice)


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_once(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in {0, 1}


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _keep_some(kept: LatestEntries[tuple[str, str], V], session: tuple[str, str], value: V) -> None:
    """Keep a value of a session in place of the one before; one that is empty is not kept."""
    if value:
        kept[session] = value
    else:
        kept.pop(session, None)
