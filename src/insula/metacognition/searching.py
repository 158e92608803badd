"""Search of a user's memories: by meaning and by words, with how likely what was asked is remembered at all."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_question
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.embedding import embed_all, predict_personal, read_requests
from insula.memory.retrieval.query import build_cue
from insula.memory.storage import views
from insula.memory.storage.filters import Filter
from insula.memory.storage.rows import Place
from insula.memory.storage.store import Recollection
from insula.memory.storage.vectors import Vector
from insula.metacognition.engine import Engine
from insula.metacognition.reading import analyse_redacted, question_text
from insula.operations.facts import FACTS, FactPage, describe_facts
from insula.operations.memories import PAGE
from insula.redaction import redact
from insula.text.analysis import clean_text
from insula.text.pasted import split_units
from insula.turn.gate import most_personal
from insula.types import Bearing, Confidence, Level, Memory

LOOKED_AT = 100
"""Memories that are ranked by meaning."""
BY_WORDS = 1_000
"""Memories that share words with a query and are looked through for those that a filter wants."""
NEAREST = 5
"""Lines that are named where nothing was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A memory that a search brought."""

    memory: Memory
    score: float
    """How well it fits, in [0, 1]; 0 where it only shares a word with the query."""
    bearing: Bearing
    """What it has to do with the query: it `answers`, did once (`history`), `bears` on it, or is an `other` matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search brought."""

    level: Level
    """How sure it is that memory holds what was asked."""
    score: float
    """The same as a probability."""
    hits: tuple[SearchHit, ...]
    """What answers the query or shares words with it, best first."""
    nearest: tuple[SearchHit, ...] = ()
    """Where there are no hits, the lines that come nearest; they answer nothing."""

    @property
    def answered(self) -> bool:
        """Whether what was asked is likely among the hits."""
        return self.level != "low"


NOTHING = SearchResult(level="low", score=0.0, hits=())


async def search_memories(engine: Engine, user: str, query: str, wanted: Filter, limit: int) -> SearchResult:
    """What of a user's memories answers a query or shares words with it, best first; nothing is written by it.

    Args:
        query: a question, or words.
        wanted: which memories may be found.
        limit: how many at most.
    """
    text = redact(clean_text(query)).strip()
    user_id = await engine.store.nights.find_user_id(user)
    if user_id is None or not text:
        return NOTHING
    place = Place(user_id=user_id, session_id=0, user=user, session="")
    recollection, sure, by_words = await _retrieve_hits(engine, place, text)
    ranked = {
        recalled.memory.id: SearchHit(memory=recalled.memory, score=recalled.score, bearing=recalled.bearing)
        for recalled in recollection.recalled
    }
    held = await engine.store.read(views.find_containing, user, text, wanted, limit)
    ids = list(dict.fromkeys([*ranked, *by_words, *held]))
    kept = await engine.store.read(views.find_memories, user, ids, wanted)
    hits = [
        SearchHit(memory=kept[number], score=old.score if old else 0.0, bearing=old.bearing if old else "bears")
        for number in ids
        if number in kept
        for old in [ranked.get(number)]
    ]
    literal = {*by_words, *held}
    good = [hit for hit in hits if hit.bearing in {"answers", "history"} or hit.memory.id in literal]
    level: Level = sure.level if any(hit.bearing == "answers" for hit in good) else "low"
    near = () if good else tuple(hits[: min(limit, NEAREST)])
    score = sure.score if level == sure.level else 0.0
    return SearchResult(level=level, score=score, hits=tuple(good[:limit]), nearest=near)


async def _retrieve_hits(engine: Engine, place: Place, text: str) -> tuple[Recollection, Confidence, Sequence[int]]:
    """What memory brings for a text, how sure that makes, and the ids of what shares words with it, best first."""
    languages, speakers = await engine.read_voices(place)
    default = next(iter(languages), "en") if len(languages) == 1 else "en"
    analysis = analyse_redacted(text, next(iter(engine.identity.languages), default))
    asked = build_cue(analysis, USER, ASSISTANT, languages - {analysis.language})
    whole, pieces = question_text(analysis, speakers), split_units(analysis)
    vectors = await _embed_texts(engine, [whole, *pieces])
    sought = most_personal(pieces, [predict_personal(engine.embed, piece, vectors) for piece in pieces])
    questions = [
        question for piece in sought for question in extract_question(piece, analysis.language, USER, ASSISTANT)
    ]
    vectors |= await _embed_texts(engine, [question.text for question in questions])
    read = read_requests(engine.embed, (whole, *sought, *(question.text for question in questions)), vectors)
    recollection = await engine.store.memories.recall_memories(
        place,
        asked,
        LOOKED_AT,
        sought=[read[each] for each in (whole, *sought) if each in read],
        asked=[question._replace(request=read.get(question.text)) for question in questions],
    )
    learned = await engine.read_learned(place)
    sure = engine.estimate(
        asked, recollection, context=frozenset(), identity=engine.identity, calibration=learned.calibration
    )
    return recollection, sure, await engine.store.memories.search_index(place, asked, BY_WORDS)


async def _embed_texts(engine: Engine, texts: Sequence[str]) -> dict[str, Vector]:
    """The vectors of some texts; none where there is no embedding."""
    new = [text for text in dict.fromkeys(texts) if text]
    if engine.embed is None or not new:
        return {}
    return await asyncio.to_thread(embed_all, engine.embed, new)


async def search_facts(engine: Engine, user: str, query: str, limit: int = PAGE) -> FactPage:
    """The facts that answer a question or share words with it, best first."""
    with on_behalf_of(user):
        result = await search_memories(engine, user, query, FACTS, limit)
        return FactPage(facts=await describe_facts(engine.store, user, [hit.memory for hit in result.hits]))
