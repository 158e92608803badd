"""A real LangChain agent with Insula's middleware, against a model server on this machine."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import stories
from fake import AgentServer, Reply
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from insula.integrations.langchain import InsulaMiddleware
from insula.metacognition import Blocking, Metacognition


@tool
def query(sql: str) -> str:
    """Ask the database."""
    del sql
    return stories.ERROR


@tool
def rooms(day: str) -> str:
    """Free rooms on a day."""
    return f"{day}: 2"


@tool
def broken() -> str:
    """Raises."""
    raise ZeroDivisionError("the tool is broken")


@pytest.fixture
def mind() -> Iterator[Blocking]:
    with Metacognition.sync(":memory:", embed=None, holdout=0.0) as mind:
        yield mind


def agent(server: AgentServer, mind: Blocking, **options: Any) -> Any:
    model = ChatOpenAI(base_url=f"{server.origin}/v1", api_key="none", model="m", max_retries=0)
    middleware = [InsulaMiddleware(mind, user="me", **options)]
    tools, kept = [query, rooms, broken], InMemorySaver()
    return create_agent(model, tools, system_prompt=stories.SYSTEM, middleware=middleware, checkpointer=kept)


def ask(made: Any, words: str, thread: str = "one", way: str = "invoke") -> str:
    given, config = {"messages": [{"role": "user", "content": words}]}, {"configurable": {"thread_id": thread}}
    if way == "invoke":
        return str(made.invoke(given, config)["messages"][-1].content)
    if way == "ainvoke":
        return str(asyncio.run(made.ainvoke(given, config))["messages"][-1].content)
    chunks = [chunk for chunk, _ in made.stream(given, config, stream_mode="messages")]
    return "".join(str(chunk.content) for chunk in chunks).strip()


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
def test_what_memory_holds_and_how_sure_it_is_stand_behind_the_question(mind: Blocking, way: str) -> None:
    with AgentServer(stories.knows) as server:
        mind.observe("me", "before", stories.FACT)
        assert "Lisbon" in ask(agent(server, mind), stories.QUESTION, way=way)
    assert server.system(0).startswith(stories.SYSTEM.strip())
    assert server.said(0).startswith(stories.QUESTION)
    assert stories.FACT in server.said(0)
    assert stories.SAID_TO_KNOW in server.said(0)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_an_answer_that_leaves_half_of_the_question_open_is_hedged(mind: Blocking, way: str) -> None:
    with AgentServer(lambda _: stories.HALF) as server:
        said = ask(agent(server, mind), stories.TWO_QUESTIONS, way=way)
    assert said != stories.HALF
    assert stories.HALF in said


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_the_same_error_in_the_second_turn_brings_a_note_behind_the_result(mind: Blocking, way: str) -> None:
    with AgentServer(stories.insists) as server:
        made = agent(server, mind)
        server.reply = stories.knows
        ask(made, "Hello there, I am new here.", way=way)
        server.reply = stories.insists
        ask(made, stories.COUNT, way=way)
    noted = [n for n in range(len(server.requests)) if "[insula] " in server.sent(n)]
    assert noted
    assert "[insula] The tool `query` has failed" in server.result(noted[0])


def test_a_healthy_run_gets_nothing_and_parallel_calls_are_answered(mind: Blocking) -> None:
    with AgentServer(stories.parallel) as server:
        assert "two rooms" in ask(agent(server, mind), "Which rooms are free on monday and tuesday?")
    assert "[insula]" not in server.sent(-1)
    assert server.said(-1) == "Which rooms are free on monday and tuesday?"


def test_a_tool_that_raises_raises_as_without_us_and_the_next_turn_works(mind: Blocking) -> None:
    with AgentServer(stories.raising) as server:
        made = agent(server, mind)
        with pytest.raises(ZeroDivisionError):
            ask(made, "Try the broken one.")
        server.reply = stories.knows
        assert "Lisbon" in ask(made, stories.QUESTION, thread="two")


def test_a_model_that_fails_raises_as_without_us(mind: Blocking) -> None:
    def fails(_: Any) -> Reply:
        raise RuntimeError("down")

    with AgentServer(fails) as server, pytest.raises(Exception, match="down"):
        ask(agent(server, mind), "Hello")


def test_an_agent_stops_at_an_impasse_where_it_is_asked_to(mind: Blocking) -> None:
    with AgentServer(lambda _: [("query", {"sql": "select 1"})]) as server:
        said = ask(agent(server, mind, stop=True), stories.COUNT)
    assert said.startswith("[insula] ")


def test_an_exempt_tool_is_not_felt(mind: Blocking) -> None:
    with AgentServer(stories.insists) as server:
        ask(agent(server, mind, exempt={"query"}), stories.COUNT)
    assert all("[insula]" not in server.sent(n) for n in range(len(server.requests)))


def test_over_ten_turns_four_fifths_of_what_is_sent_was_sent_before(mind: Blocking) -> None:
    with AgentServer(stories.talks) as server:
        made = agent(server, mind)
        for words in stories.CHAT:
            ask(made, words)
    assert stories.shared([server.sent(n) for n in range(len(server.requests))]) >= 0.8
