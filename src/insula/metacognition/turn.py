"""One exchange: what memory holds for it, what the model is told, and what became of the answer."""

import asyncio
import logging
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from insula import telemetry
from insula.content import Content, plain, taken
from insula.errors import InsulaError
from insula.guidance import SHOWN
from insula.memory import assertion, manner, statements
from insula.memory.cue import Cue, cue
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.isolation import on_behalf_of
from insula.memory.item import REMEMBERED_CHARS, NewItem, new_item
from insula.memory.rows import Place, Said
from insula.memory.store import Recollection
from insula.memory.vectors import Vector, embedded
from insula.memory.wishes import is_all, wished
from insula.metacognition import finishing, suspended
from insula.metacognition.finishing import TOPIC_TERMS, Given, TurnResult
from insula.metacognition.meaning import meant, question
from insula.metacognition.mind import Mind
from insula.metacognition.reading import (
    analysed,
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
from insula.text.analysis import UNKNOWN, Analysis, analyse, clean, detect
from insula.text.payload import is_payload
from insula.text.questions import Ask, asks
from insula.text.structure import is_structured
from insula.text.wishing import Wish, parts
from insula.turn import confidence, impasse, insights, lessons, mending, wishes
from insula.turn.aim import is_personal
from insula.turn.hedging import hedge
from insula.turn.instructions import compose
from insula.turn.likelihood import Logprobs, weighed
from insula.turn.mending import Mend
from insula.types import (
    ADAPTATION,
    IMPASSE,
    TURN,
    AdaptationRecord,
    Assessment,
    Confidence,
    Controls,
    Identity,
    Recalled,
    Signal,
    SignalKind,
    SignalRecord,
    Usage,
)

GONE = "The message of turn {number} of session {session!r} is no longer in memory; nothing was written of its answer."
TWICE = "Turn {number} of session {session!r} was finished before; nothing was written a second time."
log = logging.getLogger(__name__)

HISTORY_LINES = 24
"""Lines of the session that a turn looks back on."""
PASSED = {True: "pass", False: "fail"}
PARTS = 6
"""Parts of a message whose meaning is asked for; a longer one is heard by its words."""


class Turn:
    """One exchange: what memory holds for it, what the model is told, and what became of the answer.

    Entering recalls, estimates and writes the user's message down; `finish` assesses and hedges the response; leaving
    writes the rest. Nothing here ever raises into the host (law 4): what fails is logged, counted and said in
    `troubles`, and the host's work goes on without it.

    Attributes:
        message: the user's message, as it should reach the model.
        words: what the model is told in this turn; the properties below say where each part belongs.
        personal: whether the message asks for a fact about the user, their people or their things.
        history: the session so far, oldest first, without this message.
        confidence: how likely memory holds what the message needs.
        recalled: what was recalled, best first.
        lessons: those that the message brought up, each with whether it was told or withheld.
        mend: what fell short in the turn before, with the sentence for the model, or that it is withheld.
        wishes: the user's standing wishes that this turn is told, what matters most first.
        insights: what nights understood that the message brought up, each with whether it was told or withheld.
        heard: what the message itself wishes of the manner of answers.
        snapshot: how the session looks from outside, where a snapshot was due when the turn was over.
        number: the turn's number within its session, from 1; 0 where it could not be written.
        result: what `finish` returned; None where there was no answer yet.
        over: whether the turn was left; then nothing of it is written a second time.
        signals: everything noticed in this turn, once it is over.
        promoted: how many items went to long-term memory.
        added: seconds that metacognition took, once the turn is over.
        troubles: sentences on what failed in Insula itself.
    """

    def __init__(self, owner: Mind, user: str, session: str, message: object, model: str = "") -> None:
        self._owner = owner
        self.user, self.session = user, session
        self.troubles: list[str] = []
        self.added = 0.0
        self.message = ""
        with self.kept_from_host("message"):
            self.message = clean(plain(message))
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
        self.words = compose(owner.identity, self.confidence, ())
        self.personal = False
        self.number = 0
        self.result: TurnResult | None = None
        self.signals: tuple[Signal, ...] = ()
        self.promoted = 0
        self.over = False
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
    def instructions(self) -> str:
        """The text for the system prompt; with it goes `prompt`."""
        return self.words.instructions

    @property
    def reminder(self) -> str:
        """What belongs behind the message, within the same user message; empty in most turns."""
        return self.words.reminder

    @property
    def prompt(self) -> str:
        """The message as it should reach the model, with the reminder behind it."""
        return f"{self.message}\n\n({self.reminder})" if self.reminder else self.message

    @property
    def instructions_stable(self) -> str:
        """What stays the same from turn to turn, for the system prompt where a provider's cache is to hold."""
        return self.words.stable

    @property
    def instructions_now(self) -> str:
        """All else that is told in this turn, the reminder too, to be put behind the user's message, within it."""
        return self.words.behind

    @property
    def shown(self) -> frozenset[int]:
        """Ids of the memories that stand before the model; the others came up, and do not bear on the message."""
        return self.words.shown

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
        with self.kept_from_host("trace"):
            self._trace.__enter__()
        return await self.open()

    async def open(self) -> Self:
        """Recall, and write the message down, outside of a block; `leave` is its end."""
        self._begun = time.perf_counter()
        await self.look()
        with self.kept_from_host("write"), on_behalf_of(self.user):
            await self._write()
        return self

    async def look(self) -> None:
        """Recall, and compose what the model is told."""
        with self.kept_from_host("recall"), span(telemetry.RECALL) as traced, on_behalf_of(self.user):
            await self._recall()
            traced.set(limit=self.controls.max_context_items, recalled=len(self.recalled))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            await self.leave()
        finally:  # whoever cancels a turn gets its trace, too
            with self.kept_from_host("trace"):
                hedged = self.result is not None and self.result.hedged
                self._trace.set(number=self.number, level=self.confidence.level, hedged=hedged, promoted=self.promoted)
                self._trace.__exit__(kind, error, where)

    async def leave(self) -> None:
        """Write down what became of the turn; once, however often it is asked for."""
        if self.over:
            return
        self.over = True
        with self.kept_from_host("exit"), on_behalf_of(self.user):
            await self._leave()
        with self.kept_from_host("snapshot"):
            await self._account()
        self._owner.telemetry.added.observe(self.added)
        self._owner.telemetry.turns.labels(self.confidence.level).inc()

    def finish(
        self,
        response: object,
        *,
        assessment: Assessment | None = None,
        usage: Usage | None = None,
        logprobs: Logprobs | None = None,
    ) -> TurnResult:
        """Assess a response and return it as it should be shown: hedged, or unchanged.

        Args:
            response: what the model answered: a text, content parts, a message or completion of a library, an agent's
                result, or data. Where it asks for tools alone, or is None, there is no answer yet: nothing is assessed,
                and `finish` may be called again. Into data nothing is written, and no words are missed in it.
            assessment: a judgement made elsewhere, by a model say, that replaces the self-monitor's (K10).
            usage: what the response cost, for the ledger.
            logprobs: each token of the response with its natural log-probability, where the model returns them (K11).
        """
        self._usage = usage or Usage()
        given = Content()
        with self.kept_from_host("response"):
            given = taken(response)
        text = clean(given.text)
        result = TurnResult(response=text, assessment=assessment, hedged=False, signals=())
        if response is None or (given.calls and not text.strip()):
            return result
        self.result = result
        with self.kept_from_host("finish"):
            self.result = self._finish(text, assessment, logprobs, structured=given.structured or _is_data(text))
        return self.result

    async def _recall(self) -> None:
        owner = self._owner
        self._content = redact(self.message)
        place = self._place = await owner.store.place(self.user, self.session)
        spoken = await owner.languages(place)
        likely = next(iter(spoken), "en") if len(spoken) == 1 else "en"
        self._analysis = analysed(self._content, next(iter(owner.identity.languages), likely))
        asked = cue(self._analysis, USER, ASSISTANT, spoken - {self._analysis.language})
        await owner.resume(place)
        with self.kept_from_host("regulate"):
            self._regulate()
        vector = await self._meaning(question(self._analysis, await owner.speakers(place)))
        limit = self.controls.max_context_items
        questions = [
            one._replace(vector=await self._meaning(one.text))
            for one in assertion.questions(self._analysis, USER, ASSISTANT)
        ]
        found = await owner.store.memories.recall(
            place, asked, limit + HISTORY_LINES, lines=HISTORY_LINES, vector=vector, asked=questions
        )
        found = found._replace(recalled=chosen(found.recalled, limit))
        room, self._advisories = fitted(range(limit), self._advisories, limit)
        self.recalled, self.history = chosen(found.recalled, len(room)), found.said
        before = owner.judged((self.user, self.session))
        left = (before.shortfall if before else None) or await owner.unsolved(place)
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
            self.wishes = wishes.told(known.wishes, asked.terms, self.heard, payload=is_payload(self._content))
            held = self._owner.holdout
            self.insights = insights.recalled(known.insights, asked.terms, place.session_id, held)
            return lessons.drawn(lessons.triggered(known.advice, asked.terms), place.session_id, self._owner.holdout)
        return ()

    async def _wished(self) -> tuple[Wish, ...]:
        """What the message wishes of the manner of answers, in the user's own plain words; a payload's are its own."""
        if is_payload(self._content):
            return ()
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
        if is_all([one for one in self.heard if one.slots or not stated], self._content):
            item = item._replace(kind="episodic")  # it is told from the ledger, where the newest counts, or not at all
        self.number, _ = await self._owner.store.sessions.say(self._place, item)
        self._owner.saw(self._place, self._analysis.language, USER)
        if self.heard:
            await self._owner.store.sessions.hear(self._place, self.number, self.heard)

    def _prepare(self, asked: Cue, found: Recollection, learned: tuple[lessons.Used, ...]) -> None:
        identity = self._owner.identity
        self.confidence = self._owner.estimate(
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
        self.words = compose(
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
        if self.personal and self.words.level == "low":
            self.confidence = confidence.untold(self.confidence, self._calibration)
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

    def _finish(
        self, response: str, assessment: Assessment | None, logprobs: Logprobs | None, *, structured: bool
    ) -> TurnResult:
        owner, given = self._owner, self._given()
        with span(telemetry.ASSESSMENT) as traced:
            judged = assessment or self._assess(response, given)
            judged = weighed(finishing.of_data(judged) if structured else judged, self._analysis, logprobs)
            traced.set(score=judged.score, flags=judged.flags)
        evaluated("self_monitor", judged.score, PASSED[judged.passed], explanation=", ".join(judged.flags))
        for flag in judged.flags:
            owner.telemetry.flags.labels(flag).inc()
        text = response if structured else hedge(response, judged, owner.identity, given.spoken(response))
        told = given.verdict(judged)
        hedged = text != response
        noted = finishing.notes(given, response, judged, told, self._usage, hedged)
        again = finishing.again(given, judged) if self._asked_again < self.controls.retry else ""
        self._asked_again += bool(again)
        signals = tuple(self._signal(*note) for note in noted)
        return TurnResult(response=text, assessment=judged, hedged=hedged, signals=signals, verdict=told, again=again)

    def _given(self) -> Given:
        """What stood before the model."""
        return Given(
            message=self.message,
            analysis=self._analysis,
            history=self.history,
            is_read=self._place is not None,
            confidence=self.confidence,
            recalled=self.recalled,
            shown=self.shown,
            personal=self.personal,
            lessons=self.lessons,
            insights=self.insights,
            mend=self.mend,
            before=self._owner.judged((self.user, self.session)),
            controls=self.controls,
            skipped=self.skipped,
        )

    def _assess(self, response: str, given: Given) -> Assessment:
        """The self-monitor's judgement, which gets what stood before the model and what was said in the session."""
        embed = None if "embedding" in self.skipped or self._unembeddable else self._owner.embed
        said = self.message, response
        return self._owner.assessed(said, given.responses, given.memory, given.level, embed)

    def _impasse(self, judged: Assessment | None) -> Iterator[Signal]:
        """Whether the session is stuck: asked once, when the turn is over, however often it was finished."""
        if judged is None:
            return
        given = self._given()
        current = impasse.judged(judged, given.topic, given.left(judged))
        if stuck := self._owner.judge((self.user, self.session), current):
            yield self._signal(IMPASSE, stuck, {"topic": sorted(given.topic)[:TOPIC_TERMS]})

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
        kept = await owner.store.sessions.finish(self._place, self.number, response, self.signals, used, self.controls)
        if kept is None:
            self.signals = ()
            self.troubles.append(TWICE.format(number=self.number, session=self.session))
            return
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

    def to_json(self) -> str:
        """The open turn as text, to be finished later or elsewhere by `Metacognition.finish`.

        It holds what stood before the model, memories among it: keep it where you keep the conversation.
        """
        return suspended.dumped(
            suspended.Suspended(
                user=self.user,
                session=self.session,
                message=self.message,
                model=self.model,
                number=self.number,
                words=self.words,
                confidence=self.confidence,
                recalled=self.recalled,
                history=self.history,
                personal=self.personal,
                lessons=self.lessons,
                insights=self.insights,
                mend=self.mend,
                controls=self.controls,
                skipped=self.skipped,
                adaptations=self._adaptations,
            )
        )

    @classmethod
    async def resume(cls, owner: Mind, kept: str) -> Self:
        """The turn that `to_json` wrote, open again; memories that were erased meanwhile are gone from it.

        Raises:
            InputError: the text is no turn.
        """
        was = suspended.loaded(kept)
        turn = cls(owner, was.user, was.session, was.message, was.model)
        turn._begun = time.perf_counter()
        with turn.kept_from_host("resume"), on_behalf_of(turn.user):
            await turn._restore(was)
        return turn

    async def _restore(self, was: suspended.Suspended) -> None:
        self.words, self.confidence, self.personal = was.words, was.confidence, was.personal
        self.lessons, self.insights, self.mend = was.lessons, was.insights, was.mend
        self.history, self._adaptations = was.history, was.adaptations
        self._regulation = Regulation(controls=was.controls, skipped=was.skipped)
        self._content = redact(self.message)
        self._analysis = analysed(self._content, next(iter(self.identity.languages), "en"))
        place = await self._owner.store.place(self.user, self.session)
        await self._owner.resume(place)
        ids = [one.memory.id for one in was.recalled]
        held = await self._owner.store.run(statements.held, place, was.number, self._content, ids)
        if held is None:
            self.troubles.append(GONE.format(number=was.number, session=self.session))
            return
        self._place, self.number = place, was.number
        self.recalled = tuple(one for one in was.recalled if one.memory.id in held)


def _is_data(text: str) -> bool:
    """Whether a text is JSON, as structured output comes from a provider."""
    return text.lstrip()[:1] in {"{", "["} and is_structured(text)
