"""The clients of OpenAI and Anthropic with one line around them, in a loop of tools as people write it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import stories
from anthropic import Anthropic, AsyncAnthropic
from every_agent import *  # noqa: F403 the tests of all agents
from fake import AgentServer
from openai import AsyncOpenAI, OpenAI

from insula.errors import InputError
from insula.integrations.clients import wrap
from insula.metacognition import Blocking

TOOLS: dict[str, Callable[..., str]] = {"query": stories.query, "rooms": stories.rooms}
WAYS = ("create", "await create", "stream")


class OpenAITalk:
    """A loop around chat completions."""

    def __init__(self, server: AgentServer, mind: Blocking, **options: Any) -> None:
        given: Any = {"base_url": f"{server.origin}/v1", "api_key": "none", "max_retries": 0}
        self.client: Any = wrap(OpenAI(**given), mind, user="me", **options)
        self.awaited: Any = lambda: wrap(AsyncOpenAI(**given), mind, user="me", **options)
        self.messages: list[Any] = [{"role": "system", "content": stories.SYSTEM}]

    def say(self, words: str, way: str = "create") -> str:
        self.messages.append({"role": "user", "content": words})
        if way == "stream":
            return self._streamed()
        while True:
            message = self._asked(way).choices[0].message
            self.messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                output = TOOLS[call.function.name](**json.loads(call.function.arguments))
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": output})

    def _asked(self, way: str) -> Any:
        asked: Any = {"model": "m", "messages": self.messages}
        if way == "create":
            return self.client.chat.completions.create(**asked)
        return asyncio.run(closed(self.awaited(), lambda client: client.chat.completions.create(**asked)))

    def _streamed(self) -> str:
        while True:
            said, calls = "", list[Any]()
            for chunk in self.client.chat.completions.create(model="m", messages=self.messages, stream=True):
                for choice in chunk.choices:
                    said += choice.delta.content or ""
                    calls += choice.delta.tool_calls or []
            made = [{**call.model_dump(exclude={"index"})} for call in calls]
            self.messages.append({"role": "assistant", "content": said, **({"tool_calls": made} if made else {})})
            if not calls:
                return said
            for call in calls:
                output = TOOLS[call.function.name](**json.loads(call.function.arguments))
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": output})

    def kept(self) -> str:
        return json.dumps(self.messages)


class AnthropicTalk(OpenAITalk):
    """A loop around messages."""

    def __init__(self, server: AgentServer, mind: Blocking, **options: Any) -> None:
        given: Any = {"base_url": server.origin, "api_key": "none", "max_retries": 0}
        self.client: Any = wrap(Anthropic(**given), mind, user="me", **options)
        self.awaited: Any = lambda: wrap(AsyncAnthropic(**given), mind, user="me", **options)
        self.messages: list[Any] = []

    def say(self, words: str, way: str = "create") -> str:
        self.messages.append({"role": "user", "content": words})
        while True:
            content = self._content(way)
            self.messages.append({"role": "assistant", "content": content})
            calls = [part for part in content if part["type"] == "tool_use"]
            if not calls:
                return content[0]["text"]
            results = [
                {"type": "tool_result", "tool_use_id": call["id"], "content": TOOLS[call["name"]](**call["input"])}
                for call in calls
            ]
            self.messages.append({"role": "user", "content": results})

    def _content(self, way: str) -> list[Any]:
        asked: Any = {"model": "m", "max_tokens": 100, "messages": self.messages, "system": stories.SYSTEM}
        if way == "stream":
            return whole(self.client.messages.create(**asked, stream=True))
        if way == "create":
            message = self.client.messages.create(**asked)
        else:
            message = asyncio.run(closed(self.awaited(), lambda client: client.messages.create(**asked)))
        return [part.model_dump() for part in message.content]


def whole(events: Any) -> list[Any]:
    """The parts of a message that was streamed."""
    parts: list[Any] = []
    given = ""
    for event in events:
        if event.type == "content_block_start":
            parts.append(event.content_block.model_dump())
            given = ""
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            parts[-1]["text"] += event.delta.text
        elif event.type == "content_block_delta":
            given += event.delta.partial_json
            parts[-1]["input"] = json.loads(given)
    return parts


KINDS = (OpenAITalk, AnthropicTalk)


async def closed(client: Any, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """What a client of this loop answers."""
    async with client:
        return await ask(client)


def test_what_is_no_client_is_refused_in_a_sentence(mind: Blocking) -> None:
    with pytest.raises(InputError, match="object is no client of OpenAI's or Anthropic's"):
        wrap(object(), mind)
