"""Two servers on one PostgreSQL: what one writes wakes who listens at the other, and neither writes over the other."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from insula.memory.storage import statements, vitals
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.server import live
from insula.server.live import LiveLedger
from insula.types import Signal

pytestmark = pytest.mark.anyio


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
