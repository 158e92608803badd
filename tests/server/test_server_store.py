"""A store that goes away and comes back: what is said meanwhile, and that nothing acknowledged is lost."""

import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path

import httpx2
import pytest
from api_service import TOKENS, Client, MakeService, say

pytestmark = pytest.mark.anyio

Pragma = Callable[[str], Awaitable[None]]
"""Sets something of the file's own on the connection that writes."""

READING = ("/agent/sessions", "/agent/sessions/monday", "/agent/memories", "/agent/memories/1", "/agent/soul")
SAID = {"session": "monday", "message": "I live in Lisbon."}
MORE = ("/agent/soul/revisions", "/agent/soul/diff", "/agent/lessons", "/agent/sleep", "/ready", "/signals")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "insula.db"


async def _all_unavailable(here: httpx2.AsyncClient) -> None:
    for path in (*READING, *MORE):
        found = await here.get(path, params={"user": "ana"})
        assert (found.status_code, found.headers["retry-after"]) == (503, "5"), path
        assert found.json()["type"].startswith("urn:insula:store")
        assert "insula.db" in found.json()["detail"]
    found = await here.post("/agent/sleep", params={"user": "ana"})
    assert found.status_code == 503
    for path in ("/health", "/metrics", "/agent/chat/metacog/status", "/agent/chat/performance"):
        assert (await here.get(path)).status_code == 200


async def _answered_and_said_to_be_lost(here: httpx2.AsyncClient) -> None:
    answer = await say(here, "I live in Porto.")
    assert answer.status_code == 200
    assert answer.json()["response"], "law 4: the host's work goes on"
    assert answer.json()["turn"] == 0
    assert answer.json()["troubles"]


async def _kept(here: httpx2.AsyncClient) -> list[str]:
    """What stands in the transcript."""
    turns = (await here.get("/agent/sessions/monday", params={"user": "ana"})).json()["turns"]
    return [turn["lines"][0]["content"] for turn in turns]


async def test_a_file_that_is_deleted_and_put_back(make_service: MakeService, client: Client, file: Path) -> None:
    here = client(make_service())
    assert (await say(here, "I live in Lisbon.")).json()["turn"] == 1
    aside = file.with_name("aside.db")
    file.rename(aside)
    await _answered_and_said_to_be_lost(here)
    await _all_unavailable(here)
    aside.rename(file)
    assert (await here.get("/ready")).status_code == 200
    assert (await say(here, "I like trains.")).json()["troubles"] == []
    assert await _kept(here) == ["I live in Lisbon.", "I like trains."]


async def test_who_has_a_token_is_not_told_where_the_file_lies(
    make_service: MakeService, client: Client, file: Path
) -> None:
    here = client(make_service(tokens=TOKENS))
    here.headers["Authorization"] = f"Bearer {TOKENS['ana']}"
    await here.post("/agent/chat", json=SAID)
    file.rename(file.with_name("aside.db"))
    answers = [
        await here.get("/ready"),
        await here.get("/agent/memories"),
        await here.get("/memory", headers={"Accept": "text/html"}),
        await here.post("/agent/sleep?force=true"),
        await here.post("/agent/chat", json=SAID),
        await here.post("/agent/chat", json=SAID, headers={"Accept": "text/event-stream"}),
    ]
    for found in answers:
        assert str(file.parent) not in found.text, found.url
        assert "insula.db" in found.text
        assert "put the file back" in found.text
    (file.parent / "tokens.json").unlink()
    owner = client(make_service())
    assert repr(str(file)) in (await owner.get("/ready")).json()["detail"]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("The memory at '/home/ana/x y/insula.db' is gone.", "The memory at 'insula.db' is gone."),
        ("The memory at 'C:\\\\Users\\\\ana\\\\insula.db' is gone.", "The memory at 'insula.db' is gone."),
        ('"/home/o\'ana/SOUL.md" is a link', '"SOUL.md" is a link'),
        ("'/a/SOUL.md' is a link, to '/b/c.md'; put", "'SOUL.md' is a link, to 'c.md'; put"),
        ("There is no session 'a/b', see /agent/sessions.", "There is no session 'a/b', see /agent/sessions."),
        ("Nothing is stored of 'ana'.", "Nothing is stored of 'ana'."),
    ],
)
def test_files_are_told_by_name_where_there_are_tokens(sentence: str, told: str, make_service: MakeService) -> None:
    assert make_service().hide_machine(sentence) == sentence
    assert make_service(tokens=TOKENS).hide_machine(sentence) == told


async def test_another_file_in_its_place_is_opened_with_nothing_of_the_old_one(
    make_service: MakeService, client: Client, file: Path
) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")
    for each in file.parent.glob("insula.db*"):
        each.unlink()
    await _answered_and_said_to_be_lost(here)
    file.touch()
    assert await _kept_nothing(here)
    assert (await say(here, "I like trains.", user="ben")).json()["turn"] == 1
    assert (await say(here, "I like tea.")).json()["turn"] == 1
    assert await _kept(here) == ["I like tea."]


async def _kept_nothing(here: httpx2.AsyncClient) -> bool:
    return (await here.get("/agent/memories?user=ana")).json()["memories"] == []


async def test_a_file_that_another_process_locks(
    make_service: MakeService, client: Client, file: Path, pragma: Pragma
) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")

    await pragma("busy_timeout=50")
    other = sqlite3.connect(file)
    other.execute("BEGIN IMMEDIATE")
    await _answered_and_said_to_be_lost(here)
    locked = await here.delete("/agent/memories/1?user=ana")
    assert (locked.status_code, locked.json()["type"]) == (503, "urn:insula:store-locked")
    assert (await here.get("/ready")).status_code == 503
    assert (await here.get("/agent/memories?user=ana")).status_code == 200, "it can be read all the same"
    other.rollback()
    other.close()
    assert (await say(here, "I like trains.")).json()["troubles"] == []
    assert await _kept(here) == ["I live in Lisbon.", "I like trains."]


async def test_a_disk_that_is_full(make_service: MakeService, client: Client, pragma: Pragma) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")

    await pragma("max_page_count=1")
    answers = [(await say(here, f"I like the number {number}. " * 200)).json() for number in range(5)]
    lost = [one for one in answers if one["troubles"]]
    assert lost
    assert "full" in lost[0]["troubles"][0]
    stream = {"Accept": "text/event-stream"}
    said_on = {"user": "ana", "session": "monday", "message": "I like trams. " * 1_000}
    streamed = (await here.post("/agent/chat", json=said_on, headers=stream)).text
    assert "event: reply" in streamed and "full" in streamed.partition("event: reply")[2]
    words = [{"do": "correct", "text": f"I live in house {number}. " * 20} for number in range(20)]
    corrected = [(await here.post("/agent/memories/1?user=ana", json=word)) for word in words]
    assert {one.status_code for one in corrected} <= {200, 507}
    assert corrected[-1].json()["type"] == "urn:insula:store-full"
    await pragma("max_page_count=1000000")
    await here.post("/agent/memories/1?user=ana", json={"do": "correct", "text": "I live in Lisbon."})
    await pragma("max_page_count=1")
    unready = await here.get("/ready")
    assert (unready.status_code, "full" in unready.json()["detail"]) == (503, True)
    await pragma("max_page_count=1000000")
    assert (await here.get("/ready")).status_code == 200
    assert (await say(here, "I like trains.")).json()["troubles"] == []
    said = await _kept(here)
    assert (said[0], said[-1]) == ("I live in Lisbon.", "I like trains.")
    acknowledged = [one for one in answers if one["turn"] and not one["troubles"]]
    assert set(said) >= {one["message"] for one in acknowledged}


async def test_a_disk_with_room_for_a_turn_again_is_ready(
    make_service: MakeService, client: Client, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, usage = client(make_service()), shutil.disk_usage(file.parent)
    for left, status in ((0, 503), (4_096, 503), (1_000_000, 200), (usage.free, 200)):
        monkeypatch.setattr(shutil, "disk_usage", {file.parent: usage._replace(free=left)}.__getitem__)
        assert (await here.get("/ready")).status_code == status, left


async def test_a_file_that_is_no_database_any_more(make_service: MakeService, client: Client, file: Path) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")
    whole, aside = file.with_name("whole.db"), file.with_name("aside.db")
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.rename(whole)
    aside.write_bytes(b"This is no database. " * 500)
    aside.rename(file)
    found = await here.get("/agent/memories?user=ana")
    assert (found.status_code, found.json()["type"]) == (503, "urn:insula:store-corrupt")
    await _answered_and_said_to_be_lost(here)
    file.unlink()
    file.touch()
    assert (await here.get("/ready")).status_code == 200


WRITES = (
    ("POST", "/agent/memories", {"messages": [{"role": "user", "content": "I like trams."}]}),
    ("POST", "/agent/memories/1", {"do": "correct", "text": "I live in Porto."}),
    ("POST", "/agent/memories/forget", {"session": "monday"}),
    ("DELETE", "/agent/memories/1", None),
    ("POST", "/agent/lessons/w1", {"do": "mute"}),
    ("DELETE", "/agent/lessons/w1", None),
    ("POST", "/agent/sleep", None),
    ("POST", "/agent/data/erase", {"name": "ana"}),
    ("POST", "/agent/answers/judge", {"session": "monday", "turn": 1, "right": True}),
)
"""Routes that write in the memory. A message and the turns of an agent elsewhere are answered all the same."""


async def test_each_route_that_writes_is_507_on_a_full_disk(
    make_service: MakeService, client: Client, full_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    here = client(make_service())
    await say(here, "I live in Lisbon.")
    for method, path, body in WRITES:
        with full_disk():
            answer = await here.request(method, path, params={"user": "ana"}, json=body)
        assert (answer.status_code, answer.json()["type"]) == (507, "urn:insula:store-full"), (method, path)
        assert await _kept(here) == ["I live in Lisbon."], (method, path)
