"""How what was said is read: its terms, its text in the space of meanings, and what of memory was used.

A memory stands where its turn does together with the end of the turn before: an answer ("In May, with Ana.") means
little without what it answers. A question that names somebody who talks here is put as they would put it, since what
they say of themselves says "I".

Vectors and statements that are still to come, of an older store, after a failure or an erasure, are made later. What is
written is written, in whatever moment the process ends; recall goes without the rest until it is there.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from typing import TypeVar

from insula.language.facts import find_fact_candidates, select_facts
from insula.language.handed import users_words
from insula.language.owner import ASSISTANT, USER, short_name
from insula.language.statements import Statement, Utterance, extract_statements
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.retrieval.embedding import embed_all, embed_each, hands_of
from insula.memory.storage import facts, vectors
from insula.memory.storage.rows import Embedded, Place, TranscriptLine, Unembedded, Unstated
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import NOTHING, Embed, Vector, embed_normalised, pack_vector
from insula.redaction import is_redacted, without_markers
from insula.text.analysis import Analysis, Sentence, analyse_text
from insula.turn.instructions import may_show
from insula.types import Recalled

RECENT_RESPONSES = 5
"""Responses of the session that a new one is compared with (DESIGN K1)."""
USED_TERMS = 2
"""Terms that a memory must share with what drew on it to count as used."""
BEFORE_CHARS = 200
"""Of the turn before (best of those tried on conversations, see docs/benchmarks/confidence.md)."""
MEANT_CHARS = 1_000
"""Of the turn itself: a text that is longer means no one thing, and costs a millisecond for each hundred characters."""
REPLY_CHARS = 300
"""Of a reply, which is told only to who asks for it, and is found as well by its beginning: see
docs/benchmarks/speed.md."""
FIRST_PERSON = "I"
"""In any language: the encoder puts all into one space."""


def drop_secret_sentences(content: str) -> str:
    """What of a redacted text is remembered: not the sentences that a secret was taken out of."""
    text = content[:REMEMBERED_CHARS]
    if not is_redacted(text):
        return text
    return "\n".join(sentence.text for sentence in analyse_text(text).sentences if not is_redacted(sentence.text))


def memory_text(before: str, content: str, provenance: str = "user") -> str:
    """The text whose vector is a memory's; empty where nothing of it is remembered.

    Args:
        before: what was said just before it in the session.
        provenance: whose words it is.
    """
    own = drop_secret_sentences(content)[: REPLY_CHARS if provenance == "assistant" else MEANT_CHARS].strip()
    return f"{drop_secret_sentences(before)[-BEFORE_CHARS:]} {own}".strip() if own else ""


def question_text(asked: Analysis, speakers: Iterable[str]) -> str:
    """The text whose vector is a question's: the names of those who talk here are "I"."""
    names = {short_name(speaker) for speaker in speakers} - {USER, ASSISTANT}
    text = " ".join(_put_names(sentence, names) for sentence in asked.sentences) if names else asked.text
    return text[:MEANT_CHARS].strip()


def _put_names(sentence: Sentence, names: Set[str]) -> str:
    text = sentence.text
    for word in reversed(sentence.words):
        if word.text.lower() in names:
            text = text[: word.start] + FIRST_PERSON + text[word.start + len(word.text) :]
    return text


def analyse_redacted(content: str, default: str = "en") -> Analysis:
    """The analysis of a redacted text: of its beginning, and without the markers of what was taken out."""
    return analyse_text(without_markers(content[:REMEMBERED_CHARS]), default=default)


def analyse_memorable(content: str, analysis: Analysis) -> Analysis:
    """The analysis of what of a redacted text is remembered: not the sentences that a secret was taken out of.

    "My key is" with a hole answers nothing; recalled, it would make the agent sure that it knows the key.

    Args:
        analysis: `analyse_redacted` of it, which is returned as it is where nothing was taken out.
    """
    text = drop_secret_sentences(content)
    return analysis if text == content[:REMEMBERED_CHARS] else analyse_text(text, default=analysis.language)


def choose_recalled(recalled: Sequence[Recalled], room: int) -> tuple[Recalled, ...]:
    """What a turn keeps of what came up, best first: before all else what may stand before the model.

    A question that is asked again and again brings up itself and its answers, and would drive out the facts.
    """
    telling = sorted(recalled, key=lambda hit: not may_show(hit))[:room]
    kept = {hit.memory.id for hit in telling}
    return tuple(hit for hit in recalled if hit.memory.id in kept)


def record_recalled(recalled: Sequence[Recalled], shown: frozenset[int]) -> list[dict[str, object]]:
    """What recall brought, as a record holds it."""
    return [{"id": hit.memory.id, "score": round(hit.score, 4), "shown": hit.memory.id in shown} for hit in recalled]


def is_used(recalled: Recalled, said: frozenset[str], heard: frozenset[str]) -> bool:
    """Whether a turn made use of a memory: the response drew on what the user or a tool had said, or the user came
    back to what the assistant had said. That the assistant repeats itself makes nothing of it worth keeping.
    """
    terms = heard if recalled.memory.provenance == "assistant" else said
    return len(terms & recalled.terms) >= USED_TERMS


def terms_of(history: Sequence[TranscriptLine]) -> frozenset[str]:
    """The content words of what the user said last in the session."""
    said = [line.content for line in history if line.provenance == "user"][-RECENT_RESPONSES:]
    return frozenset(term for text in said for term in analyse_text(text[:REMEMBERED_CHARS]).terms)


def named_talkers(asked: Analysis, speakers: Iterable[str]) -> frozenset[str]:
    """Those who talk in what is remembered and whom a message names, lower-case; the user is none."""
    talkers = frozenset(map(short_name, speakers)) - {USER, ASSISTANT}
    words = (word for sentence in asked.sentences for word in sentence.words)
    return frozenset(
        low
        for word in words
        if (low := word.text.lower()) in talkers and (word.text != low or low == low.upper())  # of Will, not of "will"
    )


log = logging.getLogger(__name__)

T = TypeVar("T")

BATCH = 16
"""Memories whose vectors or statements are made and written at once: what a kill loses."""
REST = 3.0
"""What the work in the background rests, as a multiple of what it took: turns come first."""


async def make_vectors(store: Store, user_id: int, embed: Embed, rest: float = 0.0) -> int:
    """Make the vectors of a user that are still to come; returns how many.

    Args:
        rest: how long to rest after each batch, as a multiple of what it took.

    Raises:
        InputError: the embedding made no vector.
        StoreError: the store cannot be used.
    """

    async def make_batch(rows: Sequence[Unembedded]) -> int:
        return await store.memories.write_vectors(user_id, await asyncio.to_thread(_embed_rows, rows, embed))

    like = await asyncio.to_thread(embed_normalised, embed, FIRST_PERSON)
    await store.run(vectors.clear_vectors, user_id, len(pack_vector(like)))
    return await _in_batches(lambda: store.run(vectors.list_unembedded, user_id, BATCH), make_batch, rest)


async def make_statements(store: Store, user_id: int, embed: Embed | None, rest: float = 0.0) -> int:
    """Make the statements of a user's memories that are still to come; the same as `make_vectors` else."""

    async def make_batch(rows: Sequence[Unstated]) -> int:
        made = await asyncio.to_thread(lambda: [(row, _make_statements(row, embed)) for row in rows])
        return await store.run(facts.fill_all_statements, user_id, made)

    return await _in_batches(lambda: store.run(facts.list_unstated, user_id, BATCH), make_batch, rest)


async def _in_batches(
    read: Callable[[], Awaitable[Sequence[T]]], make: Callable[[Sequence[T]], Awaitable[int]], rest: float
) -> int:
    done = 0
    while rows := await read():
        began = time.perf_counter()
        done += await make(rows)
        await asyncio.sleep(rest * (time.perf_counter() - began))
    return done


async def catch_up(store: Store, user: str, embed: Embed | None) -> None:
    """Make all that is still to come of a user, before their night; what fails waits."""
    with on_behalf_of(user):
        if (user_id := await store.nights.find_user_id(user)) is not None:
            await _catch_up(store, user_id, embed)


async def _catch_up(store: Store, user_id: int, embed: Embed | None, rest: float = 0.0) -> None:
    try:
        if embed is not None:
            await make_vectors(store, user_id, embed, rest)
        await make_statements(store, user_id, embed, rest)
    except Exception:
        if not store.closed:  # else the next opening goes on with what is left
            log.exception("The vectors and statements of older memories could not be made.")


class Backlog:
    """The same beside the turns, for each user once in the life of a process, or once more after an erasure."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin_backlog(self, place: Place, embed: Embed | None) -> None:
        """Begin in the background, unless that was done."""
        if place.user not in self._tasks:
            self._tasks[place.user] = asyncio.create_task(_catch_up(self._store, place.user_id, embed, REST))

    def reopen_user(self, user: str) -> None:
        """Let the next turn of a user begin anew."""
        if (task := self._tasks.get(user)) and task.done():
            del self._tasks[user]

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What was begun."""
        return tuple(self._tasks.values())

    async def stop_tasks(self) -> None:
        """Stop what is under way."""
        for task in self.tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()


def texts_to_embed(rows: Iterable[Unembedded]) -> dict[Unembedded, tuple[str, ...]]:
    """The texts whose vectors are to come of some memories: of each its own first, which may be empty."""
    return {row: (memory_text(row.before, row.content, row.provenance), *row.stated) for row in rows}


def embedded_rows(texts: Mapping[Unembedded, Sequence[str]], known: Mapping[str, Vector]) -> list[Embedded]:
    """What is written of memories whose texts' vectors are known."""
    return [
        Embedded(
            row, pack_vector(known[own]) if own else NOTHING, {text: pack_vector(known[text]) for text in row.stated}
        )
        for row, (own, *_) in texts.items()
    ]


def _embed_rows(rows: Iterable[Unembedded], embed: Embed) -> list[Embedded]:
    """The vectors of memories, read all at once."""
    texts = texts_to_embed(rows)
    new = list(dict.fromkeys(text for several in texts.values() for text in several if text))
    return embedded_rows(texts, dict(zip(new, embed_each(embed, new), strict=True)))


def _make_statements(row: Unstated, embed: Embed | None) -> tuple[Statement, ...]:
    content = row.content
    if row.provenance == "user":  # not what they handed over
        content = users_words(content, row.provenance, (), hands_of(embed)).text
    analysis = analyse_text(content[:REMEMBERED_CHARS])
    whole = [sentence.text for sentence in analysis.sentences if not is_redacted(sentence.text)]
    if not whole:
        return ()
    if len(whole) < len(analysis.sentences):
        analysis = analyse_text("\n".join(whole), default=analysis.language)
    teller = row.speaker if row.provenance == "user" else ""
    before = [Utterance(row.before, row.before_speaker == row.speaker)] if row.before else []
    is_judged = teller == USER and row.line != row.content  # what a person writes in a fact's place is one, all of it
    only = _find_facts(analysis, before, embed) if is_judged else None
    return embed_statements(extract_statements(analysis, teller, ASSISTANT, before, only), embed)


def _find_facts(analysis: Analysis, before: Sequence[Utterance], embed: Embed | None) -> list[str]:
    """The sentences of a user's message that tell a fact of their life."""
    candidates = find_fact_candidates(analysis, before)
    weighed = [text for candidate in candidates for text in candidate.weighed]
    return [fact.text for fact in select_facts(candidates, embed_all(embed, weighed) if embed else {})]


def embed_statements(made: Iterable[Statement], embed: Embed | None) -> tuple[Statement, ...]:
    """Statements with their vectors; without an embedding as they are."""
    if embed is None:
        return tuple(made)
    return tuple(statement._replace(vector=embed_normalised(embed, statement.text)) for statement in made)
