"""What a person may do over HTTP with what is kept of them, and with an answer: also as somebody who should not."""

import asyncio
from pathlib import Path

import pytest
from api_service import Client, MakeService, answer, say
from harness import Ran, run_insula

from patience import HeldModel

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def same_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command works in the folder of the server."""
    monkeypatch.setenv("INSULA_HOME", str(tmp_path))


async def insula(*words: str) -> Ran:
    """Run the command beside the server."""
    return await asyncio.to_thread(run_insula, *words)


async def test_all_that_is_known_comes_along_as_an_archive(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here = client(make_service())
    await say(here, "My zebrafish Quillon lives in Ouagadougou.")
    found = await here.get("/agent/data/export?user=ana")
    assert (found.status_code, "ana.insula.jsonl" in found.headers["content-disposition"]) == (200, True)
    assert b"Quillon" in found.content and found.content.startswith(b'{"insula":1')
    assert not [*tmp_path.glob(".export*")]
    foreign = await here.get("/agent/data/export?user=ana", headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert (await here.get("/agent/data/export?user=nobody")).status_code == 404


async def test_of_two_erasures_at_once_each_is_whole(make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    for user in ("ana", "ben"):
        await say(here, "I live in Lisbon.", user=user)
    names = ["ana", "ana", "ben"]
    found = await asyncio.gather(*(here.post(f"/agent/data/erase?user={name}", json={"name": name}) for name in names))
    assert {one.status_code for one in found} <= {200, 404, 422}
    left = (await insula("user", "list", "--json")).json
    for name in left:
        assert (await here.post(f"/agent/data/erase?user={name}", json={"name": name})).status_code == 200
    assert (await insula("user", "list", "--json")).json == []


async def test_the_exact_request_is_kept_until_a_memory_is_erased(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")
    await say(here, "Where do I live? My key is ghp_" + "a1B2c3D4e5F6" * 3)
    told = (await here.get("/agent/answers/request?user=ana&session=monday&turn=2")).json()
    assert "Where do I live?" in next(one for one in told["parts"] if one["source"] == "your message")["text"]
    assert "I live in Lisbon." in [one["text"] for one in told["parts"]], "the conversation so far"
    assert told["tokens"] == sum(one["tokens"] for one in told["parts"]) > 0
    (file,) = (path for path in (tmp_path / "users" / "ana").iterdir() if path.name != "SOUL.md")
    assert ("Where do I live?" in file.read_text(), "ghp_a1B2" in file.read_text()) == (True, False)
    assert file.stat().st_mode & 0o777 == 0o600
    assert (await here.get("/agent/answers/request?user=ben&session=monday&turn=2")).status_code == 404
    assert (await here.delete("/agent/memories/1?user=ana")).status_code == 200
    assert (await here.get("/agent/answers/request?user=ana&session=monday&turn=2")).status_code == 404


async def test_where_no_model_was_asked_that_is_said_of_the_exact_request(
    make_service: MakeService, client: Client
) -> None:
    service = make_service()
    service.chat.guided = True
    here = client(service)
    await say(here, "I live in Lisbon.")
    found = await here.get("/agent/answers/request?user=ana&session=monday&turn=1")
    assert (found.status_code, "No model was asked" in found.json()["detail"]) == (404, True)
    assert "No model was asked" in (await here.get("/parts/request?user=ana&session=monday&turn=1")).text
    assert (await here.delete("/agent/memories/1?user=ana")).status_code == 200
    for path in ("/agent/answers/request", "/parts/request"):
        assert "No request of this turn is kept" in (await here.get(f"{path}?user=ana&session=monday&turn=1")).text


async def test_a_restore_over_a_memory_in_use_is_whole_and_what_it_overtook_is_not_called_kept(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here, model = client(make_service()), HeldModel(answer)
    slow = client(make_service(model=model))
    await say(here, "I live in Lisbon.")
    assert (await insula("user", "backup", "ana")).status == 0
    await say(here, "I like trains.")
    talking = asyncio.create_task(say(slow, "I play the violin."))
    await model.gate.reached()
    assert (await insula("user", "restore", "ana", "--yes")).status == 0
    model.gate.open()
    overtaken = (await talking).json()
    assert "nothing of it is kept; say it again" in " ".join(overtaken["troubles"])
    lines = [one["content"] for one in (await here.get("/agent/memories?user=ana")).json()["memories"]]
    assert "I live in Lisbon." in lines
    assert not [one for one in lines if "trains" in one or "violin" in one], "all of the backup, and nothing else"
    assert (await say(here, "I moved to Porto.")).json()["turn"] == 2


async def test_who_is_erased_by_another_program_in_the_middle_of_an_answer_leaves_no_word(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here, model = client(make_service()), HeldModel(answer)
    slow = client(make_service(model=model))
    await say(here, "My zebrafish Quillon lives in Ouagadougou.")
    talking = asyncio.create_task(say(slow, "Does Quillon like marzipan?"))
    await model.gate.reached()
    assert (await insula("user", "erase", "ana", "--yes")).status == 0
    model.gate.open()
    overtaken = (await talking).json()
    assert "nothing of it is kept" in " ".join(overtaken["troubles"])
    assert (await here.get("/agent/memories?user=ana")).json()["memories"] == []
    raw = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert not [name for name, data in raw.items() if b"marzipan" in data], "of the turn that was under way"


async def test_old_words_go_with_the_memory_that_had_them(
    make_service: MakeService, client: Client, tmp_path: Path
) -> None:
    here, memory = client(make_service(lambda _: "Noted.")), "/agent/memories/1?user=ana"
    await say(here, "My zebrafish Quillon lives in Ouagadougou.")
    corrected = "My axolotl Quillon lives in Antofagasta, key ghp_" + "a1B2c3D4e5F6" * 3
    await here.post(memory, json={"do": "correct", "text": corrected})
    assert (await here.delete(memory)).status_code == 200
    assert (await here.post(memory, json={"do": "undo"})).status_code == 409, "nothing brings it back"
    raw = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).lower()
    words = (b"quillon", b"ouagadougou", b"zebrafish", b"axolotl", b"antofagasta", b"ghp_")
    assert not [word for word in words if word in raw]
