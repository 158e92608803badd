"""`GET /signals`: a ledger as it grows, across cuts, slow readers and other processes."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from api_service import MakeService, Serve, say
from starlette.types import Message, Scope

from insula import Metacognition, Signal
from insula.memory.storage import statements, views, vitals
from insula.memory.storage.rows import LedgerEntry
from insula.memory.storage.store import Store
from insula.server import live
from insula.server.api import ledger
from insula.server.app import create_app
from insula.server.live import LISTENERS, LiveLedger
from patience import DEADLOCK_SECONDS

pytestmark = pytest.mark.anyio
FEW = 4
"""Threads of the store, which begin as they are needed."""


class Stream:
    """A stream of signals that is read line by line."""

    def __init__(self, response: httpx2.Response) -> None:
        self.last = -1
        """The last id, as a browser would send it when it comes back."""
        self._lines = response.aiter_lines()

    async def next(self, limit: float = DEADLOCK_SECONDS) -> dict[str, Any] | None:
        """The next event's data; None for one that has none, or a comment."""
        data: dict[str, Any] | None = None
        async with asyncio.timeout(limit):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name == "id":
                    self.last = int(value)
                elif name == "data":
                    data = json.loads(value)
                elif not line:
                    return data
        raise EOFError

    async def ids(self, number: int) -> list[int]:
        """The ids of the next signals."""
        found: list[int] = []
        while len(found) < number:
            if (data := await self.next()) is not None:
                found.append(data["id"])
        return found


@asynccontextmanager
async def listening(
    browser: httpx2.AsyncClient, user: str = "ana", last: int | None = None, **query: int
) -> AsyncGenerator[Stream]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    params = {"user": user, **query}
    async with browser.stream("GET", "/signals", params=params, headers=headers, timeout=DEADLOCK_SECONDS) as response:
        assert response.status_code == 200, await response.aread()
        yield Stream(response)


@pytest.fixture
async def browser(make_service: MakeService, served: Serve) -> AsyncGenerator[httpx2.AsyncClient]:
    async with (
        served(make_service(lambda _: "Noted.")) as url,
        httpx2.AsyncClient(
            base_url=url, timeout=DEADLOCK_SECONDS, limits=httpx2.Limits(max_connections=None)
        ) as client,
    ):
        yield client


async def test_a_signal_is_told_as_soon_as_it_is_written(browser: httpx2.AsyncClient) -> None:
    async with listening(browser) as stream:
        assert await stream.next() is None
        assert stream.last == 0
        await say(browser, "I live in Lisbon.")
        told = await stream.next(limit=live.POLL_SECONDS / 2)
        assert told is not None
        assert (told["kind"], told["session"], told["turn"], told["id"]) == ("meta:turn", "monday", 1, stream.last)


async def test_many_who_begin_to_listen_take_no_threads(browser: httpx2.AsyncClient) -> None:
    async with listening(browser) as first, AsyncExitStack() as stack:
        await first.next()
        before = threading.active_count()
        await asyncio.gather(*(stack.enter_async_context(listening(browser)) for _ in range(LISTENERS // 2)))
        assert threading.active_count() <= before + FEW


async def test_who_is_cut_off_before_anything_happened_goes_on_from_there(browser: httpx2.AsyncClient) -> None:
    await say(browser, "I live in Lisbon.")
    async with listening(browser) as stream:
        assert await stream.next() is None
    await say(browser, "I like trains.")
    async with listening(browser, last=stream.last) as again:
        assert await again.ids(1) > [stream.last]


async def test_a_long_ledger_is_told_in_full(browser: httpx2.AsyncClient, metacognition: Metacognition) -> None:
    await _write(metacognition.store, 3 * ledger.BATCH + 7)
    async with listening(browser, after=0) as stream:
        assert await stream.ids(3 * ledger.BATCH + 7) == list(range(1, 3 * ledger.BATCH + 8))


async def _write(store: Store, number: int) -> None:
    """Write signals to the ledger without a word to anybody."""
    place = await store.resolve_place("ana", "monday")
    at = datetime.now(UTC)
    made = [Signal(kind="meta:turn", user="ana", session="monday", turn=1, reason="r", at=at) for _ in range(number)]
    await store.run(statements.append_signals, place, made)


async def test_what_another_process_writes_is_told_too(
    browser: httpx2.AsyncClient, metacognition: Metacognition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "POLL_SECONDS", 0.2)
    async with listening(browser) as stream:
        await stream.next()
        async with await Store.open(metacognition.store.path) as other:
            await _write(other, 1)
        assert await stream.ids(1) == [1]
        await asyncio.sleep(live.POLL_SECONDS)
        async with await Store.open(metacognition.store.path) as other:
            await _write(other, 2)
        assert await stream.ids(2) == [2, 3]


async def test_a_stream_in_which_nothing_happens_says_that_it_is_alive(
    browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "HEARTBEAT_SECONDS", 0.05)
    async with browser.stream("GET", "/signals?user=ana", timeout=DEADLOCK_SECONDS) as response:
        lines = response.aiter_lines()
        found = [await anext(lines) for _ in range(6)]
    assert ": ping" in found


async def test_a_user_has_so_many_streams_and_no_more(browser: httpx2.AsyncClient) -> None:
    opened = [listening(browser) for _ in range(LISTENERS)]
    for one in opened:
        await one.__aenter__()
    full = await browser.get("/signals?user=ana")
    assert (full.status_code, full.headers["content-type"]) == (429, "application/problem+json")
    async with listening(browser, user="ben"):
        pass
    await opened[0].__aexit__(None, None, None)
    async with asyncio.timeout(DEADLOCK_SECONDS):
        while not await _has_room(browser):
            await asyncio.sleep(0.01)
    for one in opened[1:]:
        await one.__aexit__(None, None, None)


async def _has_room(browser: httpx2.AsyncClient) -> bool:
    """Whether one more may listen; the server hears of who went away when it hears of it."""
    async with browser.stream("GET", "/signals?user=ana", timeout=DEADLOCK_SECONDS) as response:
        return response.status_code == 200


async def _listen(browser: httpx2.AsyncClient, user: str) -> str:
    """All that a user's stream tells from the beginning until their goodbye."""
    told = ""
    async with listening(browser, user, after=0) as stream:
        while "goodbye" not in told:
            told += json.dumps(await stream.next())
    return told


async def test_a_stream_tells_one_users_signals_alone_while_others_talk(browser: httpx2.AsyncClient) -> None:
    streams = {user: asyncio.create_task(_listen(browser, user)) for user in ("ana", "ben", "an")}
    for number in range(3):
        for user in ("ana", "ben"):
            await say(browser, f"The {user}word of number {number}.", user)
    for user in streams:
        await say(browser, "Goodbye.", user, "goodbye")
    for user, stream in streams.items():
        told = await stream
        assert ("anaword" in told, "benword" in told) == (user == "ana", user == "ben")


async def test_a_place_that_is_no_number_is_refused(browser: httpx2.AsyncClient) -> None:
    for last in ("x", "-1", "1.5", str(2**63), "1 OR 1=1"):
        found = await browser.get("/signals?user=ana", headers={"Last-Event-ID": last})
        assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json"), last


async def test_for_who_does_not_read_nothing_is_read_ahead(
    make_service: MakeService, metacognition: Metacognition, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, entries = 0, views.list_entries

    def counted(connection: sa.Connection, user: str, after: int, limit: int) -> list[LedgerEntry]:
        nonlocal looked
        looked += 1
        return entries(connection, user, after, limit)

    monkeypatch.setattr(views, "list_entries", counted)
    await _write(metacognition.store, 1)
    app, reads, told = create_app(make_service()), asyncio.Event(), b""

    async def send(message: Message) -> None:
        nonlocal told
        if b"data:" in message.get("body", b""):
            await reads.wait()
            told += message["body"]

    async def receive() -> Message:
        return await asyncio.Future()

    listener = asyncio.create_task(app(_SIGNALS, receive, send))
    for _ in range(10):
        await _write(metacognition.store, ledger.BATCH)
        app.state.service.live.wake_listeners(
            Signal(kind="meta:turn", user="ana", session="", turn=1, reason="", at=datetime.now(UTC))
        )
        await asyncio.sleep(0.01)
    assert looked <= 2, "what comes waits on the ledger, and not in memory"
    reads.set()
    async with asyncio.timeout(DEADLOCK_SECONDS):
        while told.count(b"id: ") < 10 * ledger.BATCH + 1:
            await asyncio.sleep(0.01)
    ids = [int(line[4:]) for line in told.splitlines() if line.startswith(b"id: ")]
    assert ids == list(range(1, 10 * ledger.BATCH + 2))
    listener.cancel()
    await asyncio.gather(listener, return_exceptions=True)


_SIGNALS: Scope = {
    "type": "http",
    "asgi": {"version": "3.0", "spec_version": "2.3"},
    "http_version": "1.1",
    "method": "GET",
    "scheme": "http",
    "path": "/signals",
    "raw_path": b"/signals",
    "query_string": b"user=ana&after=0",
    "root_path": "",
    "headers": [(b"host", b"localhost")],
    "client": ("127.0.0.1", 1),
    "server": ("127.0.0.1", 80),
}


# Two servers on one PostgreSQL: what one writes wakes who listens at the other, and neither writes over the other


@pytest.fixture
async def stores(anyio_backend: str, database: str) -> AsyncGenerator[tuple[Store, Store]]:
    async with await Store.open(database) as one, await Store.open(database) as other:
        yield one, other


async def woken(here: Store, there: Store) -> bool:
    """Whether who listens at one server is woken by a signal that another writes, within two looks."""
    listening = LiveLedger()
    watch = asyncio.create_task(listening.watch_store(here))
    try:
        with listening.add_listener("ana") as room:
            grown = room.grown
            with suppress(TimeoutError):  # the first look wakes everybody
                await asyncio.wait_for(grown.wait(), 10)
            grown = room.grown
            place = await there.resolve_place("ana", "monday")
            signal = Signal(kind="meta:turn", user="ana", session="monday", turn=1, reason="", at=datetime.now(UTC))
            await there.run(statements.append_signals, place, [signal])
            await asyncio.wait_for(grown.wait(), 60)
            return True
    finally:
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch


async def test_a_signal_of_another_server_wakes_who_listens_here(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "POLL_SECONDS", 0.2)
    assert await woken(*stores)


async def test_neither_server_writes_over_what_the_other_knows_of_itself(stores: tuple[Store, Store]) -> None:
    minds = [Metacognition(store, embed=None) for store in stores]
    for number, mind in enumerate(minds):
        mind.engine.service = f"insula@here:{number}"
        await mind.engine.restore_state()
    for turn in range(3):
        for number, mind in enumerate(minds):
            async with mind.turn("ana", f"s{number}", f"I like number {turn}.") as exchange:
                exchange.finish("Noted.")
    for number, mind in enumerate(minds):
        await mind.engine.write_down()
        assert (
            (await mind.store.run(vitals.read_state, f"insula@here:{number}"))["turns"]
            == mind.engine.regulator.turns
            == 3
        )
    new = Metacognition(stores[0], embed=None)
    new.engine.service = "insula@there:1"
    await new.engine.restore_state()  # one that never ran goes on from the last that did
    assert new.engine.regulator.turns == 3


async def test_a_session_goes_on_at_another_server_as_if_it_had_been_there(stores: tuple[Store, Store]) -> None:
    minds = [Metacognition(store, embed=None) for store in stores]
    for turn in range(6):
        mind = minds[turn % 2]
        async with mind.turn("ana", "monday", f"My cat number {turn} is called Tom{turn}.") as exchange:
            exchange.finish("Noted.")
    place = await stores[0].resolve_place("ana", "monday")
    said = await stores[1].sessions.read_lines(place, 50)
    assert [line.turn for line in said] == [turn for turn in range(1, 7) for _ in range(2)]
    async with minds[0].turn("ana", "monday", "What is cat number 5 called?") as exchange:
        assert any("Tom5" in one.memory.content for one in exchange.recalled)
        exchange.finish("Tom5.")
