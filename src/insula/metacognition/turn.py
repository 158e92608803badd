"""One exchange: what memory holds for it, what the model is told, and what became of the answer."""

import asyncio
import logging
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from insula import telemetry
from insula.errors import InsulaError
from insula.guidance import SHOWN
from insula.memory import assertion, manner
from insula.memory.cue import Cue, cue
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.item import REMEMBERED_CHARS, NewItem, new_item
from insula.memory.store import Place, Recollection, Said
from insula.memory.vectors import Vector, embedded
from insula.memory.wishes import is_all, wished
from insula.metacognition.meaning import meant, question
from insula.metacognition.mind import Mind
from insula.metacognition.reading import (
    RECENT_RESPONSES,
    analysed,
    brought,
    chosen,
    is_used,
    known_names,
    memorable,
    terms_of,
)
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
from insula.text.wishing import Wish, parts
from insula.turn import confidence, impasse, insights, lessons, mending, wishes
from insula.turn.aim import is_personal
from insula.turn.hedging import hedge
from insula.turn.instructions import bears, compose
from insula.turn.likelihood import Logprobs, weighed
from insula.turn.mending import Mend
from insula.turn.verdict import Verdict, verdict
from insula.types import (
    ADAPTATION,
    CONFIDENCE_LOW,
    HEDGE_THRESHOLD,
    IMPASSE,
    TURN,
    AdaptationRecord,
    Arm,
    Assessment,
    Confidence,
    Controls,
    Identity,
    PoorRecord,
    Recalled,
    Signal,
    SignalKind,
    SignalRecord,
    TurnRecord,
    Usage,
)

log = logging.getLogger(__name__)

HISTORY_LINES = 24
"""Lines of the session that a turn looks back on."""
SAID_BEFORE = 6
"""Messages of the session that a response may draw on beside what was recalled."""
PARTS = 6
"""Parts of a message whose meaning is asked for; a longer one is heard by its words."""
TOPIC_TERMS = 40
"""Terms of a message that stand on the ledger as its topic."""
PASSED = {True: "pass", False: "fail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What became of a response."""

    response: str
    """The text for the user: hedged where it should be, else as it was given."""
    assessment: Assessment | None
    """None where the assessment itself failed (counted, and the response left as it was)."""
    hedged: bool
    signals: tuple[Signal, ...]
    verdict: Verdict | None = None
    """The same for a person, in one sentence, with what memory had to do with it."""
    again: str = ""
    """What to tell the model where it is to be asked once more at once; empty where it is not (`retry`)."""


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
        mend: what fell short in the turn before, with the sentence for the model, or that it is withheld.
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
        self.mend: Mend | None = None
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
        self._vectors: dict[str, Vector] = {}
        self._unembeddable = False
        self._asked_again = 0

    @property
    def prompt(self) -> str:
        """The message as it should reach the model, with the reminder behind it."""
        return f"{self.message}\n\n({self.reminder})" if self.reminder else self.message

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
        vector = await self._meaning(question(self._analysis, await owner.speakers(place)))
        limit = self.controls.max_context_items
        questions = [
            one._replace(vector=await self._meaning(one.text))
            for one in assertion.questions(self._analysis, USER, ASSISTANT)
        ]
        found = await owner.store.recall(
            place, asked, limit + HISTORY_LINES, lines=HISTORY_LINES, vector=vector, asked=questions
        )
        found = found._replace(recalled=chosen(found.recalled, limit))
        room, self._advisories = fitted(range(limit), self._advisories, limit)
        self.recalled, self.history = chosen(found.recalled, len(room)), found.said
        before = owner.judged((self.user, self.session))
        left = before.shortfall if before else None
        self.mend = mending.mend(left, self._analysis.language, place.session_id, owner.holdout)
        with self.kept_from_host("wishes"):
            self.heard = await self._wished()
        self._prepare(asked, found, await self._learned(place, self._analysis))

    async def _meaning(self, text: str) -> Vector | None:
        """The vector of a text, made once; None where there is none to be had."""
        embed = None if "embedding" in self.skipped else self._owner.embed
        if embed is None or not text or self._unembeddable:
            return None
        if text not in self._vectors:
            self._unembeddable = True
            with self.kept_from_host("embed"):
                self._vectors[text] = await asyncio.to_thread(embedded, embed, text)
                self._unembeddable = False
        return self._vectors.get(text)

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

    async def _wished(self) -> tuple[Wish, ...]:
        """What the message wishes of the manner of answers, in the user's own plain words."""
        said = [line for line in self.history if line.provenance != "tool"]
        previous = next((line.content for line in reversed(said) if line.provenance == "user"), "")
        response = said[-1].content if said and said[-1].provenance == "assistant" else ""
        tools = [line.content for line in self.history if line.provenance == "tool"]
        language = self._analysis.language if self._analysis else UNKNOWN
        talk = detect(previous, detect(self._content, language))
        said = parts(self._content, talk)
        known = [(part, await self._meaning(part)) for part in said] if len(said) <= PARTS else ()
        return wished(self._content, talk, previous, response, tools, manner.chances(known))

    async def _write(self) -> None:
        """Write the message down before the model is asked, so that nothing that follows can lose it."""
        if self._analysis is None or self._place is None:
            return
        kept = memorable(self._content, self._analysis)
        vector = await self._meaning(meant(self.history[-1].content if self.history else "", self._content))
        before = [assertion.Said(said.content, said.provenance == "user") for said in self.history]
        stated = [
            one._replace(vector=await self._meaning(one.text))
            for one in assertion.statements(kept, USER, ASSISTANT, before)
        ]
        encoding, asked = encode(kept, USER, ASSISTANT), self._questions_before()
        item = new_item(kept, encoding, "user", USER, self.recalled, asked, stated)
        item = item._replace(content=self._content, vector=vector)
        if is_all(self.heard, self._content):
            item = item._replace(kind="episodic")  # it is told from the ledger, where the newest counts, or not at all
        self.number, _ = await self._owner.store.say(self._place, item)
        self._owner.saw(self._place, self._analysis.language, USER)
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
        self.personal = self._is_personal(found)
        self.instructions, self.reminder, self.shown = compose(
            identity,
            self.confidence,
            self.recalled,
            personal=self.personal,
            language=asked.language,
            guidelines=self._guidelines,
            guidance=guidance,
            lessons=told,
            mend=self.mend.text if self.mend else "",
            wishes=[wish.text for wish in near],
            advisories=[advisory.text for advisory in self._advisories],
        )
        evaluated("confidence", self.confidence.score, self.confidence.level)
        self.lessons = (*(lessons.Used(wish.id, SHOWN, wish.text) for wish in self.wishes), *learned)

    def _is_personal(self, found: Recollection) -> bool:
        """Whether the message asks for a fact of the user's life; else, a line that answers does."""
        if self._analysis is None:
            return False
        names = known_names(self._analysis, found.statistics.asserting)
        answered = any(one.bearing in {"answers", "history"} and one.fit is not None for one in self.recalled)
        return is_personal(self._analysis, names) or (answered and bool(asks(self._analysis)))

    def _questions_before(self) -> tuple[Ask, ...]:
        if not self.history or self.history[-1].provenance != "assistant":
            return ()
        return asks(analyse(self.history[-1].content[:REMEMBERED_CHARS]))

    def _finish(self, response: str, assessment: Assessment | None, logprobs: Logprobs | None) -> TurnResult:
        owner = self._owner
        with span(telemetry.ASSESSMENT) as traced:
            judged = weighed(assessment or self._assess(response), self._analysis, logprobs)
            traced.set(score=judged.score, flags=judged.flags)
        evaluated("self_monitor", judged.score, PASSED[judged.passed], explanation=", ".join(judged.flags))
        text = hedge(response, judged, owner.identity, self._spoken(response))
        for flag in judged.flags:
            owner.telemetry.flags.labels(flag).inc()
        asked = bool(self._analysis and asks(self._analysis))
        told = verdict(self.confidence, judged, asked=asked, personal=self.personal)
        signals = tuple(self._signals(judged, text != response, response, told))
        again = self._again(judged)
        return TurnResult(
            response=text, assessment=judged, hedged=text != response, signals=signals, verdict=told, again=again
        )

    def _assess(self, response: str) -> Assessment:
        """The self-monitor's judgement, which gets what stood before the model and what was said in the session."""
        recent = [said.content for said in self.history if said.provenance == "assistant"][-RECENT_RESPONSES:]
        known = [one for one in self.recalled if bears(one) and one.memory.provenance in {"user", "tool"}]
        said = [line.content[:REMEMBERED_CHARS] for line in self.history if line.provenance == "user"]
        level = self.confidence.level if self._analysis is not None and self._place is not None else None
        memory = [*known, *said[-SAID_BEFORE:]] if level else []
        embed = None if "embedding" in self.skipped or self._unembeddable else self._owner.embed
        return self._owner.assessed((self.message, response), recent, memory, level, embed)

    def _again(self, judged: Assessment) -> str:
        """What to ask once more with, within the budget of the turn; nothing where no fault can be named."""
        left = mending.shortfall(judged)
        if self._asked_again >= self.controls.retry or judged.outcome != "doubtful" or left is None:
            return ""
        self._asked_again += 1
        return mending.sentence(left, self._analysis.language if self._analysis else UNKNOWN) or ""

    def _spoken(self, response: str) -> str:
        """The response's language; the message's where it is too short to tell, or none that can be hedged in."""
        asked = self._analysis.language if self._analysis else UNKNOWN
        spoken = detect(response, asked)
        return spoken if spoken in LANGUAGES else asked

    def _signals(self, judged: Assessment, hedged: bool, response: str, told: Verdict) -> Iterator[Signal]:
        topic = frozenset(self._analysis.terms if self._analysis else ())
        left = self._left(judged, topic)
        record = self._record(judged, hedged, topic)
        record["verdict"] = told.kind
        if self.mend is not None:
            record["mend"] = mending.record(self.mend, mending.is_mended(self.mend.shortfall, response, judged))
        record["quoted"] = _quoted(judged, told, left)
        yield self._signal(TURN, "the turn is over", record)
        if judged.score < HEDGE_THRESHOLD:
            why = ", ".join(judged.flags) or "several parts fell short"
            data: PoorRecord = {
                "score": judged.score,
                "flags": list(judged.flags),
                "unanswered": [redact(text) for text in judged.unanswered],
            }
            yield self._signal(CONFIDENCE_LOW, f"the response scored {judged.score:.2f}: {why}", data)

    def _impasse(self, judged: Assessment | None) -> Iterator[Signal]:
        """Whether the session is stuck: asked once, when the turn is over, however often it was finished."""
        topic = frozenset(self._analysis.terms if self._analysis else ())
        if judged is None:
            return
        current = impasse.judged(judged, topic, self._left(judged, topic))
        if stuck := self._owner.judge((self.user, self.session), current):
            yield self._signal(IMPASSE, stuck, {"topic": sorted(topic)[:TOPIC_TERMS]})

    def _left(self, judged: Assessment, topic: frozenset[str]) -> mending.Shortfall | None:
        """What this turn leaves to the next."""
        before = self._owner.judged((self.user, self.session))
        return mending.shortfall(judged, impasse.impasse(before, impasse.judged(judged, topic)))

    def _record(self, judged: Assessment, hedged: bool, topic: frozenset[str]) -> TurnRecord:
        record: TurnRecord = {
            "confidence": {"level": self.confidence.level, "score": round(self.confidence.score, 4)},
            "unadjusted": round(self.confidence.unadjusted, 4),
            "assessment": {
                "score": round(judged.score, 4),
                "flags": list(judged.flags),
                "parts": asdict(judged.parts),
                **({"unclear": True} if judged.unclear else {}),
            },
            "hedged": hedged,
            "topic": sorted(topic)[:TOPIC_TERMS],
            "recalled": brought(self.recalled, self.shown),
            "controls": {**asdict(self.controls), "skipped": list(self.skipped)},
            "usage": {"input": self._usage.input_tokens, "output": self._usage.output_tokens},
            "seconds": round(self._usage.seconds, 4),
        }
        if self.lessons:
            record["lessons"] = lessons.record(self.lessons)
        if self.insights:
            record["insights"] = [Arm(id=one.id, arm=one.arm) for one in self.insights]
        return record

    def _signal(self, kind: SignalKind, reason: str, data: SignalRecord) -> Signal:
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
            response, used = await self._remember(self.result)
        self.signals += tuple(map(self._adapted, self._adaptations))
        owner = self._owner
        kept = await owner.store.finish(self._place, self.number, response, self.signals, used, self.controls)
        self.promoted = len(kept.ages)
        stored = 1 if response is None else 2
        owner.regulator.consolidated((self.user, self.session), stored, kept.ages, kept.saliences)
        owner.notice(self.signals)
        if owner.embed is not None and (self._unembeddable or "embedding" in self.skipped):
            owner.backlog.again(self.user)
        else:
            owner.backlog.begin(self._place, owner.embed)

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
        held = one.model_dump(mode="json", include={"before", "after"})
        data = AdaptationRecord(lever=one.lever, reason=one.reason, before=held["before"], after=held["after"])
        return self._signal(ADAPTATION, f"{one.lever} from {one.before} to {one.after}: {one.reason}", data)

    async def _remember(self, result: TurnResult) -> tuple[NewItem, list[int]]:
        """The response as an item of working memory, and the memories that this turn made use of."""
        asked = self._analysis or analyse("")
        content = redact(result.response)
        analysis = analysed(content, asked.language)
        kept = memorable(content, analysis)
        item = new_item(kept, encode(kept, ASSISTANT, USER), "assistant", ASSISTANT, self.recalled, ())
        item = item._replace(content=content, vector=await self._meaning(meant(self._content, content)))
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


def _quoted(judged: Assessment, told: Verdict, left: mending.Shortfall | None) -> dict[str, object]:
    """What the record of a turn quotes of messages and memories; erased with any of them."""
    faults = [{"flag": fault.flag, "about": redact(fault.about)} for fault in judged.faults if fault.about]
    return {
        "verdict": {"text": redact(told.text), "tone": told.tone, "line": redact(told.line)},
        **({"faults": faults} if faults else {}),
        **({"shortfall": left.record()} if left else {}),
    }
