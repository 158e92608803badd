"""What a person decides on a memory, from their word to what the model is told: correct, pin, mute, undo."""

from pathlib import Path

import httpx2
import pytest
from api_service import Client, MakeService, say

pytestmark = pytest.mark.anyio


async def told(here: httpx2.AsyncClient, question: str = "Where does Ana live?", session: str = "later") -> str:
    """All that the model is told of when it is asked."""
    turn = (await say(here, question, session=session)).json()["turn"]
    found = await here.get(f"/agent/answers/request?user=ana&session={session}&turn={turn}")
    return "\n".join(part["text"] for part in found.json()["parts"])


async def decide(here: httpx2.AsyncClient, do: str, text: str = "", number: int = 1) -> httpx2.Response:
    return await here.post(f"/agent/memories/{number}?user=ana", json={"do": do, "text": text})


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
