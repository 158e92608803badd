"""One exchange: what memory holds for it, what the model is told, and what became of the answer."""

import logging
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from insula import telemetry
from insula.errors import InsulaError
from insula.guidance import SHOWN
from insula.memory.cue import Cue, cue
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.item import REMEMBERED_CHARS, NewItem, new_item
from insula.memory.store import Place, Recollection, Said
from insula.memory.vectors import Vector, embedded
from insula.memory.wishes import is_all, wished
from insula.metacognition.mind import TURN, Mind
from insula.metacognition.reading import RECENT_RESPONSES, analysed, brought, chosen, is_used, memorable, terms_of
from insula.metacognition.regulator import Ended
from insula.redaction import redact
from insula.session.adaptation import Adaptation, Stage
from insula.session.advisory import Advisory, advisories, fitted
from insula.session.conditions import DEGRADED, STM_HIGH
from insula.session.control import Regulation
from insula.session.snapshot import Snapshot
from insula.telemetry import evaluated, span
from insula.text.analysis import LANGUAGES, UNKNOWN, Analysis, analyse, clean, detect
from insula.text.questions import Ask, asks
from insula.text.wishing import Wish
from insula.turn import confidence, impasse, insights, lessons, wishes
from insula.turn.aim import is_personal
from insula.turn.hedging import hedge
from insula.turn.instructions import compose
from insula.turn.likelihood import Logprobs, weighed
from insula.types import HEDGE_THRESHOLD, Assessment, Confidence, Controls, Identity, Recalled, Signal, Usage

log = logging.getLogger(__name__)

HISTORY_LINES = 24
"""Lines of the session that a turn looks back on."""
TOPIC_TERMS = 40
"""Terms of a message that stand on the ledger as its topic."""
PASSED = {True: "pass", False: "fail"}
CONFIDENCE_LOW, IMPASSE, ADAPTATION = "meta:confidence-low", "meta:impasse", "session:adaptation"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What became of a response."""

    response: str
    """The text for the user: hedged where it should be, else as it was given."""
    assessment: Assessment | None
    """None where the assessment itself failed (counted, and the response left as it was)."""
    hedged: bool
    signals: tuple[Signal, ...]


class Turn:
    """One exchange: what memory holds for it, what the model is told, and what became of the answer.

    Entering recalls, estimates and writes the user's message down; `finish` assesses and hedges the response; leaving
    writes the rest. Nothing here ever raises into the host (law 4): what fails is logged, counted and said in
    `troubles`, and the host's work goes on without it.

    Attributes:
        message: the user's message, as it should reach the model.
        instructions: the text for the system prompt.
        reminder: what belongs behind the message, within the same user message; empty in most turns.
        personal: whether the message asks for a fact about the user, their people or their things.
        history: the session so far, oldest first, without this message.
        confidence: how likely memory holds what the message needs.
        recalled: what was recalled, best first.
        shown: ids of those that stand before the model; the others came up, and do not bear on the message.
        lessons: those that the message brought up, each with whether it was told or withheld.
        wishes: the user's standing wishes that this turn is told, what matters most first.
        insights: what nights understood that the message brought up, each with whether it was told or withheld.
        heard: what the message itself wishes of the manner of answers.
        snapshot: how the session looks from outside, where a snapshot was due when the turn was over.
        number: the turn's number within its session, from 1; 0 where it could not be written.
        result: what `finish` returned.
        signals: everything noticed in this turn, once it is over.
        promoted: how many items went to long-term memory.
        added: seconds that metacognition took, once the turn is over.
        troubles: sentences on what failed in Insula itself.
    """

    def __init__(self, owner: Mind, user: str, session: str, message: str, model: str = "") -> None:
        self._owner = owner
        self.user, self.session = user, session
        self.message = clean(message)
        self.model = model
        self.snapshot: Snapshot | None = None
        self.confidence = Confidence(level="low", score=0.0, reasons=("memory could not be read",))
        self.recalled: tuple[Recalled, ...] = ()
        self.lessons: tuple[lessons.Used, ...] = ()
        self.wishes: tuple[wishes.Standing, ...] = ()
        self.heard: tuple[Wish, ...] = ()
        self.insights: tuple[insights.Recalled, ...] = ()
        self.history: tuple[Said, ...] = ()
        self.instructions, self.reminder, self.shown = compose(owner.identity, self.confidence, ())
        self.personal = False
        self.number = 0
        self.result: TurnResult | None = None
        self.signals: tuple[Signal, ...] = ()
        self.promoted = 0
        self.added = 0.0
        self.troubles: list[str] = []
        self._regulation = Regulation(controls=owner.controls)
        self._advisories: tuple[Advisory, ...] = ()
        self._adaptations: tuple[Adaptation, ...] = ()
        self._begun = 0.0
        self._trace = span(telemetry.TURN)
        self._guidelines = ""
        self._calibration = owner.calibration
        self._usage = Usage()
        self._place: Place | None = None
        self._content = ""
        self._analysis: Analysis | None = None
        self._vector: Vector | None = None

    @property
    def identity(self) -> Identity:
        """Who the agent is."""
        return self._owner.identity

    @property
    def language(self) -> str:
        """The language of the message as an ISO 639-1 code; "unknown" before it was read."""
        return self._analysis.language if self._analysis else UNKNOWN

    @property
    def controls(self) -> Controls:
        """What this turn may use, as the conditions of the session have it."""
        return self._regulation.controls

    @property
    def skipped(self) -> tuple[Stage, ...]:
        """Stages that this turn goes without, because turns are far too slow."""
        return self._regulation.skipped

    async def __aenter__(self) -> Self:
        self._begun = time.perf_counter()
        with self.kept_from_host("trace"):
            self._trace.__enter__()
        with self.kept_from_host("recall"), span(telemetry.RECALL) as traced:
            await self._recall()
            traced.set(limit=self.controls.max_context_items, recalled=len(self.recalled))
        with self.kept_from_host("write"):
            await self._write()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            with self.kept_from_host("exit"):
                await self._leave()
            with self.kept_from_host("snapshot"):
                await self._account()
            self._owner.telemetry.added.observe(self.added)
            self._owner.telemetry.turns.labels(self.confidence.level).inc()
        finally:  # whoever cancels a turn gets its trace, too
            with self.kept_from_host("trace"):
                hedged = self.result is not None and self.result.hedged
                self._trace.set(number=self.number, level=self.confidence.level, hedged=hedged, promoted=self.promoted)
                self._trace.__exit__(kind, error, where)

    def finish(
        self,
        response: str,
        *,
        assessment: Assessment | None = None,
        usage: Usage | None = None,
        logprobs: Logprobs | None = None,
    ) -> TurnResult:
        """Assess a response and return it as it should be shown: hedged, or unchanged.

        Args:
            response: the model's text.
            assessment: a judgement made elsewhere, by a model say, that replaces the self-monitor's (K10).
            usage: what the response cost, for the ledger.
            logprobs: each token of the response with its natural log-probability, where the model returns them (K11).
        """
        self._usage = usage or Usage()
        response = clean(response)
        self.result = TurnResult(response=response, assessment=assessment, hedged=False, signals=())
        with self.kept_from_host("finish"):
            self.result = self._finish(response, assessment, logprobs)
        return self.result

    async def _recall(self) -> None:
        owner = self._owner
        self._content = redact(self.message)
        self._analysis = analysed(self._content, next(iter(owner.identity.languages), "en"))
        place = self._place = await owner.store.place(self.user, self.session)
        asked = cue(self._analysis, USER, ASSISTANT, await owner.languages(place) - {self._analysis.language})
        await owner.resume(place)
        with self.kept_from_host("regulate"):
            self._regulate()
        with self.kept_from_host("embed"):
            embed = None if "embedding" in self.skipped else owner.embed
            self._vector = embedded(embed, self._analysis.text) if embed and self._analysis.text.strip() else None
        limit = self.controls.max_context_items
        found = await owner.store.recall(place, asked, limit + HISTORY_LINES, lines=HISTORY_LINES, vector=self._vector)
        found = found._replace(recalled=chosen(found.recalled, limit))
        room, self._advisories = fitted(range(limit), self._advisories, limit)
        self.recalled, self.history = chosen(found.recalled, len(room)), found.said
        with self.kept_from_host("wishes"):
            self.heard = self._wished()
        self._prepare(asked, found, await self._learned(place, self._analysis))

    def _regulate(self) -> None:
        """Let the conditions of the session decide what this turn may use (S5, S6); its settings stay as they are."""
        owner = self._owner
        begun = owner.regulator.begin((self.user, self.session), self.model, owner.store.now())
        self._regulation, self._adaptations = begun.regulation, begun.adaptations
        self._advisories = advisories(begun.conditions.reasons)

    async def _learned(self, place: Place, asked: Analysis) -> tuple[lessons.Used, ...]:
        """The lessons that the message brings up; none where they cannot be read."""
        with self.kept_from_host("lessons"):
            known = await self._owner.learned(place)
            self._guidelines, self._calibration = known.guidelines, known.calibration
            self.wishes = wishes.told(known.wishes, asked.terms, self.heard)
            held = self._owner.holdout
            self.insights = insights.recalled(known.insights, asked.terms, place.session_id, held)
            return lessons.drawn(lessons.triggered(known.advice, asked.terms), place.session_id, self._owner.holdout)
        return ()

    def _wished(self) -> tuple[Wish, ...]:
        """What the message wishes of the manner of answers, in the user's own plain words."""
        said = [line for line in self.history if line.provenance != "tool"]
        previous = next((line.content for line in reversed(said) if line.provenance == "user"), "")
        response = said[-1].content if said and said[-1].provenance == "assistant" else ""
        tools = [line.content for line in self.history if line.provenance == "tool"]
        language = self._analysis.language if self._analysis else UNKNOWN
        return wished(self._content, detect(previous, detect(self._content, language)), previous, response, tools)

    async def _write(self) -> None:
        """Write the message down before the model is asked, so that nothing that follows can lose it."""
        if self._analysis is None or self._place is None:
            return
        kept = memorable(self._content, self._analysis)
        # What is not remembered must not be found by its meaning either.
        vector = self._vector if kept is self._analysis else None
        item = new_item(kept, encode(kept, USER, ASSISTANT), "user", USER, self.recalled, self._questions_before())
        item = item._replace(content=self._content, vector=vector)
        if is_all(self.heard, self._content):
            item = item._replace(kind="episodic")  # it is told from the ledger, where the newest counts, or not at all
        self.number, _ = await self._owner.store.say(self._place, item)
        self._owner.saw(self._place, self._analysis.language)
        if self.heard:
            await self._owner.store.hear(self._place, self.number, self.heard)

    def _prepare(self, asked: Cue, found: Recollection, learned: tuple[lessons.Used, ...]) -> None:
        identity = self._owner.identity
        self.confidence = confidence.estimate(
            asked,
            found,
            context=terms_of(self.history),
            identity=identity,
            calibration=self._calibration,
        )
        guidance = [identity.guidance[topic] for topic in confidence.topics(asked, identity)]
        near, far = self.wishes[: wishes.NEAREST], self.wishes[wishes.NEAREST :]
        told = [*(wish.text for wish in far), *lessons.told(learned), *insights.told(self.insights)]
        known = [name for name in asked.names if found.statistics.asserting.get(name)]
        self.personal = is_personal(self._analysis, known) if self._analysis else False
        self.instructions, self.reminder, self.shown = compose(
            identity,
            self.confidence,
            self.recalled,
            personal=self.personal,
            language=asked.language,
            guidelines=self._guidelines,
            guidance=guidance,
            lessons=told,
            wishes=[wish.text for wish in near],
            advisories=[advisory.text for advisory in self._advisories],
        )
        evaluated("confidence", self.confidence.score, self.confidence.level)
        self.lessons = (*(lessons.Used(wish.id, SHOWN, wish.text) for wish in self.wishes), *learned)

    def _questions_before(self) -> tuple[Ask, ...]:
        if not self.history or self.history[-1].provenance != "assistant":
            return ()
        return asks(analyse(self.history[-1].content[:REMEMBERED_CHARS]))

    def _finish(self, response: str, assessment: Assessment | None, logprobs: Logprobs | None) -> TurnResult:
        owner = self._owner
        recent = [said.content for said in self.history if said.provenance == "assistant"][-RECENT_RESPONSES:]
        with span(telemetry.ASSESSMENT) as traced:
            judged = assessment or owner.assess(self.message, response, recent, owner.identity)
            judged = weighed(judged, self._analysis, logprobs)
            traced.set(score=judged.score, flags=judged.flags)
        evaluated("self_monitor", judged.score, PASSED[judged.passed], explanation=", ".join(judged.flags))
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
        learned: dict[str, object] = {"lessons": lessons.record(self.lessons)} if self.lessons else {}
        if self.insights:
            learned["insights"] = [{"id": one.id, "arm": one.arm} for one in self.insights]
        return {
            **learned,
            "confidence": {"level": self.confidence.level, "score": round(self.confidence.score, 4)},
            "unadjusted": round(self.confidence.unadjusted, 4),
            "assessment": {
                "score": round(judged.score, 4),
                "flags": list(judged.flags),
                "parts": asdict(judged.parts),
            },
            "hedged": hedged,
            "topic": sorted(topic)[:TOPIC_TERMS],
            "recalled": brought(self.recalled, self.shown),
            "controls": {**asdict(self.controls), "skipped": list(self.skipped)},
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
        self.signals += tuple(map(self._adapted, self._adaptations))
        owner = self._owner
        kept = await owner.store.finish(self._place, self.number, response, self.signals, used, self.controls)
        self.promoted = len(kept.ages)
        stored = 1 if response is None else 2
        owner.regulator.consolidated((self.user, self.session), stored, kept.ages, kept.saliences)
        owner.notice(self.signals)

    async def _account(self) -> None:
        """Let the session know how the turn went, and write its snapshot down where one is due (S1, S8)."""
        owner = self._owner
        seconds = time.perf_counter() - self._begun
        self._count(seconds)
        turn = Ended(
            at=owner.store.now(), ms=1000 * seconds, answered=self.result is not None, stored=bool(self.number)
        )
        self.snapshot = owner.regulator.end((self.user, self.session), self.model, turn)
        if self.snapshot is not None:
            owner.telemetry.snapshots.inc()
            await owner.write_down(self.snapshot)

    def _count(self, seconds: float) -> None:
        count = self._owner.telemetry
        count.took(self.model, seconds)
        told = [advisory.reason for advisory in self._advisories]
        count.advisories.inc(len(told))
        count.degraded.inc(told.count(DEGRADED))
        count.stm_high.inc(told.count(STM_HIGH))
        if self.controls.max_context_items < self._owner.controls.max_context_items:
            count.adaptive_retrieval.inc()

    def _adapted(self, one: Adaptation) -> Signal:
        data = one.model_dump(mode="json", exclude={"at", "effect", "found"})
        return self._signal(ADAPTATION, f"{one.lever} from {one.before} to {one.after}: {one.reason}", data)

    def _remember(self, result: TurnResult) -> tuple[NewItem, list[int]]:
        """The response as an item of working memory, and the memories that this turn made use of."""
        asked = self._analysis or analyse("")
        content = redact(result.response)
        analysis = analysed(content, asked.language)
        kept = memorable(content, analysis)
        item = new_item(kept, encode(kept, ASSISTANT, USER), "assistant", ASSISTANT, self.recalled, ())
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
