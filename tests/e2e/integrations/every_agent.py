"""What must hold in each framework; each one's file imports these and says what a conversation is."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import stories
from fake import AgentServer, Reply

from insula.metacognition import Blocking

Begin = Callable[..., Any]
ROOMS = "Which rooms are free on monday and tuesday?"


def noted(server: AgentServer) -> list[int]:
    """The requests that hold a note."""
    return [number for number in range(len(server.requests)) if "[insula] " in server.sent(number)]


def test_what_memory_holds_and_how_sure_it_is_stand_behind_the_question(mind: Blocking, talk: Begin, way: str) -> None:
    heard: list[Any] = []
    mind.subscribe(heard.append)
    mind.observe("me", "before", stories.FACT)
    with AgentServer(stories.knows) as server:
        assert "Lisbon" in talk(server).say(stories.QUESTION, way)
    assert server.system(0).startswith(stories.SYSTEM.strip())
    assert server.said(0).startswith(stories.QUESTION)
    assert stories.FACT in server.said(0)
    assert stories.TOLD_BEFORE in server.said(0)
    assert [signal.reason for signal in heard] == ["the turn is over"]


def test_a_wish_said_before_stands_behind_the_next_message(talk: Begin) -> None:
    with AgentServer(stories.knows) as server:
        one = talk(server)
        one.say("From now on, please keep your answers to three sentences.")
        one.say("How is the weather in Lisbon in May?")
    assert "three sentences" in server.said(1)


def test_an_answer_that_leaves_half_of_the_question_open_is_hedged(talk: Begin, way: str) -> None:
    with AgentServer(lambda _: stories.HALF) as server:
        said = talk(server).say(stories.TWO_QUESTIONS, way)
    assert said != stories.HALF
    assert stories.HALF in said


def test_the_same_error_in_the_second_turn_brings_a_note_behind_the_result(talk: Begin, way: str) -> None:
    with AgentServer(stories.knows) as server:
        one = talk(server)
        one.say("Hello there, I am new here.", way)
        server.reply = stories.insists
        one.say(stories.COUNT, way)
    assert noted(server)
    assert "[insula] The tool `query` has failed" in server.result(noted(server)[0])
    assert "[insula]" not in one.kept()


def test_a_healthy_run_gets_nothing_and_parallel_calls_are_answered(talk: Begin, way: str) -> None:
    with AgentServer(stories.parallel) as server:
        assert "two rooms" in talk(server).say(ROOMS, way)
    assert not noted(server)
    assert server.said(0) == ROOMS


def test_an_exempt_tool_is_not_felt(talk: Begin) -> None:
    with AgentServer(stories.insists) as server:
        talk(server, exempt={"query"}).say(stories.COUNT)
    assert not noted(server)


def test_a_model_that_fails_raises_as_without_us_and_the_next_turn_works(talk: Begin) -> None:
    def fails(_: Any) -> Reply:
        raise RuntimeError("down")

    with AgentServer(fails) as server:
        one = talk(server)
        with pytest.raises(Exception, match="down"):
            one.say("Hello")
        server.reply = stories.knows
        assert "Lisbon" in talk(server).say(stories.QUESTION)


def test_conversations_at_once_do_not_mix(mind: Blocking, talk: Begin) -> None:
    mind.observe("me", "before", stories.FACT)
    with AgentServer(stories.knows) as server, ThreadPoolExecutor(4) as threads:
        said = list(threads.map(lambda _: talk(server).say(stories.QUESTION), range(8)))
    assert len(said) == 8
    assert all("Lisbon" in each for each in said)
    assert not mind.mind.engine.telemetry.failures.labels("ask")._value.get()


def test_over_ten_turns_four_fifths_of_what_is_sent_was_sent_before(talk: Begin) -> None:
    with AgentServer(stories.talks) as server:
        one = talk(server)
        for words in stories.CHAT:
            one.say(words)
    shared = stories.shared([server.sent(n) for n in range(len(server.requests))])
    sys.stderr.write(f"{type(one).__module__} {type(one).__name__}: {shared:.1%} of what is sent was sent before\n")
    assert shared >= 0.8
