"""What PostgreSQL keeps of erased rows in its files, and that the command that is told takes it away."""

import re

import anyio
import psycopg
import pytest

from insula import Metacognition

pytestmark = pytest.mark.anyio
WORD = "Zwetschgenquark"
FILES = """SELECT c.relname FROM pg_class c WHERE pg_relation_filepath(c.oid) IS NOT NULL
    AND position(%s::bytea in pg_read_binary_file(pg_relation_filepath(c.oid))) > 0"""


def holding(connection: psycopg.Connection) -> list[str]:
    """The tables and indexes whose files hold the word."""
    connection.execute("CHECKPOINT")
    return [row[0] for row in connection.execute(FILES, [WORD.lower().encode()]).fetchall()] + [
        row[0] for row in connection.execute(FILES, [WORD.encode()]).fetchall()
    ]


async def fill(mind: Metacognition, days: int) -> None:
    for number in range(days):
        async with mind.turn("ana", f"day {number}", f"My {number}th cake was {WORD}.") as turn:
            turn.finish("Noted.")


async def test_the_command_that_an_erasure_names_takes_the_words_from_the_files_of_postgresql(
    server: str, database: str
) -> None:
    with psycopg.connect(f"{server.rpartition('/')[0]}/{database.rpartition('/')[2]}", autocommit=True) as superuser:
        async with await Metacognition.open(database, embed=None) as mind:
            await fill(mind, 20)
            superuser.execute("ANALYZE")
            said = (await mind.forget("ana")).left
        assert holding(superuser), "PostgreSQL keeps nothing by itself: then nothing needs to be said"
        command = re.search(r"with: (.*?CHECKPOINT;)", said)
        assert command
        left = [WORD]
        for _ in range(5):
            # VACUUM FULL copies dead rows that another's snapshot may still see, as autovacuum's.
            for statement in command[1].split(";"):
                superuser.execute(statement.strip().encode() or b"SELECT 1")
            if not (left := holding(superuser)):
                break
            await anyio.sleep(1)
        assert left == []


async def test_who_erases_one_memory_or_a_session_is_told_the_same(database: str) -> None:
    async with await Metacognition.open(database, embed=None) as mind:
        await fill(mind, 3)
        (memory, *_) = (await mind.list("ana")).memories
        told = [(await mind.delete("ana", memory.id)).left, (await mind.forget("ana", session="day 1")).left]
        told.append((await mind.forget("ana")).left)
    assert len(set(told)) == 1
    assert "CHECKPOINT" in told[0]
