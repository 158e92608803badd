"""What PostgreSQL keeps of erased rows in its files, and that the command that is told takes it away."""

import re
from pathlib import Path

import anyio
import psycopg
import pytest

from insula import Metacognition
from insula.memory.privacy import custody
from insula.memory.storage.postgres import RESIDUE
from insula.night import curation

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


async def test_the_command_that_an_erasure_names_takes_the_words_from_the_files_of_postgresql(
    server: str, database: str, tmp_path: Path
) -> None:
    house = custody.UserFiles(tmp_path, tmp_path / "ana" / "SOUL.md", tmp_path / "insula.log")
    with psycopg.connect(f"{server.rpartition('/')[0]}/{database.rpartition('/')[2]}", autocommit=True) as superuser:
        async with await Metacognition.open(database) as metacognition:
            for number in range(20):
                async with metacognition.turn("ana", f"day {number}", f"My {number}th cake was {WORD}.") as turn:
                    turn.finish("Noted.")
            superuser.execute("ANALYZE")
            assert await custody.erase_user(metacognition.store, "ana", house) == RESIDUE
        assert holding(superuser), "PostgreSQL keeps nothing by itself: then nothing needs to be said"
        command = re.search(r"with: (.*?CHECKPOINT;)", RESIDUE)
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
    async with await Metacognition.open(database) as metacognition:
        for session in ("monday", "tuesday"):
            async with metacognition.turn("ana", session, f"My {session} cake was {WORD}.") as turn:
                turn.finish("Noted.")
        (memory, _), *_ = await metacognition.store.memories.list_latest_memories("ana", 1)
        assert await curation.erase_memories(metacognition.store, "ana", None, memory.id) == RESIDUE
        assert (await metacognition.forget("ana", session="monday")).left == RESIDUE
        assert (await metacognition.forget("ana")).left == RESIDUE
