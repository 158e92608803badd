"""What a person decides on a memory, from their word to what the model is told: correct, pin, mute, undo."""

from pathlib import Path

import httpx2
import pytest
from api_service import Client, MakeService, say

from insula.memory.storage.changes import Forget
from insula.metacognition import Metacognition

pytestmark = pytest.mark.anyio

CITY = "My sister Ana lives in Porto."


async def told(here: httpx2.AsyncClient, question: str = "Where does Ana live?", session: str = "later") -> str:
    """All that the model is told of when it is asked."""
    turn = (await say(here, question, session=session)).json()["turn"]
    found = await here.get(f"/agent/answers/request?user=ana&session={session}&turn={turn}")
    return "\n".join(part["text"] for part in found.json()["parts"])


async def decide(here: httpx2.AsyncClient, do: str, text: str = "", number: int = 1) -> httpx2.Response:
    return await here.post(f"/agent/memories/{number}?user=ana", json={"do": do, "text": text})


async def test_a_pinned_memory_is_kept_whatever_the_night_thinks_of_it(
    make_service: MakeService, client: Client, metacognition: Metacognition
) -> None:
    here = client(make_service())
    await say(here, CITY)
    await say(here, "Thanks!")
    user = await metacognition.store.nights.find_user_id("ana")
    assert user is not None

    async def restored() -> dict[int, bool]:
        return {one.id: one.restored for one in await metacognition.store.nights.list_remembered(user, 10)}

    assert (await decide(here, "pin", number=3)).json()["stands"] == "long-term"
    assert (await restored())[3]
    assert (await decide(here, "unpin", number=3)).json()["mode"] == ""
    assert not (await restored())[3]
    await metacognition.store.nights.record_phase(user, "d", "c", {}, [Forget(1, "never used")])
    assert (await decide(here, "pin")).status_code == 409, "a night let it go"
    assert (await decide(here, "undo")).json()["stands"] == "long-term"
    assert (await restored())[1], "a person brought it back"


async def test_old_words_go_with_the_memory_that_had_them(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here = client(make_service(lambda _: "Noted."))
    await say(here, "My zebrafish Quillon lives in Ouagadougou.")
    await decide(here, "correct", "My axolotl Quillon lives in Antofagasta, key ghp_" + "a1B2c3D4e5F6" * 3)
    assert (await here.delete("/agent/memories/1?user=ana")).status_code == 200
    assert (await decide(here, "undo")).status_code == 409, "nothing brings it back"
    raw = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).lower()
    left = [
        word for word in (b"quillon", b"ouagadougou", b"zebrafish", b"axolotl", b"antofagasta", b"ghp_") if word in raw
    ]
    assert not left
