"""One exchange: its first half is `Opening`; here is what becomes of the answer, and how one is left or set aside."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from types import TracebackType
from typing import Any, Self, overload

from insula import telemetry
from insula.claims import say
from insula.content import Content, taken
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.item import NewItem, new_item
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage import statements
from insula.memory.storage.rows import Embedded
from insula.memory.storage.store import check_types
from insula.memory.storage.vectors import Embed, Vector, embedded
from insula.metacognition import finishing, suspended
from insula.metacognition.arguments import check_options
from insula.metacognition.finishing import TOPIC_TERMS, Given, TurnResult
from insula.metacognition.meaning import embedded_rows, meant, meant_texts
from insula.metacognition.mind import Mind
from insula.metacognition.opening import Opening
from insula.metacognition.reading import analysed, is_used, memorable
from insula.metacognition.regulator import Ended
from insula.metacognition.streaming import streamed
from insula.redaction import redact, take_out
from insula.session.adaptation import Adaptation
from insula.session.conditions import DEGRADED, STM_HIGH
from insula.session.control import Regulation
from insula.session.latency import observe_turn
from insula.session.saved import Saved
from insula.telemetry import evaluated, span
from insula.text.analysis import analyse, clean
from insula.text.structure import is_structured
from insula.turn import impasse, mending
from insula.turn.hedging import Hedged, hedge
from insula.turn.likelihood import Logprobs, weighed
from insula.types import (
    ADAPTATION,
    IMPASSE,
    TURN,
    AdaptationRecord,
    Assessment,
    ImpasseRecord,
    Signal,
    SignalKind,
    SignalRecord,
    Usage,
)

GONE = "The message of turn {number} of session {session!r} is no longer in memory; nothing was written of its answer."
TWICE = "Turn {number} of session {session!r} was finished before; nothing was written a second time."
REASON_CHARS = 300
"""Characters of why an agent is stuck that stand on the ledger."""
PASSED = {True: "pass", False: "fail"}


class Turn(Opening):
    """One exchange: what memory holds for it, what the model is told, and what became of the answer.

    Entering recalls, estimates and writes the user's message down; `finish` assesses and hedges the response; leaving
    writes the rest. Nothing here ever raises into the host (law 4): what fails is logged, counted and said in
    `troubles`, and the host's work goes on without it. What is promised of it stands in docs/reference.md.

    Attributes:
        message: the user's message, as it should reach the model.
        words: what the model is told in this turn; the properties below say where each part belongs.
        personal: whether the message asks for what only its user can have told.
        history: the session so far, oldest first, without this message.
        confidence: how likely memory holds what the message needs.
        is_read: whether memory could be read.
        recalled: what was recalled, best first.
        lessons: those that the message brought up, each with whether it was told or withheld.
        mend: what fell short in the turn before, with the sentence for the model, or that it is withheld.
        wishes: the user's standing wishes that this turn is told, what matters most first.
        insights: what nights understood that the message brought up, each with whether it was told or withheld.
        heard: what this message made stand for every answer from now on; empty for a request of the moment.
        snapshot: how the session looks from outside, where a snapshot was due when the turn was over.
        saved: what it goes without because its model is slow or working memory full, by lever.
        metadata: what the host says of it, as it is kept.
        told: what this message tells of the user's life, in their words; mostly nothing.
        number: the turn's number within its session, from 1; 0 where it could not be written.
        result: what `finish` returned; None where there was no answer yet.
        over: whether the turn was left; then nothing of it is written a second time.
        signals: everything noticed in this turn, once it is over.
        promoted: how many items went to long-term memory.
        added: seconds that metacognition took, once the turn is over.
        troubles: sentences on what failed in Insula itself.
    """

    async def __aenter__(self) -> Self:
        with self.kept_from_host("trace"):
            self._trace.__enter__()
        return await self.open()

    async def open(self) -> Self:
        """Recall, and write the message down, outside of a block; `leave` is its end."""
        self._begun = time.perf_counter()
        await self.look()
        await _uncut(self._keep_message())
        return self

    async def _keep_message(self) -> None:
        with self.kept_from_host("write"), on_behalf_of(self.user):
            await self._write()

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

        Raises:
            InputError: the assessment or the usage is of another type.
        """
        check_options(("assessment", assessment, Assessment, "an Assessment"), ("usage", usage, Usage, "a Usage"))
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
        spoken = given.spoken(response)
        text, doubt = (
            Hedged(response, None) if structured else hedge(response, judged, owner.identity, spoken, owner.claims)
        )
        told = given.verdict(judged, response)
        noted = finishing.notes(given, response, judged, told, self._usage, doubt)
        again = finishing.again(given, judged) if self._asked_again < owner.controls.retry else ""
        self._asked_again += bool(again)
        if again and not self.controls.retry:
            again = ""
            self.note_saved("retry", Saved(calls=1))
        signals = tuple(self._signal(*note) for note in noted)
        return TurnResult(
            response=text,
            assessment=judged,
            hedged=doubt is not None,
            signals=signals,
            verdict=told,
            sources=(told.source,) if told.source else (),
            saved=given.learned,
            again=again,
        )

    @overload
    def stream(self, pieces: AsyncIterable[str]) -> AsyncIterator[str]: ...

    @overload
    def stream(self, pieces: Iterable[str]) -> Iterator[str]: ...

    def stream(self, pieces: AsyncIterable[str] | Iterable[str]) -> AsyncIterator[str] | Iterator[str]:
        """Pass on the pieces of a response as they come, and `finish` with the whole when the last one has.

        What was shown stays; `result` says then whether it is hedged, and `result.response` how it should read.

        Args:
            pieces: of text, as a model makes them; to be iterated over as what is returned.
        """
        return streamed(self.finish, pieces)

    def _given(self) -> Given:
        """What stood before the model."""
        return Given(
            message=self.message,
            analysis=self._analysis,
            forgetting=[self.forgetting.under_reply(self.language)] if self.forgetting else (),
            saved=[wish.words for wish in self.heard if not wish.lifts],
            told=self.told,
            history=self.history,
            is_read=self.is_read,
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
            claims=self._owner.claims,
            made=self.words.claims,
        )

    def _assess(self, response: str, given: Given) -> Assessment:
        """The self-monitor's judgement, which gets what stood before the model and what was said in the session."""
        embed = self._embed and partial(_known, self._embed, self._vectors)
        said = self.message, response
        return self._owner.assessed(said, given.responses, given.memory, given.level, embed)

    def stuck(self, reason: str) -> None:
        """Say that the agent is stuck at what was asked, whatever it will answer (K5).

        It stands on the ledger when the turn is over: the next turn is told, and the night learns from it.

        Args:
            reason: why, in a sentence; what the senses say at the top of their ladder, for example.
        """
        check_types(reason=reason)
        self._stuck = redact(clean(reason))[:REASON_CHARS]

    def _impasse(self, judged: Assessment | None) -> Iterator[Signal]:
        """Whether the session is stuck: asked once, when the turn is over, however often it was finished."""
        if self._stuck:
            data: ImpasseRecord = {"quoted": {"shortfall": mending.unsolved(self._content).record()}}
            yield self._signal(IMPASSE, self._stuck, data)
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

    async def _meant(self, response: str) -> list[Embedded]:
        """The vectors of what was written of the message, which later turns need; read at once with the response's."""
        texts = meant_texts(self._unembedded if self._owner.embed else ())
        said = "" if self._puts_off or self.result is None else meant(self._content, response)
        await self._read([said, *chain.from_iterable(texts.values())])
        whole = all(one in self._vectors for one in chain.from_iterable(texts.values()) if one)
        return embedded_rows(texts, self._vectors) if whole else []

    async def _leave(self) -> None:
        if self._place is None or not self.number:
            return
        content = take_out(redact(self.result.response), self._secrets) if self.result else ""
        made = await self._meant(content)
        if self.result is None:
            self.signals = (self._signal(TURN, "no response", {"hedged": False}), *self._impasse(None))
            response, used = None, []
        else:
            self.signals = self.result.signals or (self._signal(TURN, "the response was not assessed", {}),)
            self.signals += tuple(self._impasse(self.result.assessment))
            response, used = self._remember(self.result, content)
            self.note_saved("skipped_stages", Saved(vectors=int(self._puts_off) or None))
        self.signals += tuple(map(self._adapted, self._adaptations))
        owner = self._owner
        kept = await owner.store.sessions.finish(
            self._place, self.number, response, self.signals, used, self.controls, made
        )
        if kept is None:
            self.signals = ()
            owner.backlog.again(self.user)
            self.troubles.append(TWICE.format(number=self.number, session=self.session))
            return
        self.promoted = len(kept.ages)
        stored, threshold = 1 if response is None else 2, self.controls.consolidation_threshold
        session = self.user, self.session
        waiting = owner.regulator.consolidated(session, stored, kept.ages, kept.saliences, threshold)
        self.note_saved("consolidation_threshold", Saved(promotions=waiting or None))
        owner.notice(self.signals)
        if owner.embed is not None and (self._unembeddable or self._puts_off or self._is_resumed):
            owner.backlog.again(self.user)
        if owner.embed is None or not self._unembeddable:
            owner.backlog.begin(self._place, owner.embed)
        await self._read_food(self.language)

    async def _account(self) -> None:
        """Let the session know how the turn went, and write its snapshot down where one is due (S1, S8)."""
        owner = self._owner
        seconds = time.perf_counter() - self._begun
        self._count(seconds)
        at = owner.store.now()
        turn = Ended(
            at=at,
            ms=1000 * seconds,
            answered=self.result is not None,
            stored=bool(self.number),
            observation=observe_turn(self._usage, at),
            advisories=self.advisories,
        )
        self.snapshot = owner.regulator.end((self.user, self.session), self.model, turn)
        if self.snapshot is not None:
            owner.telemetry.snapshots.inc()
            await owner.write_down(self.snapshot)

    def _count(self, seconds: float) -> None:
        count = self._owner.telemetry
        count.took(self.model, seconds)
        count.advisories.inc(len(self.advisories))
        count.degraded.inc(self._conditions.count(DEGRADED))
        count.stm_high.inc(self._conditions.count(STM_HIGH))
        if self.controls.max_context_items < self._owner.controls.max_context_items:
            count.adaptive_retrieval.inc()

    def _adapted(self, one: Adaptation) -> Signal:
        held = one.model_dump(mode="json", include={"before", "after"})
        data = AdaptationRecord(lever=one.lever, reason=one.reason, before=held["before"], after=held["after"])
        if one.lever in self.saved:
            data["saved"] = self.saved[one.lever].model_dump()
        return self._signal(ADAPTATION, f"{one.lever} from {one.before} to {one.after}: {one.reason}", data)

    def _remember(self, result: TurnResult, content: str) -> tuple[NewItem, list[int]]:
        """The response as an item of working memory, and the memories that this turn made use of."""
        asked = self._analysis or analyse("")
        analysis = analysed(content, asked.language)
        kept = memorable(content, analysis)
        item = new_item(kept, encode(kept, ASSISTANT, USER), "assistant", ASSISTANT, self.recalled, ())
        vector = None if self._puts_off else self._vectors.get(meant(self._content, content))
        item = item._replace(content=content, vector=vector, metadata=self.metadata)
        if (judged := result.assessment) is not None:
            worth = 1.0 if judged.passed else judged.score
            item = item._replace(score=judged.score, salience=item.salience * worth)
        said, heard = frozenset(analysis.terms).difference(asked.terms), frozenset(asked.terms)
        return item, [one.memory.id for one in self.recalled if is_used(one, said, heard)]

    def to_json(self) -> str:
        """The open turn as text, to be finished later or elsewhere by `Metacognition.finish`.

        It holds what stood before the model, memories among it: keep it where you keep the conversation.
        """
        return suspended.dumped(self, self._adaptations, self._conditions)

    @classmethod
    async def resume(cls, owner: Mind, kept: str) -> Self:
        """The turn that `to_json` wrote, open again; memories that were erased meanwhile are gone from it.

        Raises:
            InputError: the text is no turn.
        """
        was = suspended.loaded(kept)
        turn = cls(owner, was.user, was.session, was.message, was.model)
        turn._begun, turn._is_resumed = time.perf_counter(), True
        turn.metadata, turn.told = was.metadata, was.told
        with turn.kept_from_host("resume"), on_behalf_of(turn.user):
            await turn._restore(was)
        return turn

    async def _restore(self, was: suspended.Suspended) -> None:
        self.words, self.confidence, self.personal = was.words, was.confidence, was.personal
        self.lessons, self.insights, self.mend = was.lessons, was.insights, was.mend
        self.history, self._adaptations = was.history, was.adaptations
        self._regulation = Regulation(controls=was.controls, skipped=was.skipped)
        self._conditions, self.saved = was.conditions, dict(was.saved)
        place = await self._owner.store.place(self.user, self.session)
        await self._take_secrets(place, was.number)
        self._analysis = analysed(self._content, next(iter(self.identity.languages), "en"))
        await self._owner.resume(place)
        ids = [one.memory.id for one in was.recalled]
        held = await self._owner.store.run(statements.held, place, was.number, self._content, ids)
        if held is None:
            self.troubles.append(GONE.format(number=was.number, session=self.session))
            return
        self._place, self.number, self.is_read = place, was.number, was.is_read
        self.recalled = tuple(one for one in was.recalled if one.memory.id in held)
        if len(self.recalled) < len(was.recalled):  # reasons quote what is gone
            self.confidence = replace(was.confidence, reasons=(say("why.sure", "reason.erased").text,))


async def _uncut(work: Coroutine[Any, Any, None]) -> None:
    """Await work to its end, also where the waiter is cancelled: then whether it was done is known, and not before."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _known(embed: Embed, vectors: Mapping[str, Vector], text: str) -> Vector:
    """The vector of a text, made where the turn has none of it yet."""
    known = vectors.get(text)
    return embedded(embed, text) if known is None else known


def _is_data(text: str) -> bool:
    """Whether a text is JSON, as structured output comes from a provider."""
    return text.lstrip()[:1] in {"{", "["} and is_structured(text)
