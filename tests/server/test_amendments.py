"""What a person decides on a memory, from their word to what the model is told: correct, pin, mute, undo."""

from pathlib import Path

import httpx2
import pytest
from api_service import TOKENS, Client, MakeService, say

from insula.memory.changes import Forget
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


async def test_a_corrected_memory_is_told_with_its_new_words_and_found_by_them(
    make_service: MakeService, client: Client
) -> None:
    here = client(make_service())
    await say(here, CITY)
    assert "Porto" in await told(here)
    changed = await decide(here, "correct", "My sister Ana lives in Lisbon.")
    assert (changed.status_code, changed.json()["content"]) == (200, "My sister Ana lives in Lisbon.")
    after = await told(here, session="after")
    assert ("Lisbon" in after, "Porto" in after) == (True, False)
    found = [
        [one["id"] for one in (await here.get(f"/agent/memories?user=ana&q={word}")).json()["memories"]]
        for word in ("Lisbon", "Porto")
    ]
    assert 1 in found[0]
    assert 1 not in found[1]
    assert (await decide(here, "undo")).json()["content"] == CITY
    assert "Porto" in await told(here, session="last")


async def test_a_muted_memory_is_told_to_no_model_until_that_is_undone(
    make_service: MakeService, client: Client
) -> None:
    here = client(make_service(lambda _: "I see."))
    await say(here, CITY)
    muted = (await decide(here, "mute")).json()
    assert (muted["mode"], muted["withheld"]) == ("muted", ["muted"])
    assert "Porto" not in await told(here)
    assert (await decide(here, "correct", "My sister Ana lives in Porto now.")).json()["withheld"] == ["muted"]
    assert "Porto" not in await told(here, session="still")
    assert (await decide(here, "undo")).json()["content"] == CITY
    back = (await decide(here, "undo")).json()
    assert (back["mode"], back["withheld"], back["content"]) == ("", [], CITY)
    assert "Porto" in await told(here, session="after")
    assert (await decide(here, "undo")).status_code == 409


async def test_a_pinned_memory_is_kept_whatever_the_night_thinks_of_it(
    make_service: MakeService, client: Client, metacognition: Metacognition
) -> None:
    here = client(make_service())
    await say(here, CITY)
    await say(here, "Thanks!")
    user = await metacognition.store.nights.sleeper("ana")
    assert user is not None

    async def restored() -> dict[int, bool]:
        return {one.id: one.restored for one in await metacognition.store.nights.held(user, 10)}

    assert (await decide(here, "pin", number=3)).json()["stands"] == "long-term"
    assert (await restored())[3]
    assert (await decide(here, "unpin", number=3)).json()["mode"] == ""
    assert not (await restored())[3]
    await metacognition.store.nights.record(user, "d", "c", {}, [Forget(1, "never used")])
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


@pytest.mark.parametrize(
    ("do", "text", "status"), [("correct", " ", 409), ("correct", "x" * 4_001, 422), ("explode", "", 422)]
)
async def test_what_cannot_be_decided_is_refused_with_the_reason(
    make_service: MakeService, client: Client, do: str, text: str, status: int
) -> None:
    here = client(make_service())
    await say(here, CITY)
    refused = await decide(here, do, text)
    assert refused.status_code == status
    assert refused.json()["detail"]
    assert (await decide(here, "pin", number=99)).status_code == 404


async def test_nobody_decides_on_another_users_memory(make_service: MakeService, client: Client) -> None:
    here = client(make_service(tokens=TOKENS))
    ana, ben = ({"Authorization": f"Bearer {TOKENS[name]}"} for name in ("ana", "ben"))
    await here.post("/agent/chat", json={"session": "monday", "message": CITY}, headers=ana)
    await here.post("/agent/chat", json={"session": "monday", "message": "I like trains."}, headers=ben)
    for word in ("mute", "undo"):
        assert (await here.post("/agent/memories/1", json={"do": word}, headers=ben)).status_code == 404
    assert (await here.get("/agent/memories/1", headers=ana)).json()["mode"] == ""
    assert (await here.get("/agent/memories?q=Porto", headers=ben)).json()["memories"] == []
