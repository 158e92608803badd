"""The proxy puts in what belongs there and passes on what comes back, byte for byte."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from insula.integrations.guest import Guest
from insula.integrations.proxy import create_proxy
from insula.llm.fake_server import Behaviour
from insula.metacognition import Metacognition
from insula.testing import FakeServer, memory_store

pytestmark = pytest.mark.anyio
FACT, QUESTION = "My sister lives in Lisbon.", "Where does my sister live?"


@asynccontextmanager
async def proxied(server: FakeServer) -> AsyncGenerator[tuple[httpx2.AsyncClient, Metacognition]]:
    async with memory_store() as store, httpx2.AsyncClient() as outward:
        mind = Metacognition(store, embed=None, holdout=0.0)
        app = create_proxy(Guest(mind, user="ana"), server.url, outward)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            yield client, mind


def asked(words: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": words}], **more}


async def test_memory_goes_in_and_the_answer_comes_back_as_it_is() -> None:
    with FakeServer(answer="In Lisbon.") as server:
        async with proxied(server) as (client, mind), httpx2.AsyncClient() as alone:
            await mind.observe("ana", "before", FACT)
            answer = await client.post(
                "/v1/chat/completions", json=asked(QUESTION), headers={"Authorization": "Bearer k"}
            )
            plain = await alone.post(f"{server.url}/chat/completions", json=asked(QUESTION))
    assert FACT in server.prompt(0)
    assert server.keys[0] == "Bearer k"
    assert answer.content == plain.content
    assert answer.headers["x-insula-confidence"].startswith("high ")
    assert float(answer.headers["x-insula-assessment"].split()[0]) > 0.7


@pytest.mark.parametrize("behaviour", ["ok", "tool_call"])
async def test_a_stream_comes_back_byte_for_byte_and_is_assessed_at_its_end(behaviour: Behaviour) -> None:
    heard: list[Any] = []
    with FakeServer(behaviour, answer="In Lisbon, since May.") as server:
        async with proxied(server) as (client, mind), httpx2.AsyncClient() as alone:
            mind.subscribe(heard.append)
            answer = await client.post("/v1/chat/completions", json=asked(QUESTION, stream=True))
            plain = await alone.post(f"{server.url}/chat/completions", json=asked(QUESTION, stream=True))
    assert answer.content == plain.content
    assert [signal.reason for signal in heard] == (["the turn is over"] if behaviour == "ok" else [])


@pytest.mark.parametrize("behaviour", ["400", "401", "404", "429", "500"])
async def test_an_error_of_the_provider_keeps_its_status_its_body_and_its_headers(behaviour: Behaviour) -> None:
    with FakeServer(behaviour) as server:
        async with proxied(server) as (client, _), httpx2.AsyncClient() as alone:
            answer = await client.post("/v1/chat/completions", json=asked("Hello"))
            plain = await alone.post(f"{server.url}/chat/completions", json=asked("Hello"))
    assert (answer.status_code, answer.content) == (int(behaviour), plain.content)
    assert answer.headers.get("retry-after") == plain.headers.get("retry-after")


async def test_a_provider_that_is_not_there_is_said_in_a_sentence() -> None:
    with FakeServer() as server:
        pass
    async with proxied(server) as (client, _):
        answer = await client.post("/v1/chat/completions", json=asked("Hello"))
    assert answer.status_code == 502
    assert "cannot be reached" in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", ["no JSON", "[]", "{}", json.dumps({"messages": 5})])
async def test_what_cannot_be_read_goes_on_as_it_is(body: str) -> None:
    with FakeServer(answer="Hm.") as server:
        async with proxied(server) as (client, _):
            answer = await client.post("/v1/chat/completions", content=body)
    assert answer.status_code == 200
    assert "x-insula-confidence" not in answer.headers


async def test_a_page_elsewhere_cannot_call_it_by_another_name() -> None:
    with FakeServer() as server:
        async with proxied(server) as (client, _):
            answer = await client.post("/v1/chat/completions", json=asked("Hello"), headers={"Host": "evil.example"})
    assert answer.status_code >= 400
    assert not server.requests
