"""Two `insula serve` on one PostgreSQL: load on both, one is killed in the middle, and the other carries all on."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from insula.testing import FakeServer
from insula_bench.load_client import Listener
from insula_bench.load_processes import Running, serving
from insula_bench.load_sessions import Session, people

pytestmark = [pytest.mark.anyio, pytest.mark.at_length]
SESSIONS = 8
"""Each talks without a pause, one half to each server."""
TURNS = 16
"""Acknowledged turns before the kill, and after it."""
PATIENCE_SECONDS = 60.0
LEDGER = b"SELECT signals.id FROM signals JOIN users ON users.id = user_id WHERE users.name = %s ORDER BY signals.id"


async def chatter(session: Session, over: asyncio.Event, other: int) -> None:
    """Talk; where no answer comes, go on at the other server, as behind any balancer."""
    while not over.is_set():
        if (await session.say()).failure:
            session.move(other)


async def hear(listener: Listener, ports: tuple[int, int], over: asyncio.Event) -> None:
    """Listen, and where the stream breaks go on from there at the other server."""
    for port in ports:
        if not over.is_set():
            with suppress(OSError, EOFError):
                await listener.listen(port, listener.heard[-1] if listener.heard else listener.began or None)


async def until(sessions: list[Session], turns: int) -> None:
    enough = sum(not turn.failure for one in sessions for turn in one.turns) + turns
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sum(not turn.failure for one in sessions for turn in one.turns) < enough:
            await asyncio.sleep(0.005)


async def storm(dying: Running, living: Running, sessions: list[Session], listener: Listener) -> None:
    for number, one in enumerate(sessions):
        one.move((dying, living)[number % 2].port)
    over = asyncio.Event()
    hearing = asyncio.create_task(hear(listener, (dying.port, living.port), over))
    await asyncio.wait_for(listener.begun.wait(), PATIENCE_SECONDS)
    talking = [asyncio.create_task(chatter(one, over, living.port)) for one in sessions]
    await until(sessions, TURNS)
    os.kill(dying.pid, signal.SIGKILL)
    await until(sessions, TURNS)
    over.set()
    await asyncio.gather(*talking)
    for one in sessions:
        one.move(living.port)
        assert await one.lost() == 0
        kept = await one.transcript()
        assert sorted(kept) == list(range(1, len(kept) + 1))
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(hearing), 3)  # what was told last comes at the next look
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)


async def test_no_acknowledged_turn_is_lost_and_streams_go_on(database: str, tmp_path: Path) -> None:
    sessions = people(0, SESSIONS)
    listener = Listener(sessions[0].user)
    homes = [tmp_path / name for name in ("one", "other")]
    for home in homes:
        home.mkdir()
    with FakeServer() as model:
        port = urlsplit(model.url).port or 0
        with serving(homes[0], port, database) as dying, serving(homes[1], port, database) as living:
            await storm(dying, living, sessions, listener)
    for one in sessions:
        one.close()
    with psycopg.connect(database) as connection:
        ledger = [place for (place,) in connection.execute(LEDGER, [listener.user])]
    assert any(turn.failure for one in sessions for turn in one.turns), "no kill came in the middle of a turn"
    assert len({one.user for one in sessions}) == 1
    assert not listener.is_wrong(ledger)
