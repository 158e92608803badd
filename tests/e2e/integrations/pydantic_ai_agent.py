"""A real Pydantic AI agent with Insula's capability, against a model server on this machine."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import stories
from every_agent import *  # noqa: F403 the tests of all agents
from fake import AgentServer
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from insula.integrations.pydantic_ai import Insula
from insula.metacognition import Blocking

WAYS = ("run_sync", "run", "run_stream")


class Place(BaseModel):
    """A structured answer."""

    city: str


class Talk:
    """A conversation, which goes on from the messages of the run before."""

    def __init__(self, server: AgentServer, mind: Blocking, output: Any = str, **options: Any) -> None:
        model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{server.origin}/v1", api_key="none"))
        capabilities = [Insula(mind, user="me", **options)]
        self.agent: Any = Agent(model, instructions=stories.SYSTEM, capabilities=capabilities, output_type=output)
        for one in (stories.query, stories.rooms, stories.broken):
            self.agent.tool_plain(one)
        self.history: list[Any] = []

    def say(self, words: str, way: str = "run_sync") -> Any:
        given: Any = {"conversation_id": "one", "message_history": self.history}
        if way == "run_sync":
            result = self.agent.run_sync(words, **given)
        else:
            result = asyncio.run(self.agent.run(words, **given) if way == "run" else self._streamed(words, given))
        self.history = result.all_messages()
        return result.output if way != "run_stream" else self.output

    async def _streamed(self, words: str, given: Any) -> Any:
        async with self.agent.run_stream(words, **given) as result:
            self.output = await result.get_output()
            return result

    def kept(self) -> str:
        return str(self.history)


def test_structured_output_is_assessed_and_stays_as_it_is(mind: Blocking) -> None:
    heard: list[Any] = []
    mind.subscribe(heard.append)
    with AgentServer(lambda _: [("final_result", {"city": "Lisbon"})]) as server:
        assert Talk(server, mind, Place).say("Which city is on the Tagus?") == Place(city="Lisbon")
    assert [signal.reason for signal in heard if signal.kind == "meta:turn"] == ["the turn is over"]


def test_a_tool_that_raises_raises_as_without_us_and_the_next_turn_works(talk: Callable[..., Any]) -> None:
    with AgentServer(stories.raising) as server:
        one = talk(server)
        with pytest.raises(ZeroDivisionError):
            one.say("Try the broken one.")
        server.reply = stories.knows
        assert "Lisbon" in one.say(stories.QUESTION)


def test_an_agent_stops_at_an_impasse_where_it_is_asked_to(talk: Callable[..., Any]) -> None:
    with AgentServer(lambda _: [("query", {"sql": "select 1"})]) as server:
        assert talk(server, stop=True).say(stories.COUNT).startswith("[insula] ")
