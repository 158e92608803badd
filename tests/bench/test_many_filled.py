"""What is copied into a store of very many memories is what would have been written there one by one."""

import asyncio
from collections import Counter

import pytest
import sqlalchemy as sa

from insula.errors import InputError
from insula.memory.privacy import archive
from insula.memory.storage.schema import postings, terms, users
from insula.memory.storage.store import Store
from insula.testing import memory_store
from insula_bench import many, many_fill

pytestmark = pytest.mark.anyio
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
