"""Which calls of a client are one turn: those that repeat an open one. Each further call begins its own."""

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import AuthenticationError, OpenAI

from insula import InputError, Metacognition
from insula.integrations.clients import wrap
from insula.integrations.guest import Guest
from insula.integrations.proxy import create_proxy
from insula.testing import Behaviour, FakeServer

FACT, QUESTION = "My sister lives in Lisbon.", "Where does my sister live?"
FAILED = '{"isError": true, "content": [{"type": "text", "text": "relation users does not exist"}]}'
Json = dict[str, Any]


@pytest.fixture
def mind(tmp_path: Path) -> Generator[Any]:
    with Metacognition.sync(tmp_path / "insula.db", holdout=0.0) as mind:
        yield mind


def said(*words: str) -> list[Json]:
    return [{"role": "user", "content": text} for text in words]


def called(name: str, result: str) -> list[Json]:
    """A call of a tool, and what it gave back."""
    call = {"id": name, "type": "function", "function": {"name": "query", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": result},
    ]


def stored(mind: Any) -> list[str]:
    """What is remembered of the session, oldest first."""
    return [memory.content for memory in reversed(mind.list("ana", session="monday").memories)]


class Talker:
    """A client of OpenAI's with Insula around it, which sends what it is told to send and no history of its own."""

    def __init__(self, server: FakeServer, mind: Any) -> None:
        plain = OpenAI(base_url=server.url, api_key="none", max_retries=0)
        self._client, self._server = wrap(plain, mind, user="ana", session="monday"), server

    def send(self, messages: list[Json]) -> str:
        """Send messages; what the model got of them."""
        self._client.chat.completions.create(model="m", messages=messages)  # pyright: ignore[reportArgumentType, reportCallIssue]
        return self._server.prompt()


def test_what_was_erased_does_not_reach_the_model_when_the_question_is_asked_again(mind: Any) -> None:
    mind.add("ana", FACT)
    with FakeServer(answer="In Lisbon.") as server:
        talker = Talker(server, mind)
        assert FACT in talker.send(said(QUESTION))
        mind.forget("ana")
        assert "Lisbon" not in talker.send(said(QUESTION))


def test_a_client_made_of_a_wrapped_one_with_other_options_is_wrapped(mind: Any) -> None:
    mind.add("ana", FACT)
    with FakeServer(answer="In Lisbon.") as server:
        client = wrap(OpenAI(base_url=server.url, api_key="none"), mind, user="ana", session="monday")
        for made in (client.with_options(max_retries=0), client.copy(timeout=9.0).with_options(max_retries=1)):
            made.chat.completions.create(model="m", messages=[{"role": "user", "content": QUESTION}])
            assert FACT in server.prompt()
    assert stored(mind).count(QUESTION) == 2


def test_what_was_erased_does_not_reach_the_model_when_a_call_that_failed_is_repeated(mind: Any) -> None:
    (fact,) = mind.add("ana", FACT)
    with FakeServer("401", "ok", answer="I do not know.") as server:
        talker = Talker(server, mind)
        with pytest.raises(AuthenticationError):
            talker.send(said(QUESTION))
        assert FACT in server.prompt()
        mind.delete("ana", fact)
        assert FACT not in talker.send(said(QUESTION))


def test_a_question_that_is_asked_again_is_told_what_was_said_meanwhile(mind: Any) -> None:
    with FakeServer(answer="I see.") as server:
        talker = Talker(server, mind)
        talker.send(said(QUESTION))
        talker.send(said(FACT))
        assert FACT in talker.send(said(QUESTION))
    assert stored(mind) == [QUESTION, "I see.", FACT, "I see.", QUESTION, "I see."]


@pytest.mark.parametrize("failures", [(), ("401", "500")])
def test_a_call_that_is_repeated_for_a_tool_or_after_a_failure_is_one_turn(
    failures: tuple[Behaviour, ...], mind: Any
) -> None:
    mind.add("ana", FACT)
    talk = said(QUESTION)
    with FakeServer(*failures, "tool_call", "ok", answer="In Lisbon.") as server:
        talker, told = Talker(server, mind), list[str]()
        for _ in failures:
            with pytest.raises(Exception, match="Error code"):
                talker.send(talk)
            told.append(server.prompt())
        told.append(talker.send(talk))
        told.append(talker.send([*talk, *called("c1", "Lisbon")]))
    assert all(FACT in each for each in told)
    assert stored(mind) == [QUESTION, "In Lisbon."]


def test_the_headers_of_the_proxy_are_of_the_call_that_they_come_with(mind: Any) -> None:
    mind.add("ana", FACT)

    async def talk() -> list[httpx2.Response]:
        app = create_proxy(Guest(mind, user="ana"), server.url, provider := httpx2.AsyncClient())
        async with provider, httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as me:
            asked = {"model": "m", "messages": said(QUESTION)}
            return [await me.post("/v1/chat/completions", json=asked) for _ in ("ok", "401", "garbage", "ok")]

    with FakeServer("ok", "401", "garbage", "ok", answer="In Lisbon.") as server:
        answers = asyncio.run(talk())
    assert [answer.status_code for answer in answers] == [200, 401, 200, 200]
    assert ["x-insula-assessment" in answer.headers for answer in answers] == [True, False, False, True]


@pytest.mark.parametrize("name", ["user", "session"])
def test_a_name_that_cannot_be_kept_is_refused_by_the_proxy(name: str, mind: Any) -> None:
    async def talk() -> httpx2.Response:
        app = create_proxy(Guest(mind, user="ana"), server.url, provider := httpx2.AsyncClient())
        async with provider, httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as me:
            headers = {f"X-Insula-{name}": "a" * 250}
            return await me.post("/v1/chat/completions", json={"model": "m", "messages": said(FACT)}, headers=headers)

    with FakeServer(answer="I see.") as server:
        answer = asyncio.run(talk())
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(f"The {name} name 'aaa")
    assert not server.requests


@pytest.mark.anyio
async def test_a_blocking_client_is_refused_beside_a_mind_that_is_awaited(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as mind:
        plain = OpenAI(base_url="http://localhost:1/v1", api_key="none")
        create = plain.chat.completions.create
        with pytest.raises(InputError, match=r"OpenAI is called without await, .* give an async client"):
            wrap(plain, mind, user="ana")
        assert plain.chat.completions.create == create


def test_conversations_that_begin_with_the_same_words_keep_what_each_of_them_says(mind: Any) -> None:
    async def talk() -> None:
        app = create_proxy(Guest(mind, user="ana"), server.url, provider := httpx2.AsyncClient())
        async with provider, httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as me:
            for words in (["Hi!"], ["Hi!", FACT], ["Hi!"], ["Hi!", QUESTION], ["Hi!", FACT, "It rains here."]):
                await me.post("/v1/chat/completions", json={"model": "m", "messages": said(*words)})

    with FakeServer(answer="I see.") as server:
        asyncio.run(talk())
    assert FACT in server.prompt(3)
    kept = [memory.content for memory in reversed(mind.list("ana").memories) if memory.provenance == "user"]
    assert kept == ["Hi!", FACT, "Hi!", QUESTION, "It rains here."]


def test_what_failed_in_one_conversation_is_not_counted_in_the_next_that_begins_alike(mind: Any) -> None:
    with FakeServer(answer="I see.") as server:
        talker = Talker(server, mind)
        for conversation in ("a", "b"):
            talk = said("Count the users.")
            talker.send(talk)
            for number in range(2):
                talk += called(f"{conversation}{number}", FAILED)
                assert "[insula]" not in talker.send(talk)
        assert "has failed in 3 turns" in talker.send([*talk, *called("b2", FAILED)])
