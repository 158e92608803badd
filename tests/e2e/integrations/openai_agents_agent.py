"""A real agent of the OpenAI Agents SDK with Insula around its model, against a model server on this machine."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import stories
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from every_agent import *  # noqa: F403 the tests of all agents
from fake import AgentServer
from openai import AsyncOpenAI

from insula.integrations.openai_agents import Impasse, talking, wrapped
from insula.metacognition import Blocking

set_tracing_disabled(True)
WAYS = ("run_sync", "run", "run_streamed")
TOOLS = [
    *map(function_tool, (stories.query, stories.rooms)),
    function_tool(failure_error_function=None)(stories.broken),
]


class Talk:
    """A conversation, which goes on from the items of the run before."""

    def __init__(self, server: AgentServer, mind: Blocking, **options: Any) -> None:
        client = AsyncOpenAI(base_url=f"{server.origin}/v1", api_key="none", max_retries=0)
        model = wrapped(OpenAIChatCompletionsModel("m", client), mind, **options)
        self.agent: Any = Agent(name="acme", instructions=stories.SYSTEM, model=model, tools=TOOLS)
        self.history: list[Any] = []

    def say(self, words: str, way: str = "run_sync") -> str:
        given = [*self.history, {"role": "user", "content": words}]
        with talking("me", "one"):
            if way == "run_sync":
                asyncio.set_event_loop(asyncio.new_event_loop())
                result = Runner.run_sync(self.agent, given, max_turns=20)
            else:
                run = Runner.run(self.agent, given, max_turns=20) if way == "run" else self._streamed(given)
                result = asyncio.run(run)
        self.history = result.to_input_list()
        return result.final_output

    async def _streamed(self, given: Any) -> Any:
        result = Runner.run_streamed(self.agent, given, max_turns=20)
        async for _ in result.stream_events():
            pass
        return result

    def kept(self) -> str:
        return str(self.history)


def test_a_tool_that_raises_raises_as_without_us_and_the_next_turn_works(talk: Callable[..., Any]) -> None:
    with AgentServer(stories.raising) as server:
        one = talk(server)
        with pytest.raises(Exception, match="broken"):
            one.say("Try the broken one.")
        server.reply = stories.knows
        assert "Lisbon" in one.say(stories.QUESTION)


def test_an_agent_stops_at_an_impasse_where_it_is_asked_to(talk: Callable[..., Any]) -> None:
    with AgentServer(lambda _: [("query", {"sql": "select 1"})]) as server, pytest.raises(Impasse, match="insula"):
        talk(server, stop=True).say(stories.COUNT)
