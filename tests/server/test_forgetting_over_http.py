"""What a user asks to have forgotten over HTTP is shown in the answer, and erased when the next message is a yes."""

from pathlib import Path

import pytest
from api_service import TOKENS, Client, MakeService, say

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


def disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_request_to_forget_is_shown_and_done_with_a_yes(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    model = Heard()
    here = client(make_service(model))
    await say(here, FACT, session="before")
    offered = (await say(here, REQUEST)).json()
    assert FACT in offered["verdict"]["text"]
    assert FACT in model.prompts[-1]
    assert b"Ottilie" in disk(tmp_path)
    erased = (await say(here, "Yes!")).json()
    assert "1" in erased["verdict"]["text"]
    kept = (await here.get("/agent/memories?user=ana")).json()["memories"]
    assert not [one for one in kept if "middle name" in one["content"]]
    assert FACT not in (await say(here, REQUEST, session="later")).json()["verdict"]["text"]
    assert b"Ottilie" not in disk(tmp_path)


@pytest.mark.parametrize(("session", "answer"), [("another", "yes"), ("monday", "no")])
async def test_a_yes_elsewhere_and_a_no_erase_nothing(
    make_service: MakeService, client: Client, session: str, answer: str
) -> None:
    here = client(make_service(Heard()))
    await say(here, FACT, session="before")
    await say(here, REQUEST)
    await say(here, answer, session=session)
    kept = (await here.get("/agent/memories?user=ana")).json()["memories"]
    assert FACT in [one["content"] for one in kept]


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
