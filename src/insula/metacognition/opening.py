"""The first half of a turn: what memory holds for a message, what the model is told, and the message written down."""

import asyncio
import logging
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf

from insula import telemetry
from insula.claims import quote, say
from insula.content import plain
from insula.errors import InsulaError
from insula.guidance import SHOWN
from insula.language.handed import UsersWords, announcing, users_words
from insula.language.heads import chance
from insula.language.units import units
from insula.memory import assertion, telling
from insula.memory.cue import Cue, cue
from insula.memory.embedding import embedded_all
from insula.memory.encoding import ASSISTANT, USER, encode
from insula.memory.hearing import meant_wishes, requests_before
from insula.memory.index import CANDIDATES
from insula.memory.item import REMEMBERED_CHARS, new_item
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.lessons import Version
from insula.memory.storage.rows import Place, Said, Unembedded
from insula.memory.storage.store import Recollection
from insula.memory.storage.vectors import Embed, Vector
from insula.memory.wishes import OwnWish, is_all
from insula.metacognition.finishing import TurnResult
from insula.metacognition.meaning import question
from insula.metacognition.mind import Learned, Mind
from insula.metacognition.reading import analysed, chosen, memorable, named_talkers, terms_of
from insula.night import forgetting as erasing
from insula.redaction import may_answer, take_answer
from insula.session.adaptation import Adaptation, Stage
from insula.session.conditions import Reason
from insula.session.control import Regulation
from insula.session.saved import Advisory, Lever, Saved, advisories
from insula.session.snapshot import Snapshot
from insula.telemetry import evaluated, span
from insula.text.analysis import UNKNOWN, Analysis, analyse, clean
from insula.text.payload import is_payload
from insula.text.questions import Ask, asks
from insula.text.wishing import Wish
from insula.turn import confidence, forgetting, insights, lessons, limits, mending, wishes
from insula.turn.gate import Gate, gate, most_personal
from insula.turn.instructions import asked_for, compose
from insula.turn.mending import Mend
from insula.turn.relevance import best_odds, choose_lines, choose_sure_lines
from insula.types import Confidence, Controls, Identity, Recalled, Signal, Usage

log = logging.getLogger(__name__)

LATEST = 20
"""Memories among which stands what the user said just before."""
OFFERS = 1_000
"""Sessions in which an erasure is offered at once."""
LIMITS = 16
"""Memories that are looked through for what limits an answer."""
ASKED_BEFORE = 3
"""Lines said before a message that may ask for the secret that it is."""
HISTORY_LINES = 24
"""Lines of the session that a turn looks back on."""


class Opening:
    """What a turn does before its model is asked; see `Turn`, which goes on from here."""

    _own: UsersWords | None = None
    """What of the message the user said themselves, and did not hand over."""

    def __init__(self, owner: Mind, user: str, session: str, message: object, model: str = "") -> None:
        self._owner = owner
        self.user, self.session = user, session
        self.troubles: list[str] = []
        self.added = 0.0
        self.message = self.metadata = self.told = ""
        with self.kept_from_host("message"):
            self.message = clean(plain(message))
        self.model = model
        self.snapshot: Snapshot | None = None
        self.confidence = Confidence(level="low", score=0.0, reasons=(say("why.sure", "reason.unread").text,))
        self.recalled: tuple[Recalled, ...] = ()
        self.lessons: tuple[lessons.Used, ...] = ()
        self.mend: Mend | None = None
        self.wishes: tuple[wishes.Standing, ...] = ()
        self.heard: tuple[Wish, ...] = ()
        """What this message made stand for every answer from now on; empty for a request of the moment."""
        self.insights: tuple[insights.Recalled, ...] = ()
        self.history: tuple[Said, ...] = ()
        self.words = compose(owner.identity, ())
        self.personal = False
        self.memories = 0
        """How many of the user's memories were looked through."""
        self.number = 0
        self.result: TurnResult | None = None
        self.signals: tuple[Signal, ...] = ()
        self.promoted = 0
        self.over = False
        self._regulation = Regulation(controls=owner.controls)
        self._conditions: tuple[Reason, ...] = ()
        self.saved: dict[Lever, Saved] = {}
        self._limits: tuple[Recalled, ...] = ()
        self._adaptations: tuple[Adaptation, ...] = ()
        self._begun = 0.0
        self._trace = span(telemetry.TURN)
        self._guidelines = ""
        self._calibration = owner.calibration
        self._usage = Usage()
        self._place: Place | None = None
        self.is_read = False
        self._content, self._stuck, self._secrets = "", "", dict[str, str]()
        self._wished: tuple[OwnWish, ...] = ()
        self._analysis: Analysis | None = None
        self._vectors: dict[str, Vector] = {}
        self._speakers: frozenset[str] = frozenset()
        self._unembeddable = self._is_resumed = False
        self._unembedded: tuple[Unembedded, ...] = ()
        self._asked_again = 0
        self._gate = Gate(None)
        self.forgetting: forgetting.Heard | None = None

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

    @property
    def usual(self) -> Controls:
        """What a turn may use where all is well."""
        return self._owner.controls

    @property
    def advisories(self) -> tuple[Advisory, ...]:
        """What this turn went without because its model is slow or working memory full; mostly nothing."""
        return advisories(self.saved, self._conditions)

    def note_saved(self, lever: Lever, saved: Saved) -> None:
        """Count what this turn goes without; a host says so of the history and the calls that it leaves out."""
        if saved:
            self.saved[lever] = self.saved.get(lever, Saved()) + saved

    async def look(self) -> None:
        """Recall, and compose what the model is told."""
        with self.kept_from_host("recall"), span(telemetry.RECALL) as traced, on_behalf_of(self.user):
            await self._recall()
            traced.set(limit=self.controls.max_context_items, recalled=len(self.recalled))

    async def _recall(self) -> None:
        owner = self._owner
        place = self._place = await owner.store.place(self.user, self.session)
        await self._take_secrets(place)
        await self._take_offer()
        spoken = await owner.languages(place)
        likely = next(iter(spoken), "en") if len(spoken) == 1 else "en"
        self._analysis = analysed(self._content, next(iter(owner.identity.languages), likely))
        asked = cue(self._analysis, USER, ASSISTANT, spoken - {self._analysis.language})
        stands = await owner.resume(place)
        with self.kept_from_host("regulate"):
            self._regulate()
        self._speakers = await owner.speakers(place)
        whole = question(self._analysis, self._speakers)
        await self._read(announcing(self._content, ()))
        pieces = units(self._read_own(()))
        await self._read([whole, *pieces])
        named = named_talkers(self._analysis, self._speakers)
        personal = [chance("personal", one, self._vectors.get(one)) for one in pieces]
        self._gate = gate(self._analysis, personal, named)
        vector = self._vectors.get(whole)
        sought = most_personal(pieces, personal)
        questions = [
            one for piece in sought for one in assertion.read_question(piece, self._analysis.language, USER, ASSISTANT)
        ]
        await self._read(one.text for one in questions)
        questions = [one._replace(vector=self._vectors.get(one.text)) for one in questions]
        near = [self._vectors[one] for one in (whole, *sought) if one in self._vectors]
        limit, usual = self.controls.max_context_items, owner.controls.max_context_items
        found = await owner.store.memories.recall(
            place,
            asked,
            usual + HISTORY_LINES,
            lines=HISTORY_LINES,
            vectors=near,
            asked=questions,
            candidates=CANDIDATES * limit // usual if limit < usual else CANDIDATES,
        )
        self.is_read = True
        self._limits = await self._limiting(place, self._analysis, vector, found.recalled)
        more, found = chosen(found.recalled, usual), found._replace(recalled=chosen(found.recalled, limit))
        self.recalled, self.history = self._with_limits(found.recalled), found.said
        self.memories = found.statistics.memories
        if self.forgetting is None and forgetting.is_request(
            {one: self._vectors[one] for one in pieces if one in self._vectors}
        ):
            with self.kept_from_host("forget"):
                self.forgetting = await self._offer_erasure(found.recalled)
        before = owner.judged((self.user, self.session))
        left = (before.shortfall if before else None) or mending.unsolved_of(stands.impasse)
        self.mend = mending.mend(left, self._analysis.language, place.session_id, owner.holdout, owner.claims)
        known = await self._known(place, stands.version)
        with self.kept_from_host("wishes"):
            await self._read(announcing(self._content, self.history))
            own = units(self._read_own(self.history))
            read = {one: self._vectors[one] for one in own if one in self._vectors}
            if self._own:
                self._wished = meant_wishes(self._own, read, self._analysis.language, self.history)
        learned = self._learned(known, place, self._analysis) if known else ()
        self._prepare(self._analysis, asked, found, learned, self._with_limits(more) if limit < usual else ())
        self.note_saved("max_context_items", Saved(candidates=found.unscored or None))

    async def _take_secrets(self, place: Place, number: float = inf) -> None:
        """Take the secrets out of the message, those among them that a line before this turn asked for."""
        answers = may_answer(self.message)
        lines = await self._owner.store.sessions.transcript(place, ASKED_BEFORE) if answers else ()
        before = [(line.provenance == "user", line.content) for line in lines if line.turn < number]
        self._content, self._secrets = take_answer(self.message, before)

    def _read_own(self, before: Sequence[Said]) -> Analysis:
        """The analysis of what of the message the user said themselves, and did not hand over."""
        assert self._analysis is not None  # noqa: S101 it was read above
        self._own = users_words(self._content, USER, before, self._hands_over)
        same = self._own.text == self._content
        return self._analysis if same else analysed(self._own.text, self._analysis.language)

    def _hands_over(self, words: str) -> float | None:
        return chance("handed", words, self._vectors.get(words))

    async def _take_offer(self) -> None:
        """Erase what the message before offered, where this one is a yes; any other lets the offer lapse."""
        offer = self._owner.offers.pop((self.user, self.session), None)
        if offer is None or not forgetting.is_assent(self.message):
            return
        with self.kept_from_host("forget"):
            await erasing.erase(self._owner.store, self.user, self._owner.soul(self.user), *offer.memories)
            self.forgetting = forgetting.Heard(erased=len(offer.lines))
            self._owner.backlog.again(self.user)

    async def _offer_erasure(self, recalled: Sequence[Recalled]) -> forgetting.Heard:
        """What a request to forget means, which a yes erases."""
        assert self._analysis is not None  # noqa: S101 it was read above
        latest = await self._owner.store.memories.remembered(self.user, LATEST)
        said = [memory for memory, _ in latest if memory.session == self.session and memory.provenance == "user"]
        before = [memory for memory in said if memory.kind == "semantic"]
        found = forgetting.find_meant(self._analysis.terms, recalled, before)
        lines, numbers = (forgetting.short(one.content) for one in found), (one.id for one in found)
        return forgetting.Heard(forgetting.Offer(tuple(lines), tuple(numbers)) if found else None)

    def _await_yes(self, request: int) -> None:
        """Let a yes as the next message erase what is offered, and the request, which holds its words."""
        if self.forgetting and (offer := self.forgetting.offer):
            offers = self._owner.offers
            offers[self.user, self.session] = offer._replace(memories=(*offer.memories, request))
            if len(offers) > OFFERS:
                offers.popitem(last=False)

    def _with_limits(self, recalled: Sequence[Recalled]) -> tuple[Recalled, ...]:
        named = {one.memory.id for one in recalled}
        return (*recalled, *(one for one in self._limits if one.memory.id not in named))

    async def _limiting(
        self, place: Place, message: Analysis, vector: Vector | None, recalled: Sequence[Recalled]
    ) -> tuple[Recalled, ...]:
        """The allergies and diets that limit an answer, where the message is about food.

        In the first turn in a language they are looked for whatever it is about; what food is, is read after it.
        """
        known = self._owner.near_food.get(message.language)
        if vector is None or (known is not None and not limits.is_near(vector, known)):
            return ()
        asked = cue(analysed(limits.question(message.language), message.language), USER, ASSISTANT, frozenset())
        found = await self._owner.store.memories.recall(place, asked, LIMITS)
        told = {one.memory.id: one for one in limits.limits([*found.recalled, *recalled])}
        return tuple(told.values()) if told and await self._is_about_food(vector, message.language) else ()

    async def _is_about_food(self, vector: Vector, language: str) -> bool:
        await self._read_food(language)
        return limits.is_near(vector, self._owner.near_food.get(language, ()))

    async def _read_food(self, language: str) -> None:
        """Make the vectors of what is about food in a language, once in a process; what fails, the next turn tries."""
        near = self._owner.near_food
        if self._embed is not None and language not in near:
            texts = limits.food(language)
            await self._read(texts)
            if all(one in self._vectors for one in texts):
                near[language] = tuple(self._vectors[one] for one in texts)

    @property
    def _embed(self) -> Embed | None:
        """What makes vectors in this turn; None where there are none to be had."""
        return None if self._unembeddable else self._owner.embed

    @property
    def _puts_off(self) -> bool:
        """Whether the vector of the response is made after the turn, which nobody waits for."""
        return "embedding" in self.skipped and self._owner.embed is not None

    async def _read(self, texts: Iterable[str]) -> None:
        """Make the vectors of some texts at once, each of them once in a turn."""
        new = [text for text in dict.fromkeys(texts) if text and text not in self._vectors]
        if (embed := self._embed) is None or not new:
            return
        self._unembeddable = True
        with self.kept_from_host("embed"):
            self._vectors.update(zip(new, await asyncio.to_thread(embedded_all, embed, new), strict=True))
            self._unembeddable = False

    def _regulate(self) -> None:
        """Let the conditions of the session decide what this turn may use (S5, S6); its settings stay as they are."""
        owner = self._owner
        begun = owner.regulator.begin((self.user, self.session), self.model, owner.store.now())
        self._regulation, self._adaptations = begun.regulation, begun.adaptations
        self._conditions = begun.conditions.reasons

    async def _known(self, place: Place, version: Version) -> Learned | None:
        """What nights have learned of the user; nothing where it cannot be read."""
        with self.kept_from_host("lessons"):
            return await self._owner.learned(place, version)
        return None

    def _learned(self, known: Learned, place: Place, asked: Analysis) -> tuple[lessons.Used, ...]:
        """The lessons that the message brings up."""
        with self.kept_from_host("lessons"):
            self._guidelines, self._calibration = known.guidelines, known.calibration
            before = requests_before(self.history, asked.language, self._hands_over) if known.wishes else ()
            said = (*before, *self._wished) if known.wishes else ()
            self.wishes = wishes.told(known.wishes, asked.terms, said, payload=is_payload(self._content))
            held = self._owner.holdout
            self.insights = insights.recalled(known.insights, asked.terms, place.session_id, held)
            return lessons.drawn(lessons.triggered(known.advice, asked.terms), place.session_id, self._owner.holdout)
        return ()

    async def _write(self) -> None:
        """Write the message down before the model is asked, so that nothing that follows can lose it."""
        if self._analysis is None or self._place is None:
            return
        whole, own = memorable(self._content, self._analysis), self._own.text if self._own else ""
        kept = whole if own == self._content else memorable(own, analysed(own, whole.language))
        before = [assertion.Said(said.content, said.provenance == "user") for said in self.history]
        units = telling.units(kept, before)
        await self._read(one.meant for one in units)
        facts = telling.facts_of(units, self._vectors)
        stated = assertion.statements(kept, USER, ASSISTANT, before, [one.text for one in facts])
        encoding, asked = encode(whole, USER, ASSISTANT), self._questions_before()
        told = telling.line(facts, kept.language)
        item = new_item(whole, encoding, "user", USER, self.recalled, asked, stated, told)
        item = item._replace(content=self._content, metadata=self.metadata)
        self.told = "" if item.withheld else item.line
        own = any(one.own for one in facts)  # "I'm not vegetarian any more" is a fact, too
        if not own and is_all([one for one in self._wished if one.slots or not stated], self._content):
            item = item._replace(kind="episodic")  # it is told from the ledger, where the newest counts, or not at all
        begun = await self._owner.store.sessions.begin(self._place, item)
        self.number, self._unembedded = begun.turn, begun.unembedded
        self._await_yes(begun.memory)
        self._owner.saw(self._place, self._analysis.language, USER)
        if self._wished:
            self.heard = await self._owner.store.sessions.hear(self._place, self.number, self._wished)

    def _prepare(
        self,
        message: Analysis,
        asked: Cue,
        found: Recollection,
        learned: tuple[lessons.Used, ...],
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
        owner, identity = self._owner, self._owner.identity
        self.confidence = owner.estimate(
            asked,
            found,
            context=terms_of(self.history),
            identity=identity,
            calibration=self._calibration,
        )
        guidance = [identity.guidance[topic] for topic in confidence.topics(asked, identity)]
        near, far = self.wishes[: wishes.NEAREST], self.wishes[wishes.NEAREST :]
        told = [*(quote("wish", wish.text) for wish in far), *lessons.told(learned), *insights.told(self.insights)]
        untold = self._gate.is_certain
        self.personal = untold or self._lets_in(self.recalled)
        composed = partial(
            compose,
            identity,
            limits=self._limits,
            untold=untold,
            doubtful=self.confidence.level == "low" and not self._gate.talkers,
            language=asked.language,
            guidelines=self._guidelines,
            guidance=guidance,
            lessons=told,
            mend=self.mend.said if self.mend else None,
            forgetting=self.forgetting.told(self._analysis.language) if self.forgetting and self._analysis else None,
            wishes=[wish.text for wish in near],
            claims=owner.claims,
        )
        self.words = composed(self._lines(self.recalled, self.controls.max_context_items))
        if more:
            unshown = composed(self._lines(more, self.usual.max_context_items)).shown - self.words.shown
            self.note_saved("max_context_items", Saved(memories=len(unshown) or None))
        if not self.words.shown > {one.memory.id for one in self._limits}:
            self.confidence = confidence.untold(self.confidence, self._calibration)
        evaluated("confidence", self.confidence.score, self.confidence.level)
        self.lessons = (*(lessons.Used(wish.id, SHOWN, wish.text) for wish in self.wishes), *learned)

    def _lets_in(self, recalled: Sequence[Recalled]) -> bool:
        """Whether lines of what was recalled may stand before the model."""
        return self._gate.lets_in(best_odds(recalled))

    def _lines(self, recalled: Sequence[Recalled], most: int) -> Sequence[Recalled]:
        """The lines of what was recalled that may stand before the model; at most so many that likely answer."""
        if not self._lets_in(recalled):
            without_vectors = self._gate.personal is None
            return choose_sure_lines(recalled, most) if without_vectors else tuple(filter(asked_for, recalled))
        if not self._gate.talkers:
            return choose_lines(recalled, most)
        return tuple(filter(asked_for, recalled)) if self.confidence.level == "low" else recalled

    def _questions_before(self) -> tuple[Ask, ...]:
        if not self.history or self.history[-1].provenance != "assistant":
            return ()
        return asks(analyse(self.history[-1].content[:REMEMBERED_CHARS]))

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
