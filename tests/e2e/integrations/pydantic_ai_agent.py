"""A real Pydantic AI agent with Insula's capability, against a model server on this machine."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import stories
from fake import AgentServer
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from insula.integrations.pydantic_ai import Insula
from insula.metacognition import Blocking, Metacognition


class Place(BaseModel):
    """A structured answer."""

    city: str


@pytest.fixture
def mind() -> Iterator[Blocking]:
    with Metacognition.sync(":memory:", embed=None, holdout=0.0) as mind:
        yield mind


def agent(server: AgentServer, mind: Blocking, output: Any = str, **options: Any) -> Any:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{server.origin}/v1", api_key="none"))
    capabilities = [Insula(mind, user="me", **options)]
    made: Any = Agent(model, instructions=stories.SYSTEM, capabilities=capabilities, output_type=output)

    @made.tool_plain
    def query(sql: str) -> str:
        """Ask the database."""
        del sql
        return stories.ERROR

    @made.tool_plain
    def rooms(day: str) -> str:
        """Free rooms on a day."""
        return f"{day}: 2"

    @made.tool_plain
    def broken() -> str:
        """Raises."""
        raise ZeroDivisionError("the tool is broken")

    return made


def ask(made: Any, words: str, history: Any = (), way: str = "run_sync") -> Any:
    given: Any = {"conversation_id": "one", "message_history": list(history)}
    if way == "run_sync":
        return made.run_sync(words, **given)
    if way == "run":
        return asyncio.run(made.run(words, **given))

    async def streamed() -> Any:
        async with made.run_stream(words, **given) as result:
            await result.get_output()
            return result

    return asyncio.run(streamed())


@pytest.mark.parametrize("way", ["run_sync", "run", "run_stream"])
def test_what_memory_holds_and_how_sure_it_is_stand_behind_the_question(mind: Blocking, way: str) -> None:
    with AgentServer(stories.knows) as server:
        mind.observe("me", "before", stories.FACT)
        ask(agent(server, mind), stories.QUESTION, way=way)
    assert server.system(0).startswith(stories.SYSTEM.strip())
    assert server.said(0).startswith(stories.QUESTION)
    assert stories.FACT in server.said(0)
    assert stories.SAID_TO_KNOW in server.said(0)


def test_an_answer_that_leaves_half_of_the_question_open_is_hedged(mind: Blocking) -> None:
    with AgentServer(lambda _: stories.HALF) as server:
        said = ask(agent(server, mind), stories.TWO_QUESTIONS).output
    assert said != stories.HALF
    assert stories.HALF in said


def test_the_same_error_in_the_second_turn_brings_a_note_behind_the_result(mind: Blocking) -> None:
    with AgentServer(stories.knows) as server:
        made = agent(server, mind)
        first = ask(made, "Hello there, I am new here.")
        server.reply = stories.insists
        ask(made, stories.COUNT, first.all_messages())
    noted = [n for n in range(len(server.requests)) if "[insula] " in server.sent(n)]
    assert noted
    assert "[insula] The tool `query` has failed" in server.result(noted[0])


def test_a_healthy_run_gets_nothing_and_parallel_calls_are_answered(mind: Blocking) -> None:
    with AgentServer(stories.parallel) as server:
        assert "two rooms" in ask(agent(server, mind), "Which rooms are free on monday and tuesday?").output
    assert "[insula]" not in server.sent(-1)
    assert server.said(-1) == "Which rooms are free on monday and tuesday?"


def test_structured_output_is_assessed_and_stays_as_it_is(mind: Blocking) -> None:
    heard: list[Any] = []
    mind.subscribe(heard.append)
    with AgentServer(lambda _: [("final_result", {"city": "Lisbon"})]) as server:
        assert ask(agent(server, mind, Place), "Which city is on the Tagus?").output == Place(city="Lisbon")
    assert [signal.reason for signal in heard if signal.kind == "meta:turn"] == ["the turn is over"]


def test_a_tool_that_raises_raises_as_without_us_and_the_next_turn_works(mind: Blocking) -> None:
    with AgentServer(stories.raising) as server:
        made = agent(server, mind)
        with pytest.raises(ZeroDivisionError):
            ask(made, "Try the broken one.")
        server.reply = stories.knows
        assert "Lisbon" in ask(made, stories.QUESTION).output


def test_an_agent_stops_at_an_impasse_where_it_is_asked_to(mind: Blocking) -> None:
    with AgentServer(lambda _: [("query", {"sql": "select 1"})]) as server:
        assert ask(agent(server, mind, stop=True), stories.COUNT).output.startswith("[insula] ")


def test_over_ten_turns_four_fifths_of_what_is_sent_was_sent_before(mind: Blocking) -> None:
    with AgentServer(stories.talks) as server:
        made, history = agent(server, mind), list[Any]()
        for words in stories.CHAT:
            history = ask(made, words, history).all_messages()
    assert stories.shared([server.sent(n) for n in range(len(server.requests))]) >= 0.8
