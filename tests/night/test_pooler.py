"""A pooler in transaction mode between Insula and PostgreSQL: turns, isolation, streams and nights work through it."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress

import pytest

import pooler
from insula.memory.privacy.isolation import on_behalf_of
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import Night, PhaseName, Result
from insula.night.durable import WorkerConfig, run_worker
from insula.server import live
from insula.server.live import LiveLedger

pytestmark = [pytest.mark.anyio, pytest.mark.at_length]
LINES = ("My sister Ana lives in Lisbon.", "I never eat nuts, I am allergic.", "We leave for Porto on Friday.")


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


async def talk(behind: Store, *users: str) -> None:
    async def one(user: str) -> None:
        for line in LINES:
            async with Metacognition(behind, embed=None).turn(user, "monday", line) as turn:
                turn.finish("Noted.")
            assert not turn.troubles

    await asyncio.gather(*map(one, users))


async def test_users_who_talk_at_once_share_connections_and_see_their_own_alone(behind: Store) -> None:
    users = [f"user {number}" for number in range(2 * pooler.CONNECTIONS)]
    await talk(behind, *users)

    async def seen(user: str) -> list[str]:
        with on_behalf_of(user):
            return await behind.nights.list_users()

    assert await asyncio.gather(*map(seen, users)) == [[user] for user in users]
    assert sorted(await behind.nights.list_users()) == users  # what was said for one transaction is gone with it
    async with Metacognition(behind, embed=None).turn(users[0], "tuesday", "Where does Ana live?") as turn:
        assert any("Lisbon" in one.memory.content for one in turn.recalled)


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
                await talk(other, "ana")
            await asyncio.wait_for(grown.wait(), 60)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def test_the_nights_of_all_are_run_once(behind: Store, pooled: str) -> None:
    users = [f"user {number}" for number in range(6)]
    await talk(behind, *users)
    calls: list[str] = []

    async def phase(night: Night) -> Result:
        calls.append(night.user)
        return Result({})

    async with run_worker(WorkerConfig(store=behind, url=pooled, phases=((PhaseName.TRENDS, phase),))) as worker:
        assert await worker.enqueue_due(date="d") == len(users)
        await worker.reclaim_runs()
        while (now := await worker.read_progress()).waiting or now.running:
            await asyncio.sleep(0.1)
    assert (now.done, sorted(calls)) == (len(users), users)
