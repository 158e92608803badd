"""A real LangChain agent with Insula's middleware, against a model server on this machine."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import stories
from every_agent import *  # noqa: F403 the tests of all agents
from fake import AgentServer
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from insula.integrations.langchain import InsulaMiddleware
from insula.metacognition import Blocking

WAYS = ("invoke", "ainvoke", "stream", "astream")
TOOLS = [tool(stories.query), tool(stories.rooms), tool(stories.broken)]


class Talk:
    """A thread of an agent that keeps its history itself."""

    def __init__(self, server: AgentServer, mind: Blocking, **options: Any) -> None:
        model = ChatOpenAI(base_url=f"{server.origin}/v1", api_key="none", model="m", max_retries=0)
        middleware, kept = [InsulaMiddleware(mind, user="me", **options)], InMemorySaver()
        self.agent: Any = create_agent(
            model, TOOLS, system_prompt=stories.SYSTEM, middleware=middleware, checkpointer=kept
        )
        self.config = {"configurable": {"thread_id": "one"}}

    def say(self, words: str, way: str = "invoke") -> str:
        given = {"messages": [{"role": "user", "content": words}]}
        if way == "invoke":
            return str(self.agent.invoke(given, self.config)["messages"][-1].content)
        if way == "ainvoke":
            return str(asyncio.run(self.agent.ainvoke(given, self.config))["messages"][-1].content)
        if way == "stream":
            chunks = list(self.agent.stream(given, self.config, stream_mode="messages"))
        else:
            chunks = asyncio.run(self._streamed(given))
        return "".join(str(chunk.content) for chunk, _ in chunks)

    async def _streamed(self, given: Any) -> list[Any]:
        return [one async for one in self.agent.astream(given, self.config, stream_mode="messages")]

    def kept(self) -> str:
        return str(self.agent.get_state(self.config))


def test_a_tool_that_raises_raises_as_without_us_and_the_next_turn_works(talk: Callable[..., Any], way: str) -> None:
    with AgentServer(stories.raising) as server:
        one = talk(server)
        with pytest.raises(ZeroDivisionError):
            one.say("Try the broken one.", way)
        server.reply = stories.knows
        assert "Lisbon" in talk(server).say(stories.QUESTION, way)


def test_an_agent_stops_at_an_impasse_where_it_is_asked_to(talk: Callable[..., Any]) -> None:
    with AgentServer(lambda _: [("query", {"sql": "select 1"})]) as server:
        assert talk(server, stop=True).say(stories.COUNT).startswith("[insula] ")
