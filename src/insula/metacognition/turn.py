"""One exchange: what memory holds for it, what the model is told, and what becomes of the answer."""

import asyncio
import logging
import time
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Collection,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from types import TracebackType
from typing import Any, Self, overload

from insula import telemetry
from insula.claims import quote_claim, say_claim
from insula.content import Content, plain_text, read_content
from insula.errors import InputError, InsulaError
from insula.guidance import SHOWN
from insula.language.forget import ForgetRequest, find_request, name_terms
from insula.language.handed import UsersWords, announcing_words, users_words
from insula.language.heads import predict_chance
from insula.language.owner import ASSISTANT, USER
from insula.language.preferences import Preference
from insula.language.statements import extract_question
from insula.memory.item import REMEMBERED_CHARS, NewItem, new_item
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.embedding import embed_all, embed_text, find_vectors, predict_personal, read_requests
from insula.memory.retrieval.index import CANDIDATES
from insula.memory.retrieval.query import Cue, build_cue, encode_claims
from insula.memory.retrieval.retrieve import Recollection
from insula.memory.storage import statements, views
from insula.memory.storage.filters import Filter
from insula.memory.storage.rows import Embedded, Place, TranscriptLine, Unembedded
from insula.memory.storage.store import check_types
from insula.memory.storage.vectors import Embed, Vector, embed_normalised
from insula.memory.wishes import OwnWish, texts_of, wishes_of
from insula.metacognition import outcome
from insula.metacognition.engine import Engine, LearnedGuidance, check_options, is_usage
from insula.metacognition.hearing import hear_message
from insula.metacognition.observing import keep_remainders
from insula.metacognition.outcome import TOPIC_TERMS, TurnResult, pass_pieces
from insula.metacognition.reading import (
    analyse_memorable,
    analyse_redacted,
    choose_recalled,
    embedded_rows,
    is_used,
    memory_text,
    named_talkers,
    question_text,
    terms_of,
    texts_to_embed,
)
from insula.metacognition.suspended import SuspendedTurn, read_suspended, suspend_turn
from insula.night import curation
from insula.redaction import may_answer, redact, take_answer, take_echoes
from insula.session.conditions import DEGRADED, STM_HIGH, Reason, observe_turn
from insula.session.regulator import EndedTurn, Regulation
from insula.session.snapshot import Adaptation, Advisory, Lever, Saved, Snapshot, Stage, make_advisories
from insula.telemetry import open_span
from insula.text.analysis import UNKNOWN, Analysis, analyse_text, clean_text
from insula.text.pasted import is_payload, is_structured, split_units
from insula.text.questions import Ask, find_asks
from insula.turn import confidence, feedback, forgetting, guidance, monitor
from insula.turn.feedback import Feedback, HedgedResponse, hedge_response
from insula.turn.gate import MemoryGate, decide_gate, most_personal
from insula.turn.instructions import choose_limits, choose_lines, compose_instructions, lets_in
from insula.turn.monitor import Logprobs, weigh_likelihood
from insula.types import (
    ADAPTATION,
    IMPASSE,
    TURN,
    AdaptationRecord,
    Assessment,
    Confidence,
    Controls,
    Identity,
    ImpasseRecord,
    Memory,
    Recalled,
    Signal,
    SignalKind,
    SignalRecord,
    Usage,
)

log = logging.getLogger(__name__)

HOLDING, ASKING_CHARS = 3, 300
"""Lines at most that hold what a request to forget names, and are no facts; and characters of them that are read."""
LATEST = 20
"""Memories among which stands what the user said just before."""
ASKED_BEFORE = 3
"""Lines said before a message that may ask for the secret that it is."""
HISTORY_LINES = 24
"""Lines of the session that a turn looks back on."""
REASON_CHARS = 300
"""Characters of why an agent is stuck that stand on the ledger."""
GONE = "The message of turn {number} of session {session!r} is no longer in memory; nothing was written of its answer."
UNOPENED = "The turn was never opened, so nothing was recalled or kept; enter it with `async with`, or use `begin`."
TWICE = "Turn {number} of session {session!r} was finished before; nothing was written a second time."


class Turn:
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
        memories: how many of the user's memories were looked through.
        forgetting: what the message wants forgotten, which a yes erases.
        lessons: those that the message brought up, each with whether it was told or withheld.
        mend: what fell short in the turn before, with the sentence for the model, or that it is withheld.
        wishes: the user's standing wishes that this turn is told, what matters most first.
        insights: what nights understood that the message brought up, each with whether it was told or withheld.
        heard: what this message made stand for every answer from now on; empty for a request of the moment.
        ended: what it took back of that, in the words in which it stood.
        snapshot: how the session looks from outside, where a snapshot was due when the turn was over.
        conditions: what holds of the session.
        adaptations: what those changed for this turn.
        saved: what it goes without because its model is slow or working memory full, by lever.
        metadata: what the host says of it, as it is kept.
        is_guest: whether the agent runs elsewhere and has an identity of its own.
        told: what this message tells of the user's life, in their words; mostly nothing.
        number: the turn's number within its session, from 1; 0 where it could not be written.
        result: what `finish` returned; None where there was no answer yet.
        over: whether the turn was left; then nothing of it is written a second time.
        signals: everything noticed in this turn, once it is over.
        promoted: how many items went to long-term memory.
        added: seconds that metacognition took, once the turn is over.
        troubles: sentences on what failed in Insula itself.
    """

    def __init__(self, engine: Engine, user: str, session: str, message: object, model: str = "") -> None:
        self.engine = engine
        self.user, self.session, self.model = user, session, model
        self.troubles: list[str] = []
        self.added, self._is_timed = 0.0, False
        self.message = self.metadata = self.told = ""
        with self.kept_from_host("message"):
            self.message = clean_text(plain_text(message))
        self.analysis: Analysis | None = None
        self.confidence = Confidence(level="low", score=0.0, reasons=(say_claim("why.sure", "reason.unread").text,))
        self.recalled: tuple[Recalled, ...] = ()
        self.lessons: tuple[guidance.UsedGuidance, ...] = ()
        self.mend: Feedback | None = None
        self.wishes: tuple[guidance.ActivePreference, ...] = ()
        self.heard: tuple[Preference, ...] = ()
        self.ended: tuple[str, ...] = ()
        self.insights: tuple[guidance.UsedGuidance, ...] = ()
        self.history: tuple[TranscriptLine, ...] = ()
        self.is_guest = False
        self.words = compose_instructions(self.identity, ())
        self.forgetting: forgetting.ForgetOutcome | None = None
        self._unanswered: forgetting.ErasureOffer | None = None
        self.personal = self.is_read = self.over = False
        self.memories = self.number = self.promoted = 0
        self.result: TurnResult | None = None
        self.signals: tuple[Signal, ...] = ()
        self.snapshot: Snapshot | None = None
        self.saved: dict[Lever, Saved] = {}
        self.adaptations: tuple[Adaptation, ...] = ()
        self.conditions: tuple[Reason, ...] = ()
        self._regulation = Regulation(controls=engine.controls)
        self._begun, self._trace, self._usage = 0.0, open_span(telemetry.TURN), Usage()
        self._place: Place | None = None
        self._content, self._stuck, self._secrets = "", "", dict[str, str]()
        self._own: UsersWords | None = None  # what of the message the user said themselves, and did not hand over
        self._wished: tuple[OwnWish, ...] = ()
        self._limits: tuple[Recalled, ...] = ()
        self._gate = MemoryGate(None)
        self._learned: LearnedGuidance | None = None
        self._vectors: dict[str, Vector] = {}
        self._unembeddable = self._is_resumed = False
        self._unembedded: tuple[Unembedded, ...] = ()
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
        """What stays the same from turn to turn, for the system prompt, so that a provider's cache holds."""
        return self.words.stable

    @property
    def instructions_now(self) -> str:
        """All else that is told in this turn, to be put behind the user's message, within it."""
        return self.words.behind

    @property
    def shown(self) -> frozenset[int]:
        """Ids of the memories that stand before the model; the others came up, and do not bear on the message."""
        return self.words.shown

    @property
    def identity(self) -> Identity:
        """Who the agent is; of a guest nothing is known, and nothing said."""
        return Identity() if self.is_guest else self.engine.identity

    def leave_out_identity(self) -> None:
        """Say nothing of who the agent is, before the turn is opened: a guest's own prompt says it."""
        self.is_guest = True
        self.words = compose_instructions(self.identity, ())

    def leave_out_guidance(self, *, behind: bool = False) -> None:
        """Count no guidance as told that a host keeps from its model.

        Args:
            behind: whether the model reads all but what stands behind the message.
        """
        near = {wish.id for wish in self.wishes[: guidance.NEAREST]}
        self.lessons = tuple(lesson for lesson in self.lessons if behind and lesson.id not in near)
        self.insights = self.insights if behind else ()
        self.mend = None

    @property
    def language(self) -> str:
        """The language of the message as an ISO 639-1 code; "unknown" before it was read."""
        return self.analysis.language if self.analysis else UNKNOWN

    @property
    def controls(self) -> Controls:
        """What this turn may use, as the conditions of the session have it."""
        return self._regulation.controls

    @property
    def skipped(self) -> tuple[Stage, ...]:
        """Stages that this turn goes without, because turns are far too slow."""
        return self._regulation.skipped

    @property
    def advisories(self) -> tuple[Advisory, ...]:
        """What this turn went without, because its model is slow or working memory full."""
        return make_advisories(self.saved, self.conditions)

    def note_saved(self, lever: Lever, saved: Saved) -> None:
        """Count what this turn goes without; a host says so of the history and the calls that it leaves out."""
        if saved:
            self.saved[lever] = self.saved.get(lever, Saved()) + saved

    async def __aenter__(self) -> Self:
        with self.kept_from_host("trace"):
            self._trace.__enter__()
        return await self.open_turn()

    async def open_turn(self) -> Self:
        """Recall, and write the message down, outside of a block; `leave_turn` is its end."""
        self._begun = time.perf_counter()
        await self.before_model()
        await _await_uncut(self._keep_message())
        return self

    async def _keep_message(self) -> None:
        with self.kept_from_host("write"), open_span(telemetry.WRITE), on_behalf_of(self.user):
            await self._write_message()

    async def before_model(self) -> None:
        """Recall, and compose what the model is told."""
        with self.kept_from_host("recall"), open_span(telemetry.RECALL) as traced, on_behalf_of(self.user):
            await self._recall_memories()
            traced.add_attributes(limit=self.controls.max_context_items, recalled=len(self.recalled))

    async def _recall_memories(self) -> None:
        engine = self.engine
        place = self._place = await engine.store.resolve_place(self.user, self.session)
        await self._take_offer()
        stands = await engine.resume_session(place, self._lines_before)
        self._take_secrets(stands.lines)
        with self.kept_from_host("regulate"):
            self._apply_controls()
        spoken, speakers = await engine.read_voices(place)
        likely = next(iter(spoken), "en") if len(spoken) == 1 else "en"
        self.analysis = analyse_redacted(self._content, next(iter(self.identity.languages), likely))
        asked = build_cue(self.analysis, USER, ASSISTANT, spoken - {self.analysis.language})
        whole = question_text(self.analysis, speakers)
        await self._embed_texts(announcing_words(self._content, ()))
        pieces = split_units(self._read_own(()))
        await self._embed_texts([whole, *pieces])
        named = named_talkers(self.analysis, speakers)
        chances = {text: predict_personal(engine.embed, text, self._vectors) for text in {whole, *pieces}}
        personal = [chances[text] for text in pieces]
        self._gate = decide_gate(self.analysis, personal, chances[whole], named)
        sought = most_personal(pieces, personal)
        questions = [
            question
            for piece in sought
            for question in extract_question(piece, self.analysis.language, USER, ASSISTANT)
        ]
        await self._embed_texts(question.text for question in questions)
        read = read_requests(engine.embed, (whole, *pieces, *(question.text for question in questions)), self._vectors)
        limit, usual = self.controls.max_context_items, engine.controls.max_context_items
        recollection = await engine.store.memories.recall_memories(
            place,
            asked,
            usual + HISTORY_LINES,
            lines=HISTORY_LINES,
            sought=[read[text] for text in (whole, *sought) if text in read],
            asked=[question._replace(request=read.get(question.text)) for question in questions],
            requests=[read[text] for text in dict.fromkeys((whole, *pieces)) if text in read],
            candidates=CANDIDATES * limit // usual if limit < usual else CANDIDATES,
        )
        self.is_read = True
        self._limits = choose_limits(self._gate, recollection.limits, recollection.recalled)
        more, recollection = (
            choose_recalled(recollection.recalled, usual),
            recollection._replace(recalled=choose_recalled(recollection.recalled, limit)),
        )
        self.recalled, self.history = self._with_limits(recollection.recalled), recollection.said
        self.memories = recollection.statistics.memories
        left = (self._before.shortfall if self._before else None) or feedback.unsolved_of(stands.impasse)
        self.mend = feedback.draw_feedback(
            left, self.analysis.language, place.session_id, engine.holdout, engine.claims
        )
        with self.kept_from_host("lessons"):
            self._learned = await engine.read_learned(place, stands.version)
        with self.kept_from_host("wishes"):
            await self._embed_texts(announcing_words(self._content, self.history))
            own = self._read_own(self.history)
            if self._own and self._own.text:
                await self._embed_texts(texts_of(own))
                self._wished = wishes_of(self._own, own, self._vectors, self.history)
        with self.kept_from_host("forget"):
            await self._hear_request(pieces, recollection.recalled)
        learned = self._draw_lessons(place, self.analysis, recollection.tasks)
        self._prepare_instructions(
            self.analysis, asked, recollection, learned, self._with_limits(more) if limit < usual else ()
        )
        self.note_saved("max_context_items", Saved(candidates=recollection.unscored or None))

    @property
    def _lines_before(self) -> int:
        """How many lines before this turn may have asked for a secret that its message is."""
        return ASKED_BEFORE if may_answer(self.message) else 0

    def _take_secrets(self, before: Sequence[TranscriptLine]) -> None:
        """Take the secrets out of the message, those among them that a line before this turn asked for."""
        said = [(line.provenance == "user", line.content) for line in before]
        self._content, self._secrets = take_answer(self.message, said)

    def _read_own(self, before: Sequence[TranscriptLine]) -> Analysis:
        """The analysis of what of the message the user said themselves, and did not hand over."""
        assert self.analysis is not None  # noqa: S101 it was read above
        self._own = users_words(self._content, USER, before, self._hands_over)
        same = self._own.text == self._content
        return self.analysis if same else analyse_redacted(self._own.text, self.analysis.language)

    def _hands_over(self, words: str) -> float | None:
        return predict_chance("handed", words, self._vectors.get(words))

    async def _take_offer(self) -> None:
        """Erase what the message before offered, where this one is a yes; an unclear answer is shown it once more."""
        offer = self.engine.offers.pop((self.user, self.session), None)
        if offer is None:
            return
        if forgetting.is_refusal(self.message):
            self.forgetting = forgetting.ForgetOutcome(offer.language, is_declined=True)
        elif forgetting.is_assent(self.message):
            with self.kept_from_host("forget"):
                user, soul = self.user, self.engine.soul(self.user)
                await curation.erase_memories(self.engine.store, user, soul, *offer.memories)
                await keep_remainders(self.engine, user, offer.staying)
                self.forgetting = forgetting.ForgetOutcome(offer.language, erased=len(offer.lines))
                self.engine.backlog.reopen_user(user)
        elif forgetting.is_unclear(self.message) and not offer.is_repeated:
            self._unanswered = offer._replace(is_repeated=True)

    async def _hear_request(self, pieces: Iterable[str], recalled: Sequence[Recalled]) -> None:
        """Offer to erase what the message asks to have forgotten; one that states a preference or takes one back, or
        that refuses what was offered, must name a fact."""
        assert self.analysis is not None  # noqa: S101 it was read above
        asked = self._find_request(pieces, self.analysis)
        declines = self.forgetting is not None and self.forgetting.is_declined
        lifts = declines or any(wish.lifts for wish in self._wished)
        says_more = lifts or any(wish.force == "standing" for wish in self._wished)
        if (self.forgetting is None or declines) and asked and (asked.scope == "named" or not lifts):
            heard = await self._offer_erasure(asked, recalled, facts_alone=says_more)
            self.forgetting = heard if heard and (heard.offer or not says_more) else self.forgetting
        if self.forgetting is None and self._unanswered:
            self.forgetting = forgetting.ForgetOutcome(self._unanswered.language, self._unanswered)

    async def _offer_erasure(
        self, asked: ForgetRequest, recalled: Sequence[Recalled], *, facts_alone: bool
    ) -> forgetting.ForgetOutcome | None:
        """What a request to forget means, which a yes erases; where no fact is meant, the few other lines that hold a
        word of what is named."""
        latest = await self.engine.store.memories.list_memories(self.user, limit=LATEST)
        said = [memory for memory in latest if memory.session == self.session and memory.provenance == "user"]
        heard = forgetting.offer_erasure(asked, self.language, recalled, said)
        if heard is None or heard.offer or facts_alone or asked.scope == "all":
            return heard
        sentences = [sentence.text for sentence in self.analysis.sentences] if self.analysis else []
        for words in (asked.words, *(text for text in sentences if asked.words in text)):
            named = name_terms(words, self.language)
            if lines := await self._find_holding(named):
                return forgetting.offer_lines(lines, asked, self.language, named)
        return heard

    async def _find_holding(self, named: Iterable[str]) -> list[Memory]:
        """The lines that hold the longest of some terms that few lines hold; no requests to forget."""
        for term in sorted(named, key=len, reverse=True):
            numbers = await self.engine.store.read(views.find_containing, self.user, term, Filter(), HOLDING + 1)
            held = await self.engine.store.read(views.find_memories, self.user, numbers)
            read = {number: analyse_text(memory.content[:ASKING_CHARS]) for number, memory in held.items()}
            await self._embed_texts(piece for each in read.values() for piece in split_units(each))
            lines = [held[number] for number, each in read.items() if not self._find_request(split_units(each), each)]
            if 0 < len(lines) <= HOLDING:
                return lines
        return []

    def _find_request(self, pieces: Iterable[str], message: Analysis) -> ForgetRequest | None:
        return find_request({piece: self._vectors[piece] for piece in pieces if piece in self._vectors}, message)

    def _await_yes(self, request: Sequence[int]) -> None:
        """Let a yes as the next message erase what is offered, and the request, where it tells nothing else."""
        if self.forgetting and (offer := self.forgetting.offer):
            self.engine.offers[self.user, self.session] = offer._replace(memories=(*offer.memories, *request))

    def _with_limits(self, recalled: Sequence[Recalled]) -> tuple[Recalled, ...]:
        named = {hit.memory.id for hit in recalled}
        return (*recalled, *(limit for limit in self._limits if limit.memory.id not in named))

    @property
    def _embed(self) -> Embed | None:
        """What makes vectors in this turn; None where there are none to be had."""
        return None if self._unembeddable else self.engine.embed

    @property
    def _puts_off(self) -> bool:
        """Whether the vector of the response is made after the turn, which nobody waits for."""
        return "embedding" in self.skipped and self.engine.embed is not None

    async def _embed_texts(self, texts: Iterable[str]) -> None:
        """Make the vectors of some texts at once, each of them once in a turn."""
        new = [text for text in dict.fromkeys(texts) if text and text not in self._vectors]
        if (embed := self._embed) is None or not new:
            return
        self._vectors.update(known := find_vectors(embed, new))
        if not (new := [text for text in new if text not in known]):
            return
        self._unembeddable = True
        with self.kept_from_host("embed"), open_span(telemetry.EMBEDDING, texts=len(new)):
            try:
                self._vectors.update(await asyncio.to_thread(embed_all, embed, new))
            except InputError as error:
                raise (
                    error.__cause__ or error
                ) from None  # the log tells what a function of the host's raised, and where
            self._unembeddable = False

    async def _embed_all(self, texts: Iterable[str]) -> Mapping[str, Vector]:
        await self._embed_texts(texts)
        return self._vectors

    def _apply_controls(self) -> None:
        """Let the conditions of the session decide what this turn may use (S5, S6); its settings stay as they are."""
        engine = self.engine
        begun = engine.regulator.begin_turn((self.user, self.session), self.model, engine.store.now())
        self._regulation, self.adaptations = begun.regulation, begun.adaptations
        self.conditions = begun.conditions.reasons

    def _draw_lessons(self, place: Place, asked: Analysis, tasks: Collection[str]) -> tuple[guidance.UsedGuidance, ...]:
        """The lessons that the message brings up; wishes and insights with them."""
        if (known := self._learned) is None:
            return ()
        with self.kept_from_host("lessons"):
            said = self.engine.asked_for_now((self.user, self.session), self._wished)
            self.wishes = guidance.select_preferences(
                known.wishes, asked.terms, said, tasks=tasks, payload=is_payload(self._content)
            )
            holdout = self.engine.holdout
            self.insights = guidance.bring_up_insights(known.insights, asked.terms, place.session_id, holdout)
            return guidance.bring_up_lessons(known.advice, asked.terms, place.session_id, holdout)
        return ()

    async def _write_message(self) -> None:
        """Write the message down before the model is asked, so that nothing that follows can lose it."""
        if self.analysis is None or self._place is None:
            return
        whole, own = analyse_memorable(self._content, self.analysis), self._own.text if self._own else ""
        kept = whole if own == self._content else analyse_memorable(own, analyse_redacted(own, whole.language))
        request = self.forgetting.request if self.forgetting else ""
        has_heads = self.engine.embed is embed_text
        heard = await hear_message(
            kept, self._content, self.history, self._wished, request, self._embed_all, has_heads=has_heads
        )
        self._wished = heard.preferences
        encoding, asked = encode_claims(whole, USER, ASSISTANT), self._questions_before()
        told = heard.show_facts(kept.language)
        item = new_item(whole, encoding, "user", USER, self.recalled, asked, heard.statements, told)
        item = heard.set_kind(item._replace(content=self._content, metadata=self.metadata))
        self.told = "" if item.withheld else item.line
        self.number, memory = await self.engine.store.sessions.write_message(self._place, item)
        said_before = self.history[-1].content[:REMEMBERED_CHARS] if self.history else ""
        texts = tuple(dict.fromkeys(stated.text for stated in heard.statements))
        self._unembedded = (Unembedded(memory, item.content[:REMEMBERED_CHARS], item.provenance, said_before, texts),)
        self._await_yes([memory] if heard.is_only_request else [])
        self.engine.note_voice(self._place, self.analysis.language, USER)
        if self._wished:
            ledger = await self.engine.store.sessions.write_preferences(self._place, self.number, self._wished)
            self.heard, self.ended = ledger.stood, ledger.ended

    def _prepare_instructions(
        self,
        message: Analysis,
        asked: Cue,
        recollection: Recollection,
        learned: tuple[guidance.UsedGuidance, ...],
        more: Sequence[Recalled],
    ) -> None:
        """Estimate confidence and compose what the model is told.

        Args:
            message: the user's.
            asked: what it asks of memory.
            found: what memory brought.
            learned: lessons that it brings up.
            more: what memory would have brought, where this turn may use less than usual.
        """
        engine, identity = self.engine, self.identity
        calibration = self._learned.calibration if self._learned else engine.calibration
        self.confidence = engine.estimate(
            asked,
            recollection,
            context=terms_of(self.history),
            identity=identity,
            calibration=calibration,
        )
        own_guidance = [identity.guidance[topic] for topic in confidence.touched_topics(asked, identity)]
        near, far = self.wishes[: guidance.NEAREST], self.wishes[guidance.NEAREST :]
        preferences = [quote_claim("wish", wish.text) for wish in far]
        told = [*preferences, *guidance.told_lessons(learned), *guidance.told_insights(self.insights)]
        untold = self._gate.is_certain
        self.personal = untold or lets_in(self._gate, self.recalled)
        composed = partial(
            compose_instructions,
            identity,
            limits=self._limits,
            untold=untold,
            doubtful=self.confidence.level == "low" and not self._gate.talkers,
            language=asked.language,
            guidelines=self._choose_guidelines(),
            guidance=own_guidance,
            lessons=told,
            mend=self.mend.said if self.mend else None,
            forgetting=self.forgetting.told if self.forgetting else None,
            wishes=[wish.text for wish in near],
            claims=engine.claims,
        )
        choose = partial(choose_lines, self._gate, level=self.confidence.level)
        self.words = composed(choose(self.recalled, self.controls.max_context_items))
        if more:
            unshown = composed(choose(more, engine.controls.max_context_items)).shown - self.words.shown
            self.note_saved("max_context_items", Saved(memories=len(unshown) or None))
        if not self.words.shown > {recalled.memory.id for recalled in self._limits}:
            self.confidence = confidence.lower_untold(self.confidence, calibration)
        self.lessons = (*(guidance.UsedGuidance(wish.id, SHOWN, wish.text) for wish in self.wishes), *learned)

    def _choose_guidelines(self) -> str:
        """What of SOUL.md may apply to the message, by the meaning of it and of its pieces."""
        if self._learned is None:
            return ""
        message = [vector for text, vector in self._vectors.items() if text in self._content]
        return self.engine.choose_guidelines((self.user, self.session), self._learned.guidelines, message)

    def _questions_before(self) -> tuple[Ask, ...]:
        if not self.history or self.history[-1].provenance != "assistant":
            return ()
        return find_asks(analyse_text(self.history[-1].content[:REMEMBERED_CHARS]))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            await self.leave_turn()
        finally:  # whoever cancels a turn gets its trace, too
            with self.kept_from_host("trace"):
                hedged = self.result is not None and self.result.hedged
                self._trace.add_attributes(
                    number=self.number, level=self.confidence.level, hedged=hedged, promoted=self.promoted
                )
                self._trace.__exit__(kind, error, where)

    async def leave_turn(self) -> None:
        """Write down what became of the turn; once, however often it is asked for."""
        if self.over:
            return
        self.over = True
        with self.kept_from_host("exit"), open_span(telemetry.FINISH), on_behalf_of(self.user):
            await self._after_model()
        with self.kept_from_host("snapshot"):
            await self._record_session()
        self.engine.telemetry.added.observe(self.added)
        self.engine.telemetry.turns.labels(self.confidence.level).inc()

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
            InputError: the assessment or the usage is of another type, or a figure of it is.
        """
        remedy = "a Usage of whole numbers, and of seconds, from 0"
        check_options(("assessment", assessment, Assessment, "an Assessment"), ("usage", usage, is_usage, remedy))
        if not self._begun and UNOPENED not in self.troubles:
            log.warning(UNOPENED)
            self.troubles.append(UNOPENED)
        self._usage = usage or Usage()
        given, failed = Content(), len(self.troubles)
        with self.kept_from_host("response"):
            given = read_content(response)
        text = clean_text(given.text)
        result = TurnResult(response=text, assessment=assessment, hedged=False, signals=())
        is_unreadable = len(self.troubles) > failed
        if response is None or is_unreadable or (given.calls and not text.strip()):
            return result
        self.result = result
        with self.kept_from_host("finish"):
            self.result = self._finish_response(
                text, assessment, logprobs, structured=given.structured or _is_data(text)
            )
        return self.result

    def _finish_response(
        self, response: str, assessment: Assessment | None, logprobs: Logprobs | None, *, structured: bool
    ) -> TurnResult:
        engine = self.engine
        with open_span(telemetry.ASSESSMENT) as traced:
            judged = assessment or self._assess_response(response)
            judged = weigh_likelihood(outcome.of_data(judged) if structured else judged, self.analysis, logprobs)
            traced.add_attributes(score=judged.score, flags=judged.flags)
        for flag in judged.flags:
            engine.telemetry.flags.labels(flag).inc()
        hedged = HedgedResponse(response, None)
        if is_silent := "empty" in judged.flags and not response.strip():
            hedged = HedgedResponse(say_claim("silent", "", self.language).text, None)
        elif not structured:
            spoken = outcome.response_language(self, response)
            hedged = hedge_response(response, judged, self.identity, spoken, engine.claims)
        told = outcome.judge_turn(self, judged, response, engine.claims)
        again = outcome.ask_again(self, judged) if self._asked_again < engine.controls.retry else ""
        self._asked_again += bool(again)
        if again and not self.controls.retry:
            again = ""
            self.note_saved("retry", Saved(calls=1))
        left = outcome.shortfall_of(self, judged, self._before)
        notes = outcome.ledger_notes(self, response, judged, told, self._usage, hedged.said, left)
        learned = dict.fromkeys(filter(None, [*outcome.saved_by(self), self.told]))
        return TurnResult(
            response=hedged.text,
            assessment=judged,
            hedged=hedged.said is not None,
            signals=tuple(self._make_signal(*note) for note in notes),
            verdict=told,
            sources=(told.source,) if told.source else (),
            saved=tuple(learned),
            again=again,
            is_silent=is_silent,
        )

    def _assess_response(self, response: str) -> Assessment:
        """The judgement of the self-monitor with what memory held, or of what replaces it (K10)."""
        engine, recent = self.engine, outcome.recent_responses(self)
        if engine.assess is not monitor.assess:
            return engine.assess(self.message, response, recent, self.identity)
        return monitor.assess(
            self.message,
            response,
            recent,
            self.identity,
            memory=outcome.usable_memory(self),
            level=outcome.level_of(self),
            embed=self._embed and partial(_embedded_once, self._embed, self._vectors),
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
        return pass_pieces(self.finish, pieces)

    @property
    def _before(self) -> feedback.JudgedTurn | None:
        """What is kept of the turn before, where it was answered."""
        return self.engine.last_judged((self.user, self.session))

    def stuck(self, reason: str) -> None:
        """Say that the agent is stuck at what was asked, whatever it will answer (K5).

        It stands on the ledger when the turn is over: the next turn is told, and the night learns from it.

        Args:
            reason: why, in a sentence; what the senses say at the top of their ladder, for example.
        """
        check_types(reason=reason)
        self._stuck = redact(clean_text(reason))[:REASON_CHARS]

    def _impasse_signals(self, judged: Assessment | None) -> Iterator[Signal]:
        """Whether the session is stuck: asked once, when the turn is over, however often it was finished."""
        if self._stuck:
            data: ImpasseRecord = {"quoted": {"shortfall": feedback.unsolved_shortfall(self._content).to_record()}}
            yield self._make_signal(IMPASSE, self._stuck, data)
        if judged is None:
            return
        topic, left = outcome.topic_of(self), outcome.shortfall_of(self, judged, self._before)
        if stuck := self.engine.record_judged((self.user, self.session), feedback.summarize_turn(judged, topic, left)):
            yield self._make_signal(IMPASSE, stuck, {"topic": sorted(topic)[:TOPIC_TERMS]})

    def _make_signal(self, kind: SignalKind, reason: str, data: SignalRecord) -> Signal:
        at = datetime.fromtimestamp(self.engine.store.now(), UTC)
        return Signal(
            kind=kind, user=self.user, session=self.session, turn=self.number, reason=reason, at=at, data=data
        )

    async def _embed_message(self, response: str) -> list[Embedded]:
        """The vectors of what was written of the message, which later turns need; read at once with the response's."""
        texts = texts_to_embed(self._unembedded if self.engine.embed else ())
        said = "" if self._puts_off or self.result is None else memory_text(self._content, response, "assistant")
        await self._embed_texts([said, *chain.from_iterable(texts.values())])
        whole = all(text in self._vectors for text in chain.from_iterable(texts.values()) if text)
        return embedded_rows(texts, self._vectors) if whole else []

    async def _after_model(self) -> None:
        if self._place is None or not self.number:
            return
        has_words = self.result is not None and not self.result.is_silent
        content = redact(take_echoes(self.result.response, self._secrets)) if self.result and has_words else ""
        made = await self._embed_message(content)
        if self.result is None:
            self.signals = (self._make_signal(TURN, "no response", {"hedged": False}), *self._impasse_signals(None))
            response, used = None, []
        else:
            self.signals = self.result.signals or (self._make_signal(TURN, "the response was not assessed", {}),)
            self.signals += tuple(self._impasse_signals(self.result.assessment))
            response, used = self._remember_response(self.result, content) if has_words else (None, [])
            self.note_saved("skipped_stages", Saved(vectors=int(self._puts_off) or None))
        self.signals += tuple(map(self._adaptation_signal, self.adaptations))
        engine = self.engine
        kept = await engine.store.sessions.finish_turn(
            self._place, self.number, response, self.signals, used, self.controls, made
        )
        if kept is None:
            self.signals = ()
            engine.backlog.reopen_user(self.user)
            self.troubles.append(TWICE.format(number=self.number, session=self.session))
            return
        self.promoted = len(kept.ages)
        stored, threshold = 1 if response is None else 2, self.controls.consolidation_threshold
        session = self.user, self.session
        waiting = engine.regulator.note_consolidation(session, stored, kept.ages, kept.saliences, threshold)
        self.note_saved("consolidation_threshold", Saved(promotions=waiting or None))
        engine.publish_signals(self.signals)
        if engine.embed is not None and (self._unembeddable or self._puts_off or self._is_resumed):
            engine.backlog.reopen_user(self.user)
        if engine.embed is None or not self._unembeddable:
            engine.backlog.begin_backlog(self._place, engine.embed)

    async def _record_session(self) -> None:
        """Let the session know how the turn went, and write its snapshot down where one is due (S1, S8)."""
        engine = self.engine
        seconds = time.perf_counter() - self._begun
        self._count_turn(seconds)
        at = engine.store.now()
        turn = EndedTurn(
            at=at,
            ms=1000 * seconds,
            answered=self.result is not None,
            stored=bool(self.number),
            observation=observe_turn(self._usage, at),
            advisories=self.advisories,
        )
        self.snapshot = engine.regulator.end_turn((self.user, self.session), self.model, turn)
        if self.snapshot is not None:
            engine.telemetry.snapshots.inc()
            await engine.write_down(self.snapshot)

    def _count_turn(self, seconds: float) -> None:
        count = self.engine.telemetry
        count.note_turn(self.model, seconds)
        count.advisories.inc(len(self.advisories))
        count.degraded.inc(self.conditions.count(DEGRADED))
        count.stm_high.inc(self.conditions.count(STM_HIGH))
        if self.controls.max_context_items < self.engine.controls.max_context_items:
            count.adaptive_retrieval.inc()

    def _adaptation_signal(self, adaptation: Adaptation) -> Signal:
        held = adaptation.model_dump(mode="json", include={"before", "after"})
        data = AdaptationRecord(
            lever=adaptation.lever, reason=adaptation.reason, before=held["before"], after=held["after"]
        )
        if adaptation.lever in self.saved:
            data["saved"] = self.saved[adaptation.lever].model_dump()
        return self._make_signal(
            ADAPTATION, f"{adaptation.lever} from {adaptation.before} to {adaptation.after}: {adaptation.reason}", data
        )

    def _remember_response(self, result: TurnResult, content: str) -> tuple[NewItem, list[int]]:
        """The response as an item of working memory, and the memories that this turn made use of."""
        asked = self.analysis or analyse_text("")
        analysis = analyse_redacted(content, asked.language)
        kept = analyse_memorable(content, analysis)
        item = new_item(kept, encode_claims(kept, ASSISTANT, USER), "assistant", ASSISTANT, self.recalled, ())
        vector = None if self._puts_off else self._vectors.get(memory_text(self._content, content, "assistant"))
        item = item._replace(content=content, vector=vector, metadata=self.metadata)
        if (judged := result.assessment) is not None:
            worth = 1.0 if judged.passed else judged.score
            item = item._replace(score=judged.score, salience=item.salience * worth)
        said, heard = frozenset(analysis.terms).difference(asked.terms), frozenset(asked.terms)
        return item, [recalled.memory.id for recalled in self.recalled if is_used(recalled, said, heard)]

    def to_json(self) -> str:
        """The open turn as text, to be finished later or elsewhere by `Metacognition.finish`.

        It holds what stood before the model, memories among it: keep it where you keep the conversation.
        """
        return suspend_turn(self)

    @classmethod
    async def resume_turn(cls, engine: Engine, kept: str) -> Self:
        """The turn that `to_json` wrote, open again; memories that were erased meanwhile are gone from it.

        Raises:
            InputError: the text is no turn.
        """
        was = read_suspended(kept)
        turn = cls(engine, was.user, was.session, was.message, was.model)
        turn._begun, turn._is_resumed = time.perf_counter(), True
        turn.metadata, turn.told, turn.is_guest = was.metadata, was.told, was.is_guest
        with turn.kept_from_host("resume"), on_behalf_of(turn.user):
            await turn._restore_from(was)
        return turn

    async def _restore_from(self, was: SuspendedTurn) -> None:
        self.words, self.confidence, self.personal = was.words, was.confidence, was.personal
        self.lessons, self.insights, self.mend = was.lessons, was.insights, was.mend
        self.history, self.adaptations = was.history, was.adaptations
        self._regulation = Regulation(controls=was.controls, skipped=was.skipped)
        self.conditions, self.saved = was.conditions, dict(was.saved)
        place = await self.engine.store.resolve_place(self.user, self.session)
        stands = await self.engine.resume_session(place, self._lines_before)
        self._take_secrets([line for line in stands.lines if line.turn < was.number])
        self.analysis = analyse_redacted(self._content, next(iter(self.identity.languages), "en"))
        held = await self._find_held(place, was.number, was.recalled)
        if held is None:
            self.troubles.append(GONE.format(number=was.number, session=self.session))
            return
        self._place, self.number, self.is_read = place, was.number, was.is_read
        self.recalled = tuple(recalled for recalled in was.recalled if recalled.memory.id in held)
        if len(self.recalled) < len(was.recalled):  # reasons quote what is gone
            self.confidence = replace(was.confidence, reasons=(say_claim("why.sure", "reason.erased").text,))

    async def _find_held(self, place: Place, number: int, recalled: Iterable[Recalled]) -> frozenset[int] | None:
        """Which of some memories are still there; None where the message is not."""
        ids = [each.memory.id for each in recalled]
        return await self.engine.store.read(statements.find_present, place, number, self._content, ids)

    async def holds_erased(self) -> bool:
        """Whether the message of an open turn, or a memory that it recalled, was erased since."""
        if self._place is None or not self.number:
            return False
        held = await self._find_held(self._place, self.number, self.recalled)
        return held is None or not held.issuperset(recalled.memory.id for recalled in self.recalled)

    @contextmanager
    def kept_from_host(self, where: str) -> Generator[None]:
        """The edge of law 4: a failure of ours is counted, logged and said, and goes no further; and it is timed."""
        started, is_within, self._is_timed = time.perf_counter(), self._is_timed, True
        try:
            yield
        except InsulaError as error:
            self.engine.telemetry.failures.labels(where).inc()
            log.warning("%s", error)
            self.troubles.append(str(error))
        except Exception as error:
            self.engine.telemetry.failures.labels(where).inc()
            log.exception("Metacognition failed on %s.", where)
            self.troubles.append(f"Insula failed on {where} ({type(error).__name__}); the log says more.")
        finally:
            seconds, self._is_timed = time.perf_counter() - started, is_within
            self.added += 0.0 if is_within else seconds


async def _await_uncut(work: Coroutine[Any, Any, None]) -> None:
    """Await work to its end, also where the waiter is cancelled: then whether it was done is known, and not before."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _embedded_once(embed: Embed, vectors: Mapping[str, Vector], text: str) -> Vector:
    """The vector of a text, made where the turn has none of it yet."""
    known = vectors.get(text)
    return embed_normalised(embed, text) if known is None else known


def _is_data(text: str) -> bool:
    """Whether a text is JSON, as structured output comes from a provider."""
    return text.lstrip()[:1] in {"{", "["} and is_structured(text)
