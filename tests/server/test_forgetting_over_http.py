"""What a user asks to have forgotten over HTTP is shown in the answer, and erased when the next message is a yes."""

import re

import pytest
from api_service import TOKENS, Client, MakeService
from httpx2 import AsyncClient

from insula.testing import Reply, Request

pytestmark = pytest.mark.anyio
FACT, REQUEST = "My middle name is Ottilie.", "Please forget my middle name."
ANA, BEN = ({"Authorization": f"Bearer {TOKENS[name]}"} for name in ("ana", "ben"))


class Heard:
    """A model that notes what it is told, and says nothing of it."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, request: Request) -> Reply:
        self.prompts.append(request.prompt)
        return "Understood."


async def test_a_yes_of_another_user_in_a_session_of_the_same_name_erases_nothing(
    make_service: MakeService, client: Client
) -> None:
    here = client(make_service(Heard(), tokens=TOKENS))

    async def said(message: str, who: dict[str, str]) -> None:
        sent = await here.post("/agent/chat", json={"session": "monday", "message": message}, headers=who)
        assert sent.status_code == 200

    await said(FACT, ANA)
    await said(REQUEST, ANA)
    await said("yes", BEN)
    kept = (await here.get("/agent/memories", headers=ANA)).json()["memories"]
    assert FACT in [one["content"] for one in kept]
    await said("yes", ANA)
    left = (await here.get("/agent/memories", headers=ANA)).json()["memories"]
    assert not [one for one in left if "middle name" in one["content"]]


async def test_a_conversation_is_listed_by_what_is_left_of_it_and_says_where_something_was_erased(
    make_service: MakeService, client: Client
) -> None:
    here = client(make_service(Heard()))
    for message in (FACT, "I plan to visit Porto next week.", REQUEST, "yes"):
        await here.post("/agent/chat", json={"user": "ana", "session": "monday", "message": message})
    begins, turns = await _read_page(here)
    assert begins == ["I plan to visit Porto next week."]
    assert ["is erased" in turn for turn in turns] == [True, False, True, False]
    numbers = [one["id"] for one in (await here.get("/agent/memories?user=ana")).json()["memories"]]
    for number in numbers:
        await here.delete(f"/agent/memories/{number}?user=ana")
    begins, turns = await _read_page(here)
    assert begins == ["(erased)"]
    assert all("is erased" in turn for turn in turns)


async def _read_page(here: AsyncClient) -> tuple[list[str], list[str]]:
    """How the conversations in the list begin, and the turns of the one that is shown."""
    page = (await here.get("/?user=ana")).text
    listed, _, talk = page.partition('id="turns"')
    return re.findall(r"<span><bdi>(.*?)</bdi></span> <small>", listed), talk.split('<li class="turn"')[1:]
