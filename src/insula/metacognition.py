"""The one object a host holds: memory, identity, recall and the loops that watch and steer them (K9).

```python
async with await Metacognition.open("insula.db") as metacognition:
    async with metacognition.turn("ana", "monday", "Where do I live?") as turn:
        answer = await my_agent(turn.message, system=turn.instructions)
        answer = turn.finish(answer).response
```
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeVar

from insula.errors import InputError, InsulaError
from insula.memory.cue import Cue, cue
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.item import REMEMBERED_CHARS, NewItem, new_item
from insula.memory.lessons import Version
from insula.memory.store import Place, Recollection, Said, Store
from insula.memory.vectors import Embed, Vector
from insula.redaction import redact, without_markers
from insula.screening import screen
from insula.sleep import soul
from insula.sleep.told import prompt_text
from insula.telemetry import Telemetry
from insula.text.analysis import LANGUAGES, UNKNOWN, Analysis, analyse, clean, detect
from insula.text.questions import Ask, asks
from insula.turn import confidence, impasse, lessons, monitor
from insula.turn.hedging import hedge
from insula.turn.instructions import compose
from insula.types import (
    HEDGE_THRESHOLD,
    Assessment,
    Calibration,
    Confidence,
    Controls,
    Identity,
    Provenance,
    Recalled,
    Signal,
    Usage,
)

log = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")

Assess = Callable[[str, str, Sequence[str], Identity], Assessment]
Subscriber = Callable[[Signal], object]

HISTORY_LINES = 24
"""Lines of the session that a turn looks back on."""
RECENT_RESPONSES = 5
"""Responses of the session that a new one is compared with (DESIGN K1)."""
USED_TERMS = 2
"""Terms that a memory must share with what drew on it to count as used."""
SPEAKER_CHARS = 40
TOPIC_TERMS = 40
"""Terms of a message that stand on the ledger as its topic."""
TURN, CONFIDENCE_LOW, IMPASSE = "meta:turn", "meta:confidence-low", "meta:impasse"
SOUL = "soul"
"""Subject of the revisions of SOUL.md."""
_REMEMBERED_USERS = 10_000


def warm_up() -> None:
    """Load and compile now what the first turn would otherwise wait for: half a second, once per process."""
    text = "Where does Ana live, and since when?"
    assessment = monitor.assess(text, "Ana has lived in Lisbon since May.")
    hedge("Ana lives in Lisbon.", assessment, Identity())
    screen(redact(text), len(text))
    confidence.shipped()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What became of a response."""

    response: str
    """The text for the user: hedged where it should be, else as it was given."""
    assessment: Assessment | None
    """None where the assessment itself failed (counted, and the response left as it was)."""
    hedged: bool
    signals: tuple[Signal, ...]


class Metacognition:
    """Monitors and controls an agent that somebody else runs.

    Args:
        store: where everything is kept.
        identity: who the agent is.
        controls: what a turn may use before conditions change it.
        calibration: coefficients of confidence; by default the shipped ones.
        assess: the self-monitor; another function of the same form may replace it (K10).
        embed: makes an embedding of a text, which then counts in the score of what is proposed; none is needed.
        telemetry: where counts go.
        holdout: share of sessions from which a learned lesson is withheld, to see whether it helps (P4).
    """

    def __init__(
        self,
        store: Store,
        *,
        identity: Identity | None = None,
        controls: Controls | None = None,
        calibration: Calibration | None = None,
        assess: Assess = monitor.assess,
        embed: Embed | None = None,
        telemetry: Telemetry | None = None,
        holdout: float = 0.1,
    ) -> None:
        self.embed = embed
        self.holdout = holdout
        self.store = store
        self.identity = identity or Identity()
        self.controls = controls or Controls()
        self.calibration = calibration or confidence.shipped()
        self.assess = assess
        self.telemetry = telemetry or Telemetry()
        self._subscribers: list[Subscriber] = []
        self._judged: OrderedDict[tuple[str, str], impasse.Judged | None] = OrderedDict()
        self._languages: OrderedDict[int, frozenset[str]] = OrderedDict()
        self._learned: OrderedDict[int, tuple[Version, tuple[lessons.Advice, ...], str]] = OrderedDict()

    @classmethod
    async def open(
        cls, path: str | Path, *, identity: Identity | None = None, controls: Controls | None = None
    ) -> Self:
        """Open the store at `path` (":memory:" for one that is forgotten) and hold it.

        Raises:
            StoreError: the store cannot be used; the message says why and what to do.
        """
        return cls(await Store.open(path), identity=identity, controls=controls)

    async def close(self) -> None:
        """Let go of the store."""
        await self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def turn(self, user: str, session: str, message: str) -> "Turn":
        """One exchange, to be entered with `async with`; see `Turn`."""
        return Turn(self, user, session, message)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every signal as it is written; returns the function that ends it (K8)."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    async def observe(
        self,
        user: str,
        session: str,
        text: str,
        *,
        speaker: str = USER,
        listener: str = ASSISTANT,
        provenance: Provenance = "user",
        at: datetime | None = None,
    ) -> int:
        """Remember something that was said without answering it; returns the id of the memory.

        Args:
            user: whose memory it is.
            session: the conversation it belongs to.
            text: what was said.
            speaker: who said it; a name where more than one person talks.
            listener: who was spoken to.
            provenance: `user`, `assistant` or `tool`.
            at: when; now by default.

        Raises:
            InputError: the speaker is no name.
            StoreError: the store cannot be used.
        """
        named = screen(speaker, SPEAKER_CHARS)
        heard = screen(listener, SPEAKER_CHARS)
        if named.reasons or heard.reasons or not named.text or not heard.text:
            raise InputError(f"The speaker {named.text!r} or the listener {heard.text!r} cannot be used; give a name.")
        if provenance == "derived":
            raise InputError("What was derived is no observation; give the provenance user, assistant or tool.")
        speaker, listener = named.text, heard.text
        place = await self.store.place(user, session)
        content = redact(clean(text))
        analysis = _analysed(content)
        encoding = encode(analysis, speaker, listener)
        vector = self.embed(analysis.text) if self.embed else None
        found = await self.store.recall(place, cue(analysis, speaker, listener), 1, lines=1)
        replies_to = asks(analyse(found.said[-1].content[:REMEMBERED_CHARS])) if found.said else ()
        item = new_item(analysis, encoding, provenance, speaker, found.recalled, replies_to)
        item = item._replace(content=content, vector=vector)
        stamp = at.timestamp() if at else None
        _, memory = await self.store.say(place, item, at=stamp)
        await self.store.consolidate(place, self.controls)
        self.saw(place, analysis.language)
        return memory

    async def languages(self, place: Place) -> frozenset[str]:
        """The languages a user has written in, read once and kept in step."""
        if (known := self._languages.get(place.user_id)) is None:
            known = await self.store.languages(place)
        return _kept(self._languages, place.user_id, known)

    def saw(self, place: Place, language: str) -> None:
        """Note that a user wrote in a language."""
        if place.user_id in self._languages:
            _kept(self._languages, place.user_id, self._languages[place.user_id] | {language})

    async def learned(self, place: Place) -> tuple[tuple[lessons.Advice, ...], str]:
        """What a user's lessons advise, and their guidelines; read anew after a night or a person's word on either."""
        version = await self.store.lessons_version(place.user_id)
        known = self._learned.get(place.user_id)
        if known is None or known[0] != version:
            advice = lessons.advised(await self.store.lessons(place.user_id), self.store.now())
            latest = await self.store.revisions(place.user_id, SOUL, 1)
            known = version, advice, prompt_text(soul.parse(latest[0].content)) if latest else ""
        return _kept(self._learned, place.user_id, known)[1:]

    def notice(self, signals: Sequence[Signal]) -> None:
        """Count signals and hand them to the subscribers; a subscriber that fails is counted and skipped."""
        for signal in signals:
            self.telemetry.signals.labels(signal.kind).inc()
            for subscriber in tuple(self._subscribers):
                try:
                    subscriber(signal)
                except Exception:
                    self.telemetry.failures.labels("subscriber").inc()
                    log.exception("A subscriber failed on %s.", signal.kind)

    async def resume(self, place: Place) -> None:
        """Read from the ledger how the session stood, if this process has not seen it yet."""
        key = place.user, place.session
        if key not in self._judged:
            turns = await self.store.ledger(place, kinds=[TURN], limit=RECENT_RESPONSES)
            judged = (impasse.from_record(turn.data) for turn in turns)
            _kept(self._judged, key, next((one for one in judged if one is not None), None))

    def judge(self, key: tuple[str, str], current: impasse.Judged) -> str | None:
        """The reason for an impasse in a session, if there is one now."""
        reason = impasse.impasse(self._judged.get(key), current)
        _kept(self._judged, key, current)
        return reason


class Turn:
    """One exchange: what memory holds for it, what the model is told, and what became of the answer.

    Entering recalls, estimates and writes the user's message down; `finish` assesses and hedges the response; leaving
    writes the rest. Nothing here ever raises into the host (law 4): what fails is logged, counted and said in
    `troubles`, and the host's work goes on without it.

    Attributes:
        message: the user's message, as it should reach the model.
        instructions: the text for the system prompt.
        history: the session so far, oldest first, without this message.
        confidence: how likely memory holds what the message needs.
        recalled: what was recalled, best first.
        lessons: those that the message brought up, each with whether it was told or withheld.
        controls: what this turn may use.
        number: the turn's number within its session, from 1; 0 where it could not be written.
        result: what `finish` returned.
        signals: everything noticed in this turn, once it is over.
        promoted: how many items went to long-term memory.
        added: seconds that metacognition took, once the turn is over.
        troubles: sentences on what failed in Insula itself.
    """

    def __init__(self, owner: Metacognition, user: str, session: str, message: str) -> None:
        self._owner = owner
        self.user, self.session = user, session
        self.message = clean(message)
        self.controls = owner.controls
        self.confidence = Confidence(level="low", score=0.0, reasons=("memory could not be read",))
        self.recalled: tuple[Recalled, ...] = ()
        self.lessons: tuple[lessons.Used, ...] = ()
        self.history: tuple[Said, ...] = ()
        self.instructions = compose(owner.identity, self.confidence, ())
        self.number = 0
        self.result: TurnResult | None = None
        self.signals: tuple[Signal, ...] = ()
        self.promoted = 0
        self.added = 0.0
        self.troubles: list[str] = []
        self._guidelines = ""
        self._usage = Usage()
        self._place: Place | None = None
        self._content = ""
        self._analysis: Analysis | None = None
        self._vector: Vector | None = None

    async def __aenter__(self) -> Self:
        with self.kept_from_host("recall"):
            await self._recall()
        with self.kept_from_host("write"):
            await self._write()
        return self

    async def __aexit__(self, *_: object) -> None:
        with self.kept_from_host("exit"):
            await self._leave()
        self._owner.telemetry.added.observe(self.added)
        self._owner.telemetry.turns.labels(self.confidence.level).inc()

    def finish(self, response: str, *, assessment: Assessment | None = None, usage: Usage | None = None) -> TurnResult:
        """Assess a response and return it as it should be shown: hedged, or unchanged.

        Args:
            response: the model's text.
            assessment: a judgement made elsewhere, by a model say, that replaces the self-monitor's (K10).
            usage: what the response cost, for the ledger.
        """
        self._usage = usage or Usage()
        response = clean(response)
        self.result = TurnResult(response=response, assessment=assessment, hedged=False, signals=())
        with self.kept_from_host("finish"):
            self.result = self._finish(response, assessment)
        return self.result

    async def _recall(self) -> None:
        owner = self._owner
        self._content = redact(self.message)
        self._analysis = _analysed(self._content, next(iter(owner.identity.languages), "en"))
        place = self._place = await owner.store.place(self.user, self.session)
        asked = cue(self._analysis, USER, ASSISTANT, await owner.languages(place) - {self._analysis.language})
        with self.kept_from_host("embed"):
            self._vector = owner.embed(self._analysis.text) if owner.embed else None
        limit = self.controls.max_context_items
        await owner.resume(place)
        found = await owner.store.recall(place, asked, limit, lines=HISTORY_LINES, vector=self._vector)
        self.recalled, self.history = found.recalled, found.said
        self._prepare(asked, found, await self._learned(place, self._analysis))

    async def _learned(self, place: Place, asked: Analysis) -> tuple[lessons.Used, ...]:
        """The lessons that the message brings up; none where they cannot be read."""
        with self.kept_from_host("lessons"):
            advice, self._guidelines = await self._owner.learned(place)
            return lessons.drawn(lessons.triggered(advice, asked.terms), place.session_id, self._owner.holdout)
        return ()

    async def _write(self) -> None:
        """Write the message down before the model is asked, so that nothing that follows can lose it."""
        if self._analysis is None or self._place is None:
            return
        encoding = encode(self._analysis, USER, ASSISTANT)
        item = new_item(self._analysis, encoding, "user", USER, self.recalled, self._questions_before())
        self.number, _ = await self._owner.store.say(
            self._place, item._replace(content=self._content, vector=self._vector)
        )
        self._owner.saw(self._place, self._analysis.language)

    def _prepare(self, asked: Cue, found: Recollection, learned: tuple[lessons.Used, ...]) -> None:
        identity = self._owner.identity
        self.confidence = confidence.estimate(
            asked,
            found,
            context=_terms_of(self.history),
            identity=identity,
            calibration=self._owner.calibration,
        )
        guidance = [identity.guidance[topic] for topic in confidence.topics(asked, identity)]
        told = lessons.told(learned)
        self.instructions = compose(
            identity, self.confidence, self.recalled, guidelines=self._guidelines, guidance=guidance, lessons=told
        )
        self.lessons = learned

    def _questions_before(self) -> tuple[Ask, ...]:
        if not self.history or self.history[-1].provenance != "assistant":
            return ()
        return asks(analyse(self.history[-1].content[:REMEMBERED_CHARS]))

    def _finish(self, response: str, assessment: Assessment | None) -> TurnResult:
        owner = self._owner
        recent = [said.content for said in self.history if said.provenance == "assistant"][-RECENT_RESPONSES:]
        judged = assessment or owner.assess(self.message, response, recent, owner.identity)
        text = hedge(response, judged, owner.identity, self._spoken(response))
        for flag in judged.flags:
            owner.telemetry.flags.labels(flag).inc()
        signals = tuple(self._signals(judged, text != response))
        return TurnResult(response=text, assessment=judged, hedged=text != response, signals=signals)

    def _spoken(self, response: str) -> str:
        """The response's language; the message's where it is too short to tell, or none that can be hedged in."""
        asked = self._analysis.language if self._analysis else UNKNOWN
        spoken = detect(response, asked)
        return spoken if spoken in LANGUAGES else asked

    def _signals(self, judged: Assessment, hedged: bool) -> Iterator[Signal]:
        topic = frozenset(self._analysis.terms if self._analysis else ())
        yield self._signal(TURN, "the turn is over", self._record(judged, hedged, topic))
        if judged.score < HEDGE_THRESHOLD:
            why = ", ".join(judged.flags) or "several parts fell short"
            data = {
                "score": judged.score,
                "flags": list(judged.flags),
                "unanswered": [redact(text) for text in judged.unanswered],
            }
            yield self._signal(CONFIDENCE_LOW, f"the response scored {judged.score:.2f}: {why}", data)

    def _impasse(self, judged: Assessment | None) -> Iterator[Signal]:
        """Whether the session is stuck: asked once, when the turn is over, however often it was finished."""
        topic = frozenset(self._analysis.terms if self._analysis else ())
        if judged and (stuck := self._owner.judge((self.user, self.session), impasse.judged(judged, topic))):
            yield self._signal(IMPASSE, stuck, {"topic": sorted(topic)[:TOPIC_TERMS]})

    def _record(self, judged: Assessment, hedged: bool, topic: frozenset[str]) -> dict[str, object]:
        learned = {"lessons": lessons.record(self.lessons)} if self.lessons else {}
        return {
            **learned,
            "confidence": {"level": self.confidence.level, "score": round(self.confidence.score, 4)},
            "assessment": {"score": round(judged.score, 4), "flags": list(judged.flags)},
            "hedged": hedged,
            "topic": sorted(topic)[:TOPIC_TERMS],
            "recalled": [one.memory.id for one in self.recalled],
            "usage": {"input": self._usage.input_tokens, "output": self._usage.output_tokens},
            "seconds": round(self._usage.seconds, 4),
        }

    def _signal(self, kind: str, reason: str, data: Mapping[str, object]) -> Signal:
        at = datetime.fromtimestamp(self._owner.store.now(), UTC)
        return Signal(
            kind=kind, user=self.user, session=self.session, turn=self.number, reason=reason, at=at, data=data
        )

    async def _leave(self) -> None:
        if self._place is None or not self.number:
            return
        if self.result is None:
            self.signals = (self._signal(TURN, "no response", {"hedged": False}),)
            response, used = None, []
        else:
            self.signals = self.result.signals or (self._signal(TURN, "the response was not assessed", {}),)
            self.signals += tuple(self._impasse(self.result.assessment))
            response, used = self._remember(self.result)
        self.promoted = await self._owner.store.finish(
            self._place, self.number, response, self.signals, used, self.controls
        )
        self._owner.notice(self.signals)

    def _remember(self, result: TurnResult) -> tuple[NewItem, list[int]]:
        """The response as an item of working memory, and the memories that this turn made use of."""
        asked = self._analysis or analyse("")
        content = redact(result.response)
        analysis = _analysed(content, asked.language)
        item = new_item(analysis, encode(analysis, ASSISTANT, USER), "assistant", ASSISTANT, self.recalled, ())
        item = item._replace(content=content)
        if (judged := result.assessment) is not None:
            worth = 1.0 if judged.passed else judged.score
            item = item._replace(score=judged.score, salience=item.salience * worth)
        said, heard = frozenset(analysis.terms).difference(asked.terms), frozenset(asked.terms)
        return item, [one.memory.id for one in self.recalled if is_used(one, said, heard)]

    @contextmanager
    def kept_from_host(self, where: str) -> Generator[None]:
        """The edge of law 4: a failure of ours is counted, logged and said, and goes no further."""
        started = time.perf_counter()
        try:
            yield
        except InsulaError as error:
            self._owner.telemetry.failures.labels(where).inc()
            log.warning("%s", error)
            self.troubles.append(str(error))
        except Exception as error:
            self._owner.telemetry.failures.labels(where).inc()
            log.exception("Metacognition failed on %s.", where)
            self.troubles.append(f"Insula failed on {where} ({type(error).__name__}); the log says more.")
        finally:
            self.added += time.perf_counter() - started


def _analysed(content: str, default: str = "en") -> Analysis:
    """The analysis of a redacted text: of its beginning, and without the markers of what was taken out."""
    return analyse(without_markers(content[:REMEMBERED_CHARS]), default=default)


def is_used(one: Recalled, said: frozenset[str], heard: frozenset[str]) -> bool:
    """Whether a turn made use of a memory: the response drew on what the user or a tool had said, or the user came
    back to what the assistant had said. That the assistant repeats itself makes nothing of it worth keeping.
    """
    terms = heard if one.memory.provenance == "assistant" else said
    return len(terms & one.terms) >= USED_TERMS


def _terms_of(history: Sequence[Said]) -> frozenset[str]:
    """The content words of what the user said last in the session."""
    said = [line.content for line in history if line.provenance == "user"][-RECENT_RESPONSES:]
    return frozenset(term for text in said for term in analyse(text[:REMEMBERED_CHARS]).terms)


def _kept(cache: OrderedDict[K, V], key: K, value: V) -> V:
    cache[key] = value
    cache.move_to_end(key)
    if len(cache) > _REMEMBERED_USERS:
        cache.popitem(last=False)
    return value
