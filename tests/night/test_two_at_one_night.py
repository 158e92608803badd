"""Two who are at one night, since one was thought to be dead: what one has paid for, the other does not pay again."""

from dataclasses import replace

import pytest

from insula.memory.storage.store import Store
from insula.night.cycle import Night
from insula.types import Identity

pytestmark = pytest.mark.anyio


async def night(store: Store) -> Night:
    place = await store.resolve_place("ana", "monday")
    return Night(
        store=store, user="ana", user_id=place.user_id, date="d", now=store.now(), since=0.0, identity=Identity()
    )


async def test_who_wakes_takes_the_answer_that_the_other_has_paid_for(store: Store) -> None:
    slow, paid = await night(store), list[str]()
    fast = replace(slow)

    async def asked(by: str) -> str:
        paid.append(by)
        return by

    assert await fast.once("think:call", lambda: asked("fast")) == "fast"
    assert await slow.once("think:call", lambda: asked("slow")) == "fast"
    assert paid == ["fast"]


async def test_of_two_in_flight_both_go_on_with_the_answer_that_stands(store: Store) -> None:
    one = await night(store)

    async def late() -> str:
        await replace(one).once("think:call", early)
        return "late"

    async def early() -> str:
        return "early"

    assert await one.once("think:call", late) == "early"
    assert (await store.nights.read_journal(one.user_id, "d"))["think:call"] == {"result": "early"}
