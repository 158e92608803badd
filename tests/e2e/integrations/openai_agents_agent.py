"""A real agent of the OpenAI Agents SDK with Insula around its model, against a model server on this machine."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import stories
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from fake import AgentServer
from openai import AsyncOpenAI

from insula.integrations.openai_agents import Impasse, talking, wrapped
from insula.metacognition import Blocking, Metacognition

set_tracing_disabled(True)


@function_tool
def query(sql: str) -> str:
    """Ask the database."""
    del sql
    return stories.ERROR


@function_tool
def rooms(day: str) -> str:
    """Free rooms on a day."""
    return f"{day}: 2"


@function_tool(failure_error_function=None)
def broken() -> str:
    """Raises."""
    raise ZeroDivisionError("the tool is broken")


@pytest.fixture
def mind() -> Iterator[Blocking]:
    with Metacognition.sync(":memory:", embed=None, holdout=0.0) as mind:
        yield mind


def agent(server: AgentServer, mind: Blocking, **options: Any) -> Any:
    own = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=f"{server.origin}/v1", api_key="none", max_retries=0))
    tools = [query, rooms, broken]
    return Agent(name="acme", instructions=stories.SYSTEM, model=wrapped(own, mind, **options), tools=tools)


def ask(made: Any, words: Any, way: str = "run") -> Any:
    async def streamed() -> Any:
        result = Runner.run_streamed(made, words)
        async for _ in result.stream_events():
            pass
        return result

    with talking("me", "one"):
        return asyncio.run(Runner.run(made, words, max_turns=20) if way == "run" else streamed())


@pytest.mark.parametrize("way", ["run", "run_streamed"])
def test_what_memory_holds_and_how_sure_it_is_stand_behind_the_question(mind: Blocking, way: str) -> None:
    heard: list[Any] = []
    mind.subscribe(heard.append)
    mind.observe("me", "before", stories.FACT)
    with AgentServer(stories.knows) as server:
        ask(agent(server, mind), stories.QUESTION, way)
    assert server.system(0).startswith(stories.SYSTEM.strip())
    assert server.said(0).startswith(stories.QUESTION)
    assert stories.FACT in server.said(0)
    assert stories.SAID_TO_KNOW in server.said(0)
    assert [signal.reason for signal in heard] == ["the turn is over"]


def test_an_answer_that_leaves_half_of_the_question_open_is_hedged(mind: Blocking) -> None:
    with AgentServer(lambda _: stories.HALF) as server:
        said = ask(agent(server, mind), stories.TWO_QUESTIONS).final_output
    assert said != stories.HALF
    assert stories.HALF in said


def test_the_same_error_in_the_second_turn_brings_a_note_behind_the_result(mind: Blocking) -> None:
    with AgentServer(stories.knows) as server:
        made = agent(server, mind)
        first = ask(made, "Hello there, I am new here.").to_input_list()
        server.reply = stories.insists
        ask(made, [*first, {"role": "user", "content": stories.COUNT}])
    noted = [n for n in range(len(server.requests)) if "[insula] " in server.sent(n)]
    assert noted
    assert "[insula] The tool `query` has failed" in server.result(noted[0])


def test_a_healthy_run_gets_nothing_and_parallel_calls_are_answered(mind: Blocking) -> None:
    with AgentServer(stories.parallel) as server:
        assert "two rooms" in ask(agent(server, mind), "Which rooms are free on monday and tuesday?").final_output
    assert "[insula]" not in server.sent(-1)
    assert server.said(-1) == "Which rooms are free on monday and tuesday?"


def test_a_tool_that_raises_raises_as_without_us_and_the_next_turn_works(mind: Blocking) -> None:
    with AgentServer(stories.raising) as server:
        made = agent(server, mind)
        with pytest.raises(Exception, match="broken"):
            ask(made, "Try the broken one.")
        server.reply = stories.knows
        assert "Lisbon" in ask(made, stories.QUESTION).final_output


def test_an_agent_stops_at_an_impasse_where_it_is_asked_to(mind: Blocking) -> None:
    with AgentServer(lambda _: [("query", {"sql": "select 1"})]) as server, pytest.raises(Impasse, match="insula"):
        ask(agent(server, mind, stop=True), stories.COUNT)


def test_over_ten_turns_four_fifths_of_what_is_sent_was_sent_before(mind: Blocking) -> None:
    with AgentServer(stories.talks) as server:
        made, history = agent(server, mind), list[Any]()
        for words in stories.CHAT:
            history = ask(made, [*history, {"role": "user", "content": words}]).to_input_list()
    assert stories.shared([server.sent(n) for n in range(len(server.requests))]) >= 0.8
