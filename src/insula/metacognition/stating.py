"""The statements that are still to come: of memories that were written before there were any, or after an erasure."""

import asyncio
import time
from collections.abc import Collection, Sequence

from insula.language.handed import users_words
from insula.memory import facts
from insula.memory.assertion import Said, Statement, statements
from insula.memory.embedding import embedded_all, hands_of
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.storage.rows import Unstated
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Embed, embedded
from insula.memory.telling import Unit, facts_of, units
from insula.redaction import is_redacted
from insula.text.analysis import Analysis, analyse

BATCH = 16
"""Memories whose statements are made and written at once: what a kill loses."""


async def state(store: Store, user_id: int, embed: Embed | None, rest: float = 0.0) -> int:
    """Make the statements of a user's memories that are still to come; returns of how many memories.

    Args:
        store: where they are written.
        user_id: whose they are.
        embed: makes their vectors.
        rest: how long to rest after each batch, as a multiple of what it took.

    Raises:
        InputError: the embedding made no vector.
        StoreError: the store cannot be used.
    """
    done = 0
    while rows := await store.run(facts.unstated, user_id, BATCH):
        began = time.perf_counter()
        made = await asyncio.to_thread(_made, rows, embed)
        done += await store.run(facts.state, user_id, made)
        await asyncio.sleep(rest * (time.perf_counter() - began))
    return done


def _made(rows: Sequence[Unstated], embed: Embed | None) -> list[tuple[Unstated, Sequence[Statement]]]:
    return [(row, _stated(row, embed)) for row in rows]


def meant(made: Sequence[Statement], embed: Embed | None) -> tuple[Statement, ...]:
    """Statements with their vectors; without an embedding as they are."""
    return tuple(made) if embed is None else tuple(one._replace(vector=embedded(embed, one.text)) for one in made)


def told(analysis: Analysis, before: Sequence[Said], embed: Embed | None) -> tuple[Unit, ...]:
    """The sentences of a user's message that tell a fact of their life; see `telling`."""
    found = units(analysis, before)
    texts = [one.meant for one in found]
    return facts_of(found, {} if embed is None else dict(zip(texts, embedded_all(embed, texts), strict=True)))


def stated(
    analysis: Analysis,
    speaker: str,
    listener: str,
    before: Sequence[Said],
    only: Collection[str] | None,
    embed: Embed | None,
) -> tuple[Statement, ...]:
    """What a text states, with the vectors of its statements; see `assertion.statements`."""
    return meant(statements(analysis, speaker, listener, before, only), embed)


def _own(row: Unstated, embed: Embed | None) -> str:
    """What of a user's line they did not hand over; another's line as it is."""
    if row.provenance != "user":
        return row.content
    return users_words(row.content, row.provenance, (), hands_of(embed)).text


def _stated(row: Unstated, embed: Embed | None) -> tuple[Statement, ...]:
    analysis = analyse(_own(row, embed)[:REMEMBERED_CHARS])
    whole = [one.text for one in analysis.sentences if not is_redacted(one.text)]
    if not whole:
        return ()
    if len(whole) < len(analysis.sentences):
        analysis = analyse("\n".join(whole), default=analysis.language)
    teller = row.speaker if row.provenance == "user" else ""
    before = [Said(row.before, row.before_speaker == row.speaker)] if row.before else []
    only = [one.text for one in told(analysis, before, embed)] if teller == USER else None
    return stated(analysis, teller, ASSISTANT, before, only, embed)
