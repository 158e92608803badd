"""`POST /agent/chat`: what is answered, as JSON and as a stream, and what is said where it cannot be."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from api_service import Client, MakeService, Serve, say

from insula.agent.chat import MESSAGE_CHARS, Reply
from insula.errors import BudgetExceeded, ModelMalformed, ModelRefused, ModelTimeout, ModelUnavailable
from insula.metacognition import Metacognition
from insula.server.api import talk
from insula.server.app import create_app
from insula.server.turns import AT_ONCE, Turns
from insula.testing import Request

pytestmark = pytest.mark.anyio

SAID = {"user": "ana", "session": "monday", "message": "I live in Lisbon."}


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream, without comments."""
    found: list[tuple[str, Any]] = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields.get("event", ""), json.loads(fields["data"]) if "data" in fields else None))
    return found


async def test_a_message_is_answered_with_what_metacognition_made_of_it(
    make_service: MakeService, client: Client
) -> None:
    found = await say(client(make_service(lambda _: "Noted: you live in Lisbon.")), "I live in Lisbon.")
    assert found.status_code == 200
    answer = found.json()
    assert (answer["turn"], answer["session"], answer["response"]) == (1, "monday", "Noted: you live in Lisbon.")
    assert answer["confidence"]["level"] == "low"
    assert answer["assessment"]["passed"]
    assert answer["troubles"] == []
    assert "metacog" not in answer


async def test_the_answer_is_the_record_that_the_terminal_prints(make_service: MakeService, client: Client) -> None:
    service = make_service()
    answer = (await say(client(service), "I live in Lisbon.")).json()
    record = (await service.chat.reply("ana", "monday", "Where do I live?")).record()
    assert answer.keys() == record.keys()


async def test_the_snapshot_comes_with_the_turn_in_which_it_is_due(make_service: MakeService, client: Client) -> None:
    here = client(make_service())
    answers = [(await say(here, f"I like the number {number}.")).json() for number in range(6)]
    assert ["metacog" in one for one in answers] == [False, False, False, False, True, False]
    assert answers[4]["metacog"]["turn_counter"] == 5
    assert "latency_p95_ms" not in answers[4]["metacog"]["performance"]  # unknown is absent, not null


async def test_a_stream_ends_with_the_answer_that_is_stored(make_service: MakeService, client: Client) -> None:
    half = "The capital of Mongolia is Ulaanbaatar."
    here = client(make_service(lambda _: half))
    asked = SAID | {"message": "What is the capital of Mongolia, and how many people live there?"}
    found = await here.post("/agent/chat", json=asked, headers={"Accept": "text/event-stream"})
    told = events(found.text)
    assert found.headers["content-type"].startswith("text/event-stream")
    assert {kind for kind, _ in told[:-1]} == {"delta"}
    assert "".join(data["text"] for _, data in told[:-1]).strip() == half
    kind, answer = told[-1]
    assert kind == "reply"
    assert answer["hedged"], "the assessed text differs from the deltas"
    stored = (await here.get("/agent/sessions/monday", params={"user": "ana"})).json()["turns"][0]["lines"][1]
    assert stored["content"] == answer["response"] != half


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelRefused("It declined; ask differently."), 502),
        (ModelMalformed("It is mad; retry."), 502),
        (ModelUnavailable("It is away; start it."), 503),
        (ModelTimeout("It is slow; wait."), 504),
        (BudgetExceeded("All is spent; raise the cap."), 429),
    ],
)
async def test_where_the_model_fails_the_answer_says_so_and_the_message_is_kept(
    error: Exception, status: int, make_service: MakeService, client: Client
) -> None:
    here = client(make_service(lambda _: error))
    found = await say(here, "I live in Lisbon.")
    assert (found.status_code, found.headers["content-type"]) == (status, "application/problem+json")
    assert str(error) in found.json()["detail"]
    assert "is kept" in found.json()["detail"]
    turns = (await here.get("/agent/sessions/monday?user=ana")).json()["turns"]
    assert [line["content"] for line in turns[0]["lines"]] == ["I live in Lisbon."]


async def test_where_the_model_fails_a_stream_ends_with_a_problem(make_service: MakeService, client: Client) -> None:
    here = client(make_service(lambda _: ModelRefused("It declined; ask differently.")))
    found = await here.post("/agent/chat", json=SAID, headers={"Accept": "text/event-stream"})
    ((kind, problem),) = events(found.text)
    assert (kind, problem["status"]) == ("error", 502)
    assert "It declined" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"", "body"),
        (b"{", "body.1"),
        (b"[]", "body"),
        (b'"text"', "body"),
        (b'{"session": "s", "message": "m"}', "user"),
        (b'{"user": "u", "message": "m"}', "body.session"),
        (b'{"user": "u", "session": "s"}', "body.message"),
        (b'{"user": "u", "session": "s", "message": ""}', "body.message"),
        (b'{"user": "u", "session": "s", "message": " \\n\\t\\u0000 "}', "body.message"),
        (b'{"user": "u", "session": "s", "message": ["m"]}', "body.message"),
        (b'{"user": "u", "session": "s", "message": {"role": "system", "content": "m"}}', "body.message"),
        (b'{"user": "u", "session": "s", "message": 7}', "body.message"),
        (b'{"user": 7, "session": "s", "message": "m"}', "body.user"),
        (b'{"user": "a\\u0000b", "session": "s", "message": "m"}', "user"),
        (b'{"user": "u", "session": "a\\u0007b", "message": "m"}', "session"),
        (b'{"user": "u", "session": "\\ud800", "message": "m"}', "session"),
        (b'{"user": "u", "session": "s", "message": "m", "history": []}', "body.history"),
        (b'{"user": "u", "session": "s", "message": "m", "messages": [{"role": "system"}]}', "body.messages"),
        (b"\xff\xfe", "body"),
        (b"[" * 50_000, "body"),
    ],
)
async def test_only_a_text_is_taken(body: bytes, where: str, make_service: MakeService, client: Client) -> None:
    service = make_service()
    found = await client(service).post("/agent/chat", content=body, headers={"Content-Type": "application/json"})
    assert found.status_code in {400, 422}, found.text
    assert found.headers["content-type"] == "application/problem+json"
    assert where in found.json()["detail"]
    assert await service.chat.metacognition.store.nights.users() == []


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


async def test_a_client_that_goes_away_leaves_a_turn_that_is_finished_and_stored(
    make_service: MakeService, served: Serve, metacognition: Metacognition
) -> None:
    noted = make_service(lambda _: "Noted: Lisbon.", delay=0.3)
    async with served(noted) as url, httpx2.AsyncClient(base_url=url) as browser:
        for number, accept in enumerate(("application/json", "text/event-stream")):
            with pytest.raises(httpx2.TimeoutException):
                await browser.post(
                    "/agent/chat", json=SAID | {"session": f"s{number}"}, headers={"Accept": accept}, timeout=0.1
                )
        for number in range(2):
            said: list[str] = []
            async with asyncio.timeout(20):
                while len(said) < 2:
                    await asyncio.sleep(0.05)
                    found = (await browser.get(f"/agent/sessions/s{number}?user=ana")).json()
                    said = [line["content"] for turn in found.get("turns", []) for line in turn["lines"]]
            assert said == ["I live in Lisbon.", "Noted: Lisbon."]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_server_that_stops_finishes_the_turns_that_nobody_waits_for(
    accept: str, make_service: MakeService, served: Serve, metacognition: Metacognition
) -> None:
    async with served(make_service(lambda _: "Noted: Lisbon.", delay=0.3)) as url, httpx2.AsyncClient() as browser:
        with pytest.raises(httpx2.TimeoutException):
            await browser.post(f"{url}/agent/chat", json=SAID, headers={"Accept": accept}, timeout=0.1)
    place = await metacognition.store.place("ana", "monday")
    said = [line.content for line in await metacognition.store.sessions.transcript(place, 9)]
    assert said == ["I live in Lisbon.", "Noted: Lisbon."]


async def test_a_turn_that_takes_longer_than_a_server_waits_keeps_its_message(
    make_service: MakeService, metacognition: Metacognition
) -> None:
    turns = Turns()
    turns.start(make_service(delay=60).chat.reply("ana", "monday", "I live in Lisbon."))
    await asyncio.sleep(0.5)
    await turns.finish(seconds=0.01)
    place = await metacognition.store.place("ana", "monday")
    assert [line.content for line in await metacognition.store.sessions.transcript(place, 9)] == ["I live in Lisbon."]


async def test_one_users_flood_is_worked_off_a_few_at_a_time_and_nothing_of_it_is_lost(
    make_service: MakeService, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = make_service(delay=0.05)
    at_once, most, reply = 0, 0, service.chat.reply

    async def counted(user: str, session: str, message: str) -> Reply:
        nonlocal at_once, most
        at_once += user == "ana"
        most = max(most, at_once)
        try:
            return await reply(user, session, message)
        finally:
            at_once -= user == "ana"

    monkeypatch.setattr(service.chat, "reply", counted)
    async with served(service) as url, httpx2.AsyncClient(base_url=url, timeout=30) as browser:
        flood = asyncio.gather(*(say(browser, f"Number {number}.") for number in range(50)))
        await asyncio.sleep(0.2)
        other = await asyncio.wait_for(say(browser, "I live in Porto.", user="ben"), 20)
        assert other.status_code == 200
        assert not flood.done(), "another user need not wait for it"
        answers = await flood
        assert {found.status_code for found in answers} == {200}
        assert sorted(found.json()["turn"] for found in answers) == list(range(1, 51))
        turns = (await browser.get("/agent/sessions/monday?user=ana&limit=200")).json()["turns"]
        said = {found.json()["turn"]: found.json()["message"] for found in answers}
        assert {turn["turn"]: turn["lines"][0]["content"] for turn in turns} == said
        assert all(len(turn["lines"]) == 2 for turn in turns)
    assert most == AT_ONCE


async def test_who_has_too_many_messages_waiting_is_asked_to_wait(
    make_service: MakeService, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk, "WAITING", 6)
    async with served(make_service(delay=0.3)) as url, httpx2.AsyncClient(base_url=url, timeout=30) as browser:
        answers = await asyncio.gather(*(say(browser, f"Number {number}.") for number in range(9)))
        codes = sorted(found.status_code for found in answers)
        assert codes == [200] * 6 + [429] * 3
        assert (await say(browser, "And now?")).status_code == 200


async def test_a_message_that_a_server_that_stops_had_not_come_to_is_said_to_be_lost(
    make_service: MakeService,
) -> None:
    app = create_app(make_service(delay=60))
    turns: Turns = app.state.turns
    here = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1")
    sent = [asyncio.create_task(say(here, f"Number {number}.")) for number in range(AT_ONCE + 1)]
    await asyncio.sleep(0.5)
    await turns.finish(seconds=0.01)
    told = [(await one).json() for one in sent]
    assert [one["status"] for one in told] == [503] * (AT_ONCE + 1)
    assert ["could not be kept" in one["detail"] for one in told] == [False] * AT_ONCE + [True]
    kept = (await here.get("/agent/sessions/monday?user=ana")).json()["turns"]
    assert len(kept) == AT_ONCE
    assert turns.of("ana") == 0
    await here.aclose()


async def test_many_turns_at_once_are_all_kept(make_service: MakeService, served: Serve) -> None:
    async with served(make_service(delay=0.02)) as url, httpx2.AsyncClient(base_url=url, timeout=30) as browser:
        answers = await asyncio.gather(
            *(say(browser, f"Number {number}.", f"user{number % 5}", f"s{number % 2}") for number in range(40))
        )
        assert {found.status_code for found in answers} == {200}
        assert not any(found.json()["troubles"] for found in answers)
        kept = 0
        for number in range(5):
            rows = (await browser.get("/agent/sessions", params={"user": f"user{number}"})).json()["sessions"]
            kept += sum(row["turns"] for row in rows)
        assert kept == 40


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
