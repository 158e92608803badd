"""Readers stand beside the writer: a question that takes long delays nobody, and sees one moment."""

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from insula.errors import StoreError
from insula.memory.storage.schema import users
from insula.memory.storage.sqlite import READERS
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Neighbourhoods

pytestmark = pytest.mark.anyio


def named(connection: sa.Connection) -> list[str]:
    return list(connection.execute(sa.select(users.c.name).order_by(users.c.name)).scalars())


async def test_a_question_that_takes_long_delays_neither_who_writes_nor_other_questions(tmp_path: Path) -> None:
    begun, end = threading.Barrier(READERS), threading.Event()

    def heavy(connection: sa.Connection) -> tuple[list[str], list[str]]:
        before = named(connection)
        begun.wait(60)
        assert end.wait(60)
        return before, named(connection)

    async with await Store.open(tmp_path / "insula.db") as store:
        await store.resolve_place("ana", "monday")
        heavies = [asyncio.create_task(store.read(heavy)) for _ in range(READERS - 1)]
        await asyncio.to_thread(begun.wait, 60)  # each has seen its moment
        await store.resolve_place("ben", "monday")
        assert await store.read(named) == ["ana", "ben"]
        end.set()
        assert [await each for each in heavies] == [(["ana"], ["ana"])] * len(heavies), "it sees one moment"


async def test_who_reads_cannot_write(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "insula.db") as store:
        with pytest.raises(StoreError):
            await store.read(lambda c: c.exec_driver_sql("INSERT INTO users (name, created_at) VALUES ('x', 0)"))
        assert await store.read(named) == []


async def test_another_file_in_its_place_is_read_and_not_the_old_one(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "insula.db") as store:
        await store.resolve_place("ana", "monday")
        assert await store.read(named) == ["ana"]
        for each in tmp_path.glob("insula.db*"):
            each.unlink()
        with pytest.raises(StoreError, match="is gone"):
            await store.read(named)
        (tmp_path / "insula.db").touch()
        assert await store.read(named) == []


def test_many_threads_share_what_is_held_of_a_users_vectors() -> None:
    vectors = np.random.default_rng(3).normal(size=(600, 64)).astype(np.float16)
    rows = [(number + 1, one.tobytes()) for number, one in enumerate(vectors)]
    here = Neighbourhoods()

    def read(after: int, _: int) -> list[tuple[int, bytes]]:
        return rows[after : after + 100]

    found: list[list[int]] = []

    def ask() -> None:
        for number in range(20):
            here.add_vectors(1, rows[number : number + 3])  # they are known: none is held twice
            near = here.find_nearest(1, [vectors[7].astype(np.float32)], read)[0]
            found.append([one for batch in (near.first, *near.more) for one in batch])

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 120
    assert all(sorted(each) == [number for number, _ in rows] and each[0] == 8 for each in found)
