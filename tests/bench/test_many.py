"""Stores of very many memories: what is copied in bulk is what would have been written one by one."""

import asyncio
import random
from collections import Counter

import pytest
import sqlalchemy as sa

from insula.errors import InputError
from insula.language.owner import ASSISTANT, USER
from insula.memory.privacy import archive
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import build_cue
from insula.memory.storage.schema import postings, terms, users
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import embed_normalised
from insula.testing import memory_store
from insula.text.analysis import analyse_text
from insula_bench import bulk, many, many_fill

pytestmark = pytest.mark.anyio


# What is written in bulk is remembered as what was said.


SAID = ("I live in Porto.", "My sister keeps bees.", "The ferry was late.", "We painted the kitchen.")
SIZE = 40


async def test_what_is_written_in_bulk_is_found_by_its_words_and_by_its_meaning(store: Store) -> None:
    made = [bulk.sentence(text) for text in SAID]
    common = {0.5: [bulk.sentence("There was the breakfast.")]}
    lines = list(bulk.lines(made, common, SIZE, random.Random(1)))
    assert [one.text for one in bulk.lines(made, common, SIZE, random.Random(1))] == [one.text for one in lines]
    await bulk.fill(store, await store.resolve_place("many", "all"), lines, SIZE)
    asking = await store.resolve_place("many", "later")
    assert (await store.sessions.count_rows(asking))["long_term"] == SIZE
    for text, vector, word in (("Who keeps bees?", None, "bees"), ("¿Dónde vivo?", "Where do I live?", "Porto")):
        asked = build_cue(analyse_text(text), USER, ASSISTANT)
        meant = embed_normalised(embed_text, vector) if vector else None
        found = await store.memories.recall_memories(asking, asked, 3, sought=[meant] if meant is not None else [])
        assert all(word in one.memory.content for one in found.recalled)
        assert found.recalled
    share = sum("breakfast" in one.text for one in lines) / SIZE
    assert 0.2 < share < 0.8


# What is copied into a store of very many memories is what would have been written there one by one.


INDEX = (terms, postings)
TEXTS = ("My sister lives in Lisbon.", "I never eat nuts\tor \\seeds.", "Who feeds the bees?")


def indexed(connection: sa.Connection, user: str) -> tuple[object, ...]:
    """The counts of a user and of their terms, whatever ids they have."""
    mine = connection.execute(sa.select(users).where(users.c.name == user)).one()
    held = connection.execute(sa.select(terms).where(terms.c.user_id == mine.id)).all()
    posted = connection.execute(sa.select(postings).where(postings.c.user_id == mine.id)).all()
    return (
        (mine.memories, mine.terms),
        {(one.term, one.memories, one.semantic) for one in held},
        Counter((one.term, one.count, one.length) for one in posted),
    )


async def test_the_index_is_that_which_the_store_makes(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [many_fill.part_of(text) for text in TEXTS]
    monkeypatch.setattr(many_fill, "parts", lambda: parts)
    monkeypatch.setattr(many, "EACH", 2)
    monkeypatch.setattr(many, "LINES", 2)
    await asyncio.to_thread(many_fill.fill, database, 2, 140, 70)
    async with await Store.open(database) as store:
        text = "".join(await store.run(lambda connection: list(archive.lines(connection, "u1", {}))))
        copied = await store.run(indexed, "u1")
        bench = await many.Bench.ready(store, "a")
        assert bench.users == ["u0", "u1"]
        for kind in bench.asks:
            await bench.recall(many_fill.HEAVY, kind)
        await bench.write("u1")
        assert len(await store.sessions.read_lines(await store.resolve_place("u1", "now"), 9)) == 1
        with pytest.raises(InputError, match="empty"):
            await asyncio.to_thread(many_fill.fill, database, 2, 140, 70)
    async with memory_store() as other:
        await other.run(archive.unpack_archive, "u1", archive.read_archive(text.encode()), 0.0)
        assert await other.run(indexed, "u1") == copied
