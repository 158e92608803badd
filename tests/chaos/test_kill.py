"""kill -9 in the middle of turns: nothing acknowledged is lost, nothing stands half."""

import asyncio
import multiprocessing
import os
import random
import sqlite3
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import Table, event

import mortal
from insula import Metacognition

KILLS = 2


def write(path: str, told: Connection) -> None:
    """Turn after turn, each told once it is acknowledged."""

    async def turns() -> None:
        async with await Metacognition.open(path, embed=None) as metacognition:
            for i in range(100_000):
                async with metacognition.turn("me", "s", f"My sister number {i} moved to Lisbon.") as turn:
                    turn.finish(f"Noted, number {i}.")
                told.send(turn.number)

    asyncio.run(turns())


@pytest.mark.parametrize("seed", range(KILLS))
def test_no_acknowledged_turn_is_lost_and_none_stands_half(tmp_path: Path, seed: int) -> None:
    path, (heard, told) = tmp_path / "memory.db", multiprocessing.Pipe(duplex=False)
    writer = mortal.begun(write, str(path), told)
    acknowledged = 0
    for _ in range(random.Random(seed).randint(1, 40)):
        acknowledged = heard.recv()
    writer.kill()
    writer.join()
    for each in (writer, heard, told):
        each.close()

    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        answered = raw.execute("SELECT count(*) FROM messages WHERE provenance = 'assistant'").fetchone()[0]
        assert answered >= acknowledged
        assert (
            raw.execute("SELECT count(*) FROM messages").fetchone()
            == raw.execute("SELECT count(*) FROM memories").fetchone()
        )
        assert answered == raw.execute("SELECT count(*) FROM signals WHERE kind = 'meta:turn'").fetchone()[0]
        indexed = raw.execute("SELECT memories FROM users").fetchone()[0]
        promoted = raw.execute("SELECT count(*) FROM memories WHERE promoted_at IS NOT NULL").fetchone()[0]
        assert indexed == promoted
    raw.close()
    asyncio.run(_goes_on(path, acknowledged))


def start(path: str, fatal: int) -> None:
    """Open a memory for the first time, and die where the table of that number would be made."""
    made = list[object]()

    def die(*args: object, **_: object) -> None:
        made.append(args)
        if len(made) == fatal:
            os._exit(9)

    event.listen(Table, "before_create", die)
    asyncio.run(_starts(Path(path)))


@pytest.mark.parametrize("table", [1, 4, 9])
def test_a_first_start_that_was_killed_can_be_repeated(tmp_path: Path, table: int) -> None:
    path = tmp_path / "memory.db"
    assert mortal.ended(start, str(path), table) == 9
    asyncio.run(_starts(path))


async def _starts(path: Path) -> None:
    async with await Metacognition.open(path, embed=None) as mind, mind.turn("me", "s", "Hello.") as turn:
        turn.finish("Hello.")
        assert turn.number == 1


async def _goes_on(path: Path, acknowledged: int) -> None:
    async with await Metacognition.open(path, embed=None) as mind, mind.turn("me", "s", "And now?") as turn:
        turn.finish("On we go.")
        assert turn.number > acknowledged
