"""The server lets a user's own model read their lines once nothing was said for a minute, and says what it took."""

from dataclasses import replace

import pytest
from api_service import Client, MakeService

from insula.agent.chat import Chat
from insula.errors import ModelUnavailable
from insula.memory.storage import unread
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.server.rests import Rests, run_rests
from insula.server.service import Service
from insula.testing import FrozenClock, ScriptedModel, memory_store

pytestmark = pytest.mark.anyio

SISTER = "Any tips for a present for my sister?"
EMPTY: dict[str, list[object]] = {"statements": [], "ended": [], "preferences": []}


async def tell(store: Store, *lines: str) -> int:
    """Say some lines in a session; returns the user's id."""
    mind = Metacognition(store, holdout=0.0, embed=None)
    for text in lines:
        async with mind.turn("ana", "monday", text) as turn:
            turn.finish("I see.")
    found = await store.nights.find_user_id("ana")
    assert found is not None
    return found


def service_of(store: Store, model: ScriptedModel, tokens: int = 50_000) -> Service:
    return Service(
        chat=Chat(Metacognition(store, holdout=0.0, embed=None), model),
        model="m",
        soul_of=lambda _: None,
        understands=True,
        understanding="idle",
        understanding_tokens=tokens,
    )


async def test_lines_are_read_once_nothing_was_said_for_a_minute() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        model = ScriptedModel(lambda _: EMPTY)
        rests = Rests(service_of(store, model))
        await tell(store, SISTER)
        clock.advance(30)
        await rests.read_resting()
        assert not model.requests
        clock.advance(31)
        await rests.read_resting()
        await rests.read_resting()
        assert len(model.requests) == 1
        user = await tell(store, "Thanks.")
        clock.advance(61)
        await rests.read_resting()
        assert len(model.requests) == 2
        assert await store.run(unread.tokens_spent, user, store.now()) > 0
        clock.advance(2 * 86_400)
        assert await store.run(unread.tokens_spent, user, store.now()) == 0


async def test_what_was_said_more_than_a_week_ago_is_read_no_more() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        model = ScriptedModel(lambda _: EMPTY)
        await tell(store, SISTER)
        clock.advance(8 * 86_400)
        await Rests(service_of(store, model)).read_resting()
        assert not model.requests


async def test_a_clock_that_goes_back_keeps_no_line_from_being_read() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        model = ScriptedModel(lambda _: EMPTY)
        await tell(store, SISTER)
        clock.advance(-3 * 86_400)
        await Rests(service_of(store, model)).read_resting()
        assert len(model.requests) == 1


async def test_whose_tokens_of_the_day_are_spent_waits() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        model = ScriptedModel(lambda _: EMPTY)
        await tell(store, SISTER)
        clock.advance(61)
        await Rests(service_of(store, model, tokens=1_000)).read_resting()
        assert not model.requests


async def test_a_user_whose_lines_cannot_be_read_holds_up_nobody() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        model = ScriptedModel([ModelUnavailable("Nobody answers."), EMPTY])
        rests = Rests(service_of(store, model))
        await tell(store, SISTER)
        clock.advance(61)
        await rests.read_resting()
        await rests.read_resting()
        assert len(model.requests) == 1
        clock.advance(301)
        await rests.read_resting()
        assert len(model.requests) == 2


@pytest.mark.parametrize("understanding", ["off", "night"])
async def test_between_turns_nothing_is_read_unless_it_is_wanted(understanding: str) -> None:
    async with memory_store() as store:
        model = ScriptedModel(lambda _: EMPTY)
        await tell(store, SISTER)
        async with run_rests(replace(service_of(store, model), understanding=understanding)):
            pass
        assert not model.requests


async def test_the_page_of_the_nights_says_when_the_model_reads_and_what_that_took(
    make_service: MakeService, client: Client
) -> None:
    service = replace(make_service(), understands=True, understanding="idle", understanding_tokens=9_000)
    page = (await client(service).get("/nights")).text
    assert "once you have said nothing for a minute" in page
    assert "of at most" not in page, "where nothing was read, nothing was spent"
    assert "does not read what you said" in (await client(replace(service, understands=False)).get("/nights")).text
