"""Which text stands for what in the space of meanings, and the vectors that are still to come.

A memory stands where its turn does together with the end of the turn before: an answer ("In May, with Ana.") means
little without what it answers. A question that names somebody who talks here is put as they would put it, since what
they say of themselves says "I".
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress

from insula.memory import meanings
from insula.memory.embedding import embedded_all
from insula.memory.encoding import ASSISTANT, USER, called
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.rows import Embedded, Place, Unembedded
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import NOTHING, Embed, Vector, embedded, packed
from insula.metacognition.stating import state
from insula.redaction import is_redacted
from insula.text.analysis import Analysis, Sentence, analyse

log = logging.getLogger(__name__)

BEFORE_CHARS = 200
"""Of the turn before (best of those tried on conversations, see docs/benchmarks/confidence.md)."""
MEANT_CHARS = 1_000
"""Of the turn itself: a text that is longer means no one thing, and costs a millisecond for each hundred characters."""
FIRST_PERSON = "I"
"""In any language: the encoder puts all into one space."""
BATCH = 16
"""Memories whose vectors are made and written at once: what a kill loses."""
REST = 3.0
"""What the work in the background rests, as a multiple of what it took: turns come first."""


def remembered(content: str) -> str:
    """What of a redacted text is remembered: not the sentences that a secret was taken out of."""
    text = content[:REMEMBERED_CHARS]
    if not is_redacted(text):
        return text
    return "\n".join(one.text for one in analyse(text).sentences if not is_redacted(one.text))


def meant(before: str, content: str) -> str:
    """The text whose vector is a memory's; empty where nothing of it is remembered.

    Args:
        before: what was said just before it in the session.
        content: what was said.
    """
    own = remembered(content)[:MEANT_CHARS].strip()
    return f"{remembered(before)[-BEFORE_CHARS:]} {own}".strip() if own else ""


def question(asked: Analysis, speakers: Iterable[str]) -> str:
    """The text whose vector is a question's: the names of those who talk here are "I".

    Args:
        asked: the message.
        speakers: who talks in what is remembered.
    """
    names = {called(one) for one in speakers} - {USER, ASSISTANT}
    text = " ".join(_put(one, names) for one in asked.sentences) if names else asked.text
    return text[:MEANT_CHARS].strip()


def _put(sentence: Sentence, names: Set[str]) -> str:
    text = sentence.text
    for word in reversed(sentence.words):
        if word.text.lower() in names:
            text = text[: word.start] + FIRST_PERSON + text[word.start + len(word.text) :]
    return text


async def make_up(store: Store, user_id: int, embed: Embed, rest: float = 0.0) -> int:
    """Make the vectors of a user that are still to come; returns how many.

    What is written is written, in whatever moment the process ends; recall goes without the rest until it is there.

    Args:
        store: where they are written.
        user_id: whose they are.
        embed: makes them.
        rest: how long to rest after each batch, as a multiple of what it took.

    Raises:
        InputError: the embedding made no vector.
        StoreError: the store cannot be used.
    """
    like = await asyncio.to_thread(embedded, embed, FIRST_PERSON)
    await store.run(meanings.unembed, user_id, len(packed(like)))
    done = 0
    while rows := await store.run(meanings.unembedded, user_id, BATCH):
        began = time.perf_counter()
        done += await store.memories.embed(user_id, await asyncio.to_thread(_made, rows, embed))
        await asyncio.sleep(rest * (time.perf_counter() - began))
    return done


async def made_up(store: Store, user: str, embed: Embed | None) -> None:
    """Make the vectors and statements of a user that are still to come, before their night; what fails waits."""
    with on_behalf_of(user):
        if (user_id := await store.nights.sleeper(user)) is not None:
            await _kept(store, user_id, embed)


async def _kept(store: Store, user_id: int, embed: Embed | None, rest: float = 0.0) -> None:
    try:
        if embed is not None:
            await make_up(store, user_id, embed, rest)
        await state(store, user_id, embed, rest)
    except Exception:
        if not store.closed:  # else the next opening goes on with what is left
            log.exception("The vectors and statements of older memories could not be made.")


def _made(rows: Iterable[Unembedded], embed: Embed) -> list[Embedded]:
    """The vectors of memories, read all at once."""
    texts = meant_texts(rows)
    new = list(dict.fromkeys(text for several in texts.values() for text in several if text))
    return embedded_rows(texts, dict(zip(new, embedded_all(embed, new), strict=True)))


def meant_texts(rows: Iterable[Unembedded]) -> dict[Unembedded, tuple[str, ...]]:
    """The texts whose vectors are to come of some memories: of each its own first, which may be empty."""
    return {row: (meant(row.before, row.content), *row.stated) for row in rows}


def embedded_rows(texts: Mapping[Unembedded, Sequence[str]], known: Mapping[str, Vector]) -> list[Embedded]:
    """What is written of memories whose texts' vectors are known."""
    return [
        Embedded(row, packed(known[own]) if own else NOTHING, {one: packed(known[one]) for one in row.stated})
        for row, (own, *_) in texts.items()
    ]


class Backlog:
    """The same beside the turns, for each user once in the life of a process, or once more after an erasure."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, place: Place, embed: Embed | None) -> None:
        """Begin in the background, unless that was done."""
        if place.user not in self._tasks:
            self._tasks[place.user] = asyncio.create_task(_kept(self._store, place.user_id, embed, REST))

    def again(self, user: str) -> None:
        """Let the next turn of a user begin anew."""
        if (task := self._tasks.get(user)) and task.done():
            del self._tasks[user]

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What was begun."""
        return tuple(self._tasks.values())

    async def end(self) -> None:
        """Stop what is under way."""
        for task in self.tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()
