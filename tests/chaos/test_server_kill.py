"""kill -9 and SIGTERM while `insula serve` is talked to: what it acknowledged is there, and it goes on from there."""

import asyncio
import json
import os
import random
import signal
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from insula.cli.common import DATABASE
from insula.testing import FakeServer
from insula_bench.load_client import Connection, Listener, get
from insula_bench.load_processes import Running, serving
from insula_bench.load_sessions import Session, people

pytestmark = pytest.mark.anyio

KILLS = 1
SESSIONS = 12
"""Of two users: nobody waits, so that at any moment several turns are under way."""
TURNS = (8, 24)
"""Acknowledged turns after which a server is killed."""
PATIENCE_SECONDS = 60.0
"""How long a busy machine may take for them."""


@pytest.fixture
async def sessions(anyio_backend: str) -> AsyncGenerator[list[Session]]:
    made = people(0, SESSIONS)
    yield made
    for one in made:
        one.close()


def port_of(model: FakeServer) -> int:
    port = urlsplit(model.url).port
    assert port is not None
    return port


async def asked(server: Running, path: str, query: dict[str, object] | None = None) -> Any:
    connection = Connection(server.port)
    answer = await connection.ask(get(path, query))
    connection.close()
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


def stored(home: Path, query: str, *values: object) -> list[Any]:
    """Rows of the database as it lies on the disk."""
    connection = sqlite3.connect(home / DATABASE)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def acknowledged(sessions: list[Session]) -> int:
    return sum(not turn.failure for one in sessions for turn in one.turns)


async def chatter(session: Session, killed: asyncio.Event) -> None:
    """Talk without a pause until the server is gone."""
    while not killed.is_set():
        await session.say()


async def life(server: Running, sessions: list[Session], listeners: list[Listener], turns: int) -> None:
    """Everybody talks, and listens on from where they were, until the server is killed in the middle of it."""
    for one in sessions:
        one.move(server.port)
    enough, killed = acknowledged(sessions) + turns, asyncio.Event()
    talking = [asyncio.create_task(chatter(one, killed)) for one in sessions]
    hearing = [
        asyncio.create_task(one.listen(server.port, one.heard[-1] if one.heard else one.began or None))
        for one in listeners
    ]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while acknowledged(sessions) < enough:
            await asyncio.sleep(0.001)
    os.kill(server.pid, signal.SIGKILL)
    killed.set()
    await asyncio.gather(*talking)
    for task in hearing:
        with suppress(OSError, EOFError):
            await asyncio.wait_for(task, PATIENCE_SECONDS)


async def test_what_was_acknowledged_before_each_kill_is_there_and_everything_goes_on(
    tmp_path: Path, sessions: list[Session]
) -> None:
    chance = random.Random(3)
    listeners = [Listener(user) for user in sorted({one.user for one in sessions})]
    with FakeServer() as model:
        for _ in range(KILLS):
            with serving(tmp_path, port_of(model)) as server:
                if sessions[0].turns:
                    await _check_service(server, tmp_path, sessions)
                await life(server, sessions, listeners, chance.randint(*TURNS))
            assert stored(tmp_path, "PRAGMA integrity_check") == [("ok",)]
        with serving(tmp_path, port_of(model)) as server:
            await _check_service(server, tmp_path, sessions)
            await _check_sessions(server, sessions)
            for one in listeners:
                await _check_ledger(server, tmp_path, one)
            await _check_next(sessions)


async def _check_service(server: Running, home: Path, sessions: list[Session]) -> None:
    """Snapshots that were told are in the ring, and the next is due when it was to be."""
    told = {turn.snapshot for one in sessions for turn in one.turns if turn.snapshot is not None}
    assert told
    history = (await asked(server, "/agent/chat/metacog/status", {"history": 50}))["history"]
    assert told <= {one["turn_counter"] for one in history}
    [[state]] = stored(home, "SELECT data FROM services")
    schedule = json.loads(state)["ring"]["schedule"]
    rhythm = (await asked(server, "/agent/chat/performance"))["metacog"]
    assert rhythm == {"interval": schedule["interval"], "next_due_turn": schedule["due"]}
    assert rhythm["next_due_turn"] > max(told)


async def _check_sessions(server: Running, sessions: list[Session]) -> None:
    """Every acknowledged turn is in the transcript, word by word, and turns are numbered without a gap."""
    for one in sessions:
        one.move(server.port)
        assert await one.lost() == 0
        kept = await one.transcript()
        assert sorted(kept) == list(range(1, len(kept) + 1))
        assert all(lines[0][0] == "user" for lines in kept.values())
        numbers = [turn.number for turn in one.turns if not turn.failure]
        assert numbers == sorted(set(numbers))
    assert any(turn.failure for one in sessions for turn in one.turns), "no kill came in the middle of a turn"


async def _check_ledger(server: Running, home: Path, listener: Listener) -> None:
    """What was heard before the kills, and what a last listener hears from there on, is the ledger: each once."""
    mine = "SELECT signals.id FROM signals JOIN users ON users.id = user_id WHERE users.name = ? ORDER BY signals.id"
    ledger = [place for (place,) in stored(home, mine, listener.user)]
    assert set(listener.heard) <= set(ledger)
    hearing = asyncio.create_task(listener.listen(server.port, listener.heard[-1]))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while listener.heard[-1] != ledger[-1]:
            await asyncio.sleep(0.02)
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    assert not listener.is_wrong(ledger)


async def _check_next(sessions: list[Session]) -> None:
    """A session goes on where its transcript ends."""
    one = sessions[0]
    last = max(await one.transcript())
    assert (await one.say("Where were we?")).number == last + 1
