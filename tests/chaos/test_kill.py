"""kill -9 in the middle of turns: nothing acknowledged is lost, nothing stands half."""

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from insula.memory.store import Store

KILLS = 6

WRITER = textwrap.dedent("""
    import asyncio, sys
    from insula import Metacognition

    async def main(path):
        async with await Metacognition.open(path) as metacognition:
            for i in range(100_000):
                async with metacognition.turn("me", "s", f"My sister number {i} moved to Lisbon.") as turn:
                    turn.finish(f"Noted, number {i}.")
                print(turn.number, flush=True)

    asyncio.run(main(sys.argv[1]))
""")


@pytest.mark.parametrize("seed", range(KILLS))
def test_no_acknowledged_turn_is_lost_and_none_stands_half(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.db"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = 0
    for _ in range(random.Random(seed).randint(1, 40)):
        acknowledged = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    writer.communicate()

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


STARTER = textwrap.dedent("""
    import asyncio, os, sys
    from alembic import op
    from insula.memory.store import Store

    made, create = [], op.create_table

    def create_table(*args, **options):
        made.append(args)
        if len(made) == int(sys.argv[2]):
            os._exit(9)
        return create(*args, **options)

    op.create_table = create_table
    asyncio.run(Store.open(sys.argv[1]))
""")


@pytest.mark.parametrize("table", [1, 4, 9])
def test_a_first_start_that_was_killed_can_be_repeated(tmp_path: Path, table: int) -> None:
    path = tmp_path / "memory.db"
    done = subprocess.run([sys.executable, "-c", STARTER, str(path), str(table)], check=False)
    assert done.returncode == 9
    asyncio.run(_starts(path))


async def _starts(path: Path) -> None:
    async with await Store.open(path) as store:
        assert (await store.place("me", "s")).user_id == 1


async def _goes_on(path: Path, acknowledged: int) -> None:
    async with await Store.open(path) as store:
        place = await store.place("me", "s")
        lines = await store.sessions.transcript(place, 1)
        assert lines[0].turn >= acknowledged
