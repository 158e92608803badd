"""`POST /agent/chat`: what is answered, as JSON and as a stream, and what is said where it cannot be."""

import asyncio
import json
from collections.abc import Callable

import httpx2
import pytest
from api_service import Client, MakeService, Serve, answer, say

from insula import Metacognition
from insula.agent.chat import MESSAGE_CHARS, Reply
from insula.errors import ModelTimeout
from insula.memory.storage import statements
from insula.server.api import talk
from insula.server.api.talk import STREAM
from insula.server.turns import AT_ONCE, GRACE_SECONDS
from insula.testing import Request
from patience import DEADLOCK_SECONDS, Gate, HeldModel, until

pytestmark = pytest.mark.anyio

ACCEPT = ["application/json", STREAM]
SAID = {"user": "ana", "session": "monday", "message": "I live in Lisbon."}


def encoded(_: str) -> list[float]:
    """What an encoder makes of a text that nobody compares with anything."""
    return [1.0, 0.0]


async def test_a_message_of_the_longest_kind_is_answered_and_a_longer_one_is_not(
    make_service: MakeService, client: Client
) -> None:
    here = client(make_service(lambda _: "That is long."))
    assert (await say(here, "ä" * MESSAGE_CHARS)).status_code == 200
    assert (await say(here, "ä" * (MESSAGE_CHARS + 1))).status_code == 422
    assert (await say(here, "\U0001f98a" * MESSAGE_CHARS)).status_code == 200


async def test_a_body_that_is_no_json_by_its_own_word_is_refused(make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        found = await here.post("/agent/chat", content=json.dumps(SAID), headers={"Content-Type": kind})
        assert found.status_code == 422, kind
        assert "send Content-Type: application/json" in found.json()["detail"], kind


async def test_a_body_that_ends_halfway_is_said_to_be_no_json(make_service: MakeService, client: Client) -> None:
    for cut in ('{"user": ', '{"user": "ana", "session": "s", "mess'):
        found = await client(make_service()).post(
            "/agent/chat", content=cut, headers={"Content-Type": "application/json"}
        )
        (fault,) = found.json()["faults"]
        assert (found.status_code, fault["where"].startswith("body.")) == (422, True)
        assert fault["why"].startswith("it is no JSON from its character ")


@pytest.mark.parametrize("path", ["/agent/chat", "/v1/turns"])
async def test_a_message_that_says_nothing_is_refused(path: str, make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    for message in ("", " \n"):
        assert (await here.post(path, json=SAID | {"message": message})).status_code == 422
    assert (await here.get("/agent/memories?user=ana")).json()["memories"] == []


async def test_all_that_does_not_fit_is_said_with_what_was_given(make_service: MakeService, client: Client) -> None:
    found = await client(make_service()).post("/agent/chat", json={"user": "", "session": 5})
    told = [
        'body.user: String should have at least 1 character (given: "")',
        "body.session: Input should be a valid string (given: 5)",
        "body.message: Field required",
    ]
    assert [f"{fault['where']}: {fault['why']}" for fault in found.json()["faults"]] == told
    assert f"does not fit: {'; '.join(told)}. Mend it" in found.json()["detail"]


@pytest.mark.parametrize("accept", ACCEPT)
async def test_a_server_that_stops_finishes_the_turns_that_nobody_waits_for(
    accept: str, make_service: MakeService, served: Serve, metacognition: Metacognition
) -> None:
    model = HeldModel(lambda _: "Noted: Lisbon.")
    async with served(make_service(model=model)) as url, httpx2.AsyncClient(timeout=DEADLOCK_SECONDS) as browser:
        await _go_away(browser, url, accept, model)
        model.gate.open()
    assert await _said(metacognition) == ["I live in Lisbon.", "Noted: Lisbon."]


@pytest.mark.parametrize("accept", ACCEPT)
async def test_a_server_that_stops_ends_a_turn_that_takes_too_long_and_tells_who_waits(
    accept: str,
    make_service: MakeService,
    served: Serve,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("insula.server.serving.GRACE_SECONDS", 0.5)
    model = HeldModel(answer)
    async with httpx2.AsyncClient(timeout=DEADLOCK_SECONDS) as browser:
        async with served(make_service(model=model)) as url:
            asking = asyncio.create_task(browser.post(f"{url}/agent/chat", json=SAID, headers={"Accept": accept}))
            await model.gate.reached()
            began = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - began < GRACE_SECONDS
        told = (await asking).text
    assert "The server stops before there is a response. The message is kept" in told
    assert ("event: error" in told) == (accept == STREAM)
    assert not [record for record in caplog.records if record.exc_info]


async def _go_away(browser: httpx2.AsyncClient, url: str, accept: str, model: HeldModel) -> None:
    """Leave while the model is asked."""
    asking = asyncio.create_task(browser.post(f"{url}/agent/chat", json=SAID, headers={"Accept": accept}))
    await model.gate.reached()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def _said(metacognition: Metacognition) -> list[str]:
    place = await metacognition.store.resolve_place("ana", "monday")
    return [line.content for line in await metacognition.store.sessions.read_lines(place, 9)]


async def test_one_users_flood_is_worked_off_a_few_at_a_time_and_nothing_of_it_is_lost(
    make_service: MakeService, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = HeldModel(answer)
    service = make_service(model=model)
    at_once, most, reply = 0, 0, service.chat.reply

    async def counted(user: str, session: str, message: str, on_kept: Callable[[], None]) -> Reply:
        nonlocal at_once, most
        at_once += user == "ana"
        most = max(most, at_once)
        try:
            return await reply(user, session, message, on_kept=on_kept)
        finally:
            at_once -= user == "ana"

    monkeypatch.setattr(service.chat, "reply", counted)
    async with served(service) as url, httpx2.AsyncClient(base_url=url, timeout=DEADLOCK_SECONDS) as browser:
        flood = asyncio.gather(*(say(browser, f"Number {number}.") for number in range(20)))
        await model.gate.reached(AT_ONCE)
        other = asyncio.create_task(say(browser, "I live in Porto.", user="ben"))
        await model.gate.reached(AT_ONCE + 1)  # another user's is begun though none of the flood is answered
        model.gate.open()
        assert (await other).status_code == 200
        answers = await flood
        assert {found.status_code for found in answers} == {200}
        assert sorted(found.json()["turn"] for found in answers) == list(range(1, 21))
        turns = (await browser.get("/agent/sessions/monday?user=ana&limit=200")).json()["turns"]
        said = {found.json()["turn"]: found.json()["message"] for found in answers}
        assert {turn["turn"]: turn["lines"][0]["content"] for turn in turns} == said
        assert all(len(turn["lines"]) == 2 for turn in turns)
    assert most == AT_ONCE


async def test_who_has_too_many_messages_waiting_is_asked_to_wait(
    make_service: MakeService, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk, "WAITING", 6)
    model = HeldModel(answer)
    async with (
        served(make_service(model=model)) as url,
        httpx2.AsyncClient(base_url=url, timeout=DEADLOCK_SECONDS) as browser,
    ):
        waiting = [asyncio.create_task(say(browser, f"Number {number}.")) for number in range(9)]
        await until(lambda: sum(one.done() for one in waiting) == 3)
        model.gate.open()
        codes = sorted(found.status_code for found in await asyncio.gather(*waiting))
        assert codes == [200] * 6 + [429] * 3
        assert (await say(browser, "And now?")).status_code == 200


@pytest.mark.parametrize("held", ["the encoder", "the model"])
async def test_a_message_that_a_server_that_stops_had_not_come_to_is_said_to_be_lost(
    held: str, make_service: MakeService, client: Client, metacognition: Metacognition
) -> None:
    model, encoder = HeldModel(answer), Gate()
    gate = model.gate if held == "the model" else encoder
    metacognition.engine.embed = encoder.before(encoded) if held == "the encoder" else None
    service = make_service(model=model)
    here, turns = client(service), service.turns
    sent = [asyncio.create_task(say(here, f"Number {number}.")) for number in range(AT_ONCE + 1)]
    await gate.reached(AT_ONCE)
    await turns.finish_all(seconds=0.0)
    told = [(await one).json() for one in sent]
    assert [one["status"] for one in told] == [503] * (AT_ONCE + 1)
    written = AT_ONCE if held == "the model" else 0
    assert sum("is kept" in one["detail"] for one in told) == written
    assert sum("could not be kept" in one["detail"] for one in told) == AT_ONCE + 1 - written
    encoder.open()
    assert len(await _said(metacognition)) == written
    assert turns.count_turns("ana") == 0


STAGES = {
    "its place is looked up": False,
    "memory is searched": False,
    "it is encoded": False,
    "it is written": True,
    "its wish is heard": True,
    "the model is asked": True,
    "the answer is stored": True,
}
"""Where a server may stop on its way through a turn, and whether the message is on the disk by then."""


@pytest.mark.parametrize("accept", ACCEPT)
@pytest.mark.parametrize(("stage", "kept"), STAGES.items())
async def test_a_server_that_stops_says_that_a_message_is_kept_where_it_is_on_the_disk_and_nowhere_else(
    stage: str,
    kept: bool,
    accept: str,
    make_service: MakeService,
    client: Client,
    metacognition: Metacognition,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, model, store = Gate(), HeldModel(answer), metacognition.store
    if stage != "the model is asked":
        model.gate.open()
    match stage:
        case "its place is looked up":
            monkeypatch.setattr(store, "resolve_place", gate.before_awaiting(store.resolve_place))
        case "memory is searched":
            monkeypatch.setattr(store.memories, "recall_memories", gate.before_awaiting(store.memories.recall_memories))
        case "it is encoded":
            metacognition.engine.embed = gate.before(encoded)
        case "it is written":
            monkeypatch.setattr(statements, "write_message", gate.before(statements.write_message))
        case "its wish is heard":
            monkeypatch.setattr(
                store.sessions, "write_preferences", gate.before_awaiting(store.sessions.write_preferences)
            )
        case "the answer is stored":
            monkeypatch.setattr(store.sessions, "finish_turn", gate.before_awaiting(store.sessions.finish_turn))
        case _:
            gate = model.gate
    service = make_service(model=model)
    here = client(service)
    wish = SAID | {"message": "Please always answer me in German."}
    sending = asyncio.create_task(here.post("/agent/chat", json=wish, headers={"Accept": accept}))
    await gate.reached()
    stopping = asyncio.create_task(service.turns.finish_all(seconds=0.0))
    await until(lambda: stopping.done() or any(task.cancelling() for task in asyncio.all_tasks()))
    gate.open()
    await stopping
    found = await sending
    told = found.text if accept == STREAM else found.json()["detail"]
    monkeypatch.undo()
    assert bool(await _said(metacognition)) is kept
    assert ("is kept" in told, "could not be kept" in told) == (kept, not kept), told


async def test_each_failed_turn_is_one_line_in_the_log_without_a_word_of_it(
    make_service: MakeService, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_: Request) -> str:
        raise ModelTimeout("The model took longer than 1 second over “I live in Lisbon”.")

    here = client(make_service(fails))
    for _ in range(3):
        assert (await say(here, "I live in Lisbon.")).status_code == 504
    lines = [record.getMessage() for record in caplog.records if "turn failed" in record.getMessage()]
    assert len(lines) == 3
    assert "ModelTimeout" in lines[0]
    assert "Lisbon" not in "".join(lines)
