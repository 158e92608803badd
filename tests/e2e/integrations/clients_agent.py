"""The clients of OpenAI and Anthropic with one line around them, in a loop of tools as people write it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import stories
from anthropic import Anthropic, AsyncAnthropic
from fake import AgentServer
from openai import AsyncOpenAI, OpenAI

from insula.errors import InputError
from insula.integrations.clients import talking, wrap
from insula.metacognition import Blocking, Metacognition

TOOLS: dict[str, Callable[..., str]] = {"query": lambda sql: stories.ERROR, "rooms": lambda day: f"{day}: 2"}
Ask = Callable[[AgentServer, Blocking, list[Any]], str]


def openai(server: AgentServer, mind: Blocking, messages: list[Any]) -> str:
    client = wrap(OpenAI(base_url=f"{server.origin}/v1", api_key="none", max_retries=0), mind, user="me")
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            output = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


def anthropic(server: AgentServer, mind: Blocking, messages: list[Any]) -> str:
    client = wrap(Anthropic(base_url=server.origin, api_key="none", max_retries=0), mind, user="me")
    while True:
        message = client.messages.create(model="m", max_tokens=100, messages=messages, system=stories.SYSTEM)
        messages.append({"role": "assistant", "content": [part.model_dump() for part in message.content]})
        calls = [part for part in message.content if part.type == "tool_use"]
        if not calls:
            return message.content[0].text
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": TOOLS[call.name](**call.input)} for call in calls
        ]
        messages.append({"role": "user", "content": results})


CLIENTS = (openai, anthropic)


@pytest.fixture
def mind() -> Iterator[Blocking]:
    with Metacognition.sync(":memory:", embed=None, holdout=0.0) as mind:
        yield mind


def user(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


@pytest.mark.parametrize("ask", CLIENTS)
def test_what_memory_holds_and_how_sure_it_is_stand_behind_the_question(mind: Blocking, ask: Ask) -> None:
    mind.observe("me", "before", stories.FACT)
    with AgentServer(stories.knows) as server:
        ask(server, mind, [user(stories.QUESTION)])
    assert stories.FACT in server.said(0)
    assert stories.SAID_TO_KNOW in server.said(0)


@pytest.mark.parametrize("ask", CLIENTS)
def test_an_answer_that_leaves_half_of_the_question_open_is_hedged(mind: Blocking, ask: Ask) -> None:
    with AgentServer(lambda _: stories.HALF) as server:
        said = ask(server, mind, [user(stories.TWO_QUESTIONS)])
    assert said != stories.HALF
    assert stories.HALF in said


@pytest.mark.parametrize("ask", CLIENTS)
def test_the_same_error_brings_a_note_behind_the_result_and_the_host_s_history_stays(mind: Blocking, ask: Ask) -> None:
    messages = [user(stories.COUNT)]
    with AgentServer(stories.insists) as server:
        ask(server, mind, messages)
    assert any("[insula] The tool `query` has failed" in server.sent(n) for n in range(len(server.requests)))
    assert "[insula]" not in json.dumps(messages)


@pytest.mark.parametrize("ask", CLIENTS)
def test_parallel_calls_are_answered(mind: Blocking, ask: Ask) -> None:
    with AgentServer(stories.parallel) as server:
        assert "two rooms" in ask(server, mind, [user("Which rooms are free on monday and tuesday?")])
    assert "[insula]" not in server.sent(-1)


def test_awaited_clients_and_streams_work(mind: Blocking) -> None:
    async def run(server: AgentServer) -> str:
        client = wrap(AsyncOpenAI(base_url=f"{server.origin}/v1", api_key="none"), mind)
        other = wrap(AsyncAnthropic(base_url=server.origin, api_key="none"), mind)
        asked: list[Any] = [user(stories.QUESTION)]
        with talking("me", "two"):
            await other.messages.create(model="m", max_tokens=10, messages=asked)
            stream = await client.chat.completions.create(model="m", messages=asked, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    mind.observe("me", "before", stories.FACT)
    with AgentServer(stories.knows) as server:
        assert "Lisbon" in asyncio.run(run(server))
    assert all(stories.FACT in server.said(n) for n in (0, 1))


def test_an_error_of_the_provider_comes_as_without_us(mind: Blocking) -> None:
    def fails(_: Any) -> str:
        raise RuntimeError("down")

    with AgentServer(fails) as server, pytest.raises(Exception, match="down"):
        openai(server, mind, [user("Hello")])


def test_what_is_no_client_is_refused_in_a_sentence(mind: Blocking) -> None:
    with pytest.raises(InputError, match="object is no client of OpenAI's or Anthropic's"):
        wrap(object(), mind)
