"""Nights on many machines: each once, whatever fails or dies, and behind a pooler."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import sqlalchemy as sa

import pooler
from insula import Metacognition, Usage
from insula.errors import SettingsError
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage import nights, postgres
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Embed, Vector
from insula.night.cycle import CADENCE, Night, Phase, PhaseName, Result, is_due
from insula.night.durable import NIGHT, Limits, Worker, WorkerConfig, run_worker, tenant_of
from insula.server import live
from insula.server.live import LiveLedger

pytestmark = pytest.mark.anyio
LINES = ("My sister Ana lives in Lisbon.", "I never eat nuts, I am allergic.", "We leave for Porto on Friday.")


async def talk(store: Store, *users: str) -> None:
    metacognition = Metacognition(store, embed=None)
    for user in users:
        for line in LINES:
            async with metacognition.turn(user, "monday", line) as turn:
                turn.finish("Noted.")


def phase(calls: list[str], fails: int = 0) -> tuple[tuple[PhaseName, Phase], ...]:
    """One phase, which fails so many times for each user."""

    async def run(night: Night) -> Result:
        calls.append(night.user)
        if calls.count(night.user) <= fails:
            raise RuntimeError("broken")
        night.account.charge_usage(night.account.reserve_call("night", 10), Usage(calls=1, output_tokens=10))
        return Result({})

    return ((PhaseName.TRENDS, run),)


COUNTED = sa.text("SELECT status, count(*) AS nights FROM dbos.workflow_status WHERE name = :name GROUP BY status")


class Ended(NamedTuple):
    """How many nights have ended, by the engine's own record."""

    done: int
    failed: int


async def over(worker: Worker) -> Ended:
    """How all nights have ended, once none waits any more."""
    while True:
        rows = await worker.house.store.run(lambda connection: connection.execute(COUNTED, {"name": NIGHT}).all())
        count: dict[str, int] = {row.status: row.nights for row in rows}
        done, failed = count.pop("SUCCESS", 0), count.pop("ERROR", 0)
        if not any(count.values()):
            return Ended(done, failed)
        await asyncio.sleep(0.1)


@pytest.fixture
async def on_server(anyio_backend: str, database: str) -> AsyncGenerator[WorkerConfig]:
    async with await Store.open(database) as store:
        yield WorkerConfig(store=store, url=database)


async def test_every_user_s_night_is_run_once_and_only_those_with_something_new(on_server: WorkerConfig) -> None:
    users = [f"user {number}" for number in range(5)]
    await talk(on_server.store, *users)
    await on_server.store.resolve_place("silent", "s")
    calls: list[str] = []
    async with run_worker(replace(on_server, phases=phase(calls))) as worker:
        assert await worker.enqueue_due(date="d") == 5
        assert await worker.enqueue_due(date="d") == 5  # called twice, as two workers would
        assert (await over(worker)).done == 5
        assert sorted(calls) == users
        assert await worker.enqueue_due(date="e") == 0


def same(text: str) -> Vector:
    """A vector for any text."""
    return np.ones(4, np.float32) * bool(text)


async def test_what_a_night_on_many_machines_adds_to_memory_gets_its_vector(on_server: WorkerConfig) -> None:
    embeds: list[Embed | None] = []

    async def look(night: Night) -> Result:
        embeds.append(night.embed)
        return Result({})

    await talk(on_server.store, "ana")
    phases = ((PhaseName.STATEMENTS, look),)
    async with run_worker(replace(on_server, phases=phases, embed=same)) as worker:
        await worker.enqueue_due(date="d")
        await over(worker)
    assert embeds == [same]


async def test_the_gate_lets_those_through_whom_a_night_would_look_at(store: Store) -> None:
    calls: list[str] = []
    await talk(store, "new", "slept")
    from insula.night.cycle import sleep_cycle

    await sleep_cycle(store, "slept", phase(calls))
    await store.resolve_place("silent", "s")
    for later in (0.0, CADENCE + 1):
        moved = Store.__new__(Store)
        moved.__dict__.update(store.__dict__, now=lambda later=later: store.now() + later)
        waiting = await store.run(nights.list_waiting, 0, moved.now(), 10)
        assert [name for _, name in waiting] == [
            name for name in await store.nights.list_users() if await is_due(moved, name)
        ]
    await talk(store, "slept")
    for when in (store.now() + CADENCE + 1, store.now() - 30 * CADENCE):  # a day later, and when the clock went back
        assert [name for _, name in await store.run(nights.list_waiting, 0, when, 10)] == ["new", "slept"]


async def test_a_night_that_fails_is_tried_again(on_server: WorkerConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    from insula.night import durable

    monkeypatch.setattr(durable, "PAUSE", 0.05)
    await talk(on_server.store, "ana")
    calls: list[str] = []
    async with run_worker(replace(on_server, phases=phase(calls, fails=2))) as worker:
        await worker.enqueue_due(date="d")
        assert (await over(worker)).done == 1
    assert len(calls) == 3


@pytest.mark.at_length
async def test_a_worker_whose_clock_is_a_day_ahead_lets_nobody_sleep_twice(
    on_server: WorkerConfig, database: str
) -> None:
    await talk(on_server.store, "ana", "eva")
    calls: list[str] = []
    house = replace(on_server, phases=phase(calls))
    async with await Store.open(database, lambda: time.time() + 86_400) as ahead:
        async with run_worker(replace(house, store=ahead)) as worker:
            assert await worker.enqueue_due() == 2
            assert (await over(worker)).done == 2
        async with run_worker(house) as worker:
            assert await worker.enqueue_due() == 0
        async with run_worker(replace(house, store=ahead)) as worker:
            assert await worker.enqueue_due() == 0
    assert sorted(calls) == ["ana", "eva"]


@pytest.mark.at_length
async def test_the_nights_of_a_worker_that_died_go_to_another(on_server: WorkerConfig) -> None:
    await talk(on_server.store, "ana")
    begun = asyncio.Event()

    async def hangs(_: Night) -> Result:
        begun.set()
        await asyncio.sleep(3_600)
        return Result({})

    dying = replace(on_server, executor="dying", phases=((PhaseName.TRENDS, hangs),))
    async with run_worker(dying) as worker:
        await worker.enqueue_due(date="d")
        await begun.wait()
    await on_server.store.run(lambda connection: connection.execute(postgres.leases.delete()))  # it is silent
    calls: list[str] = []
    async with run_worker(replace(on_server, executor="other", phases=phase(calls))) as worker:
        while not calls:
            await worker.reclaim_runs()
            await asyncio.sleep(0.1)
        assert (await over(worker)).done == 1
    assert calls == ["ana"]


@pytest.mark.at_length
async def test_tenants_wait_for_their_own_alone(on_server: WorkerConfig) -> None:
    await talk(on_server.store, "acme/ana", "acme/ben", "other/eva")
    calls: list[str] = []
    limits = Limits(tenant_at_once=1, tenant_per_minute=1)
    async with run_worker(replace(on_server, phases=phase(calls), limits=limits)) as worker:
        await worker.enqueue_due(date="d")
        while len(calls) < 2:
            await asyncio.sleep(0.1)
        await asyncio.sleep(1.5)
        assert sorted(tenant_of(user) for user in calls) == ["acme", "other"]


async def test_a_memory_in_a_file_is_refused_with_the_way_out(store: Store) -> None:
    with pytest.raises(SettingsError, match="INSULA_STORE=postgresql"):
        async with run_worker(WorkerConfig(store=store, url="insula.db")):
            pass


# A pooler in transaction mode between Insula and PostgreSQL: turns, isolation, streams and nights work through it


@pytest.fixture
def pooled(database: str) -> Generator[str]:
    if not pooler.program():
        pytest.skip(pooler.AWAY)
    with pooler.pooler(database) as url:
        yield url


@pytest.fixture
async def behind(anyio_backend: str, pooled: str) -> AsyncGenerator[Store]:
    async with await Store.open(pooled) as opened:
        yield opened


async def talk_at_once(behind: Store, *users: str) -> None:
    async def one(user: str) -> None:
        for line in LINES:
            async with Metacognition(behind, embed=None).turn(user, "monday", line) as turn:
                turn.finish("Noted.")
            assert not turn.troubles

    await asyncio.gather(*map(one, users))


@pytest.mark.at_length
async def test_users_who_talk_at_once_share_connections_and_see_their_own_alone(behind: Store) -> None:
    users = [f"user {number}" for number in range(2 * pooler.CONNECTIONS)]
    await talk_at_once(behind, *users)

    async def seen(user: str) -> list[str]:
        with on_behalf_of(user):
            return await behind.nights.list_users()

    assert await asyncio.gather(*map(seen, users)) == [[user] for user in users]
    assert sorted(await behind.nights.list_users()) == users  # what was said for one transaction is gone with it
    async with Metacognition(behind, embed=None).turn(users[0], "tuesday", "Where does Ana live?") as turn:
        assert any("Lisbon" in one.memory.content for one in turn.recalled)


@pytest.mark.at_length
async def test_a_stream_sees_at_its_next_look_what_another_server_wrote(
    behind: Store, pooled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "POLL_SECONDS", 0.2)
    listening = LiveLedger()
    watching = asyncio.create_task(listening.watch_store(behind))
    try:
        with listening.add_listener("ana") as room:
            await asyncio.wait_for(room.grown.wait(), 60)  # the first look wakes everybody
            grown = room.grown
            async with await Store.open(pooled) as other:
                await talk_at_once(other, "ana")
            await asyncio.wait_for(grown.wait(), 60)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


@pytest.mark.at_length
async def test_the_nights_of_all_are_run_once(behind: Store, pooled: str) -> None:
    users = [f"user {number}" for number in range(6)]
    await talk_at_once(behind, *users)
    calls: list[str] = []

    async def phase(night: Night) -> Result:
        calls.append(night.user)
        return Result({})

    async with run_worker(WorkerConfig(store=behind, url=pooled, phases=((PhaseName.TRENDS, phase),))) as worker:
        assert await worker.enqueue_due(date="d") == len(users)
        await worker.reclaim_runs()
        now = await over(worker)
    assert (now.done, sorted(calls)) == (len(users), users)
