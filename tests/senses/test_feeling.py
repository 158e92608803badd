"""The senses for any agent: actions or messages in, now and then one note out."""

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from insula import senses
from insula.senses import State

FAILED = '{"content": [{"type": "text", "text": "relation users does not exist"}], "isError": true}'
Shape = Callable[[int, str, str], list[Any]]


def chat(n: int, query: str, output: str) -> list[Any]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "query", "arguments": json.dumps({"sql": query})}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": output},
    ]


def responses(n: int, query: str, output: str) -> list[Any]:
    return [
        {"type": "function_call", "call_id": f"c{n}", "name": "query", "arguments": json.dumps({"sql": query})},
        {"type": "function_call_output", "call_id": f"c{n}", "output": output},
    ]


def anthropic(n: int, query: str, output: str) -> list[Any]:
    used = {"type": "tool_use", "id": f"c{n}", "name": "query", "input": {"sql": query}}
    given = {"type": "tool_result", "tool_use_id": f"c{n}", "content": [{"type": "text", "text": output}]}
    return [{"role": "assistant", "content": [used]}, {"role": "user", "content": [given]}]


def langchain(n: int, query: str, output: str) -> list[Any]:
    calls = [{"name": "query", "args": {"sql": query}, "id": f"c{n}", "type": "tool_call"}]
    return [
        SimpleNamespace(type="ai", content="", tool_calls=calls),
        SimpleNamespace(type="tool", name="query", tool_call_id=f"c{n}", content=output, status="success"),
    ]


def pydantic_ai(n: int, query: str, output: str) -> list[Any]:
    return [
        ModelResponse(parts=[ToolCallPart("query", {"sql": query}, f"c{n}")]),
        ModelRequest(parts=[ToolReturnPart("query", output, f"c{n}")]),
    ]


def nameless(n: int, query: str, output: str) -> list[Any]:
    call = {"name": "query", "arguments": json.dumps({"sql": query})}
    return [{"role": "assistant", "function_call": call}, {"role": "function", "name": "query", "content": output}]


SHAPES = (chat, responses, anthropic, langchain, pydantic_ai, nameless)


def session(shape: Shape, output: Callable[[int], str], calls: int = 8) -> Iterator[list[Any]]:
    """The messages as they grow, each time before the model is asked."""
    messages: list[Any] = [{"role": "user", "content": "How many users are there?"}]
    for n in range(calls):
        messages += shape(n, f"select count(*) from users_{n}", output(n))
        yield messages


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_error_inside_successful_results_is_told_as_messages_of_any_library(shape: Shape) -> None:
    state, notes = None, list[senses.Note]()
    for messages in session(shape, lambda _: FAILED):
        whole = senses.feel_messages(messages)
        state, note = senses.feel_messages(messages, state)
        assert note == whole.note, "what is folded anew and what goes on from a state tell the same"
        notes += [note] if note else []
    assert [note.rung for note in notes] == [1, 2, 3]
    assert notes[0].sense == "nociception"
    assert notes[0].text.startswith("[insula] The tool `query` has failed in 3 turns")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_healthy_session_gets_no_note(shape: Shape) -> None:
    healthy = (senses.feel_messages(messages) for messages in session(shape, lambda n: json.dumps({"count": 1000 + n})))
    assert [felt.note for felt in healthy] == [None] * 8


def test_an_action_stream_is_felt_like_the_messages_and_goes_on_from_json() -> None:
    state, told = None, list[int]()
    for n in range(8):
        action = senses.action("query", {"sql": f"select {n}"}, json.loads(FAILED))
        state, note = senses.feel(state, action)
        state = senses.load(json.loads(json.dumps(senses.dump(state))))
        told += [note.rung] if note else []
    assert told == [1, 2, 3]


def test_calls_of_one_turn_count_once() -> None:
    state = None
    for n in range(6):
        state, note = senses.feel(state, senses.action("query", {"n": n}, FAILED, turn="one", id=f"c{n}"))
        assert note is None


def test_a_note_that_stands_behind_a_result_or_in_a_message_of_its_own_changes_nothing() -> None:
    plain, noted = State(), State()
    for n in range(6):
        plain, note = senses.feel(plain, senses.action("query", {}, "Error: no such table"))
        noted, same = senses.feel(noted, senses.action("query", {}, f"Error: no such table\n\n[insula] Note {n}."))
        assert note == same
    messages = [message for messages in session(chat, lambda _: FAILED, 2) for message in messages]
    told = [*messages, {"role": "user", "content": "[insula] The tool `query` has failed."}]
    assert senses.feel_messages(told).state == senses.feel_messages(messages).state


def test_a_tool_is_exempt_by_name() -> None:
    for messages in session(chat, lambda _: FAILED):
        assert senses.feel_messages(messages, exempt={"query"}).note is None


def test_a_user_who_speaks_ends_the_row_of_repeats() -> None:
    messages = [*session(chat, lambda _: FAILED, 4)][-1]
    felt = senses.feel_messages([*messages, {"role": "user", "content": "Try the replica."}])
    assert (felt.note, felt.state.window) == (None, ())


def test_a_history_that_was_cut_goes_on() -> None:
    state, rungs = None, list[int]()
    for messages in session(chat, lambda _: FAILED):
        state, note = senses.feel_messages(messages[-4:], state)
        rungs += [note.rung] if note else []
    assert rungs == [1, 2, 3]


@pytest.mark.parametrize("odd", [None, 5, "text", {}, {"role": 3}, object(), {"role": "tool"}, {"type": "x_output"}])
def test_what_is_no_message_is_passed_over(odd: object) -> None:
    assert senses.feel_messages([odd]).note is None


def test_an_agent_of_any_framework_is_told_nothing_by_a_sense_that_is_off_by_default() -> None:
    messages, state = list[Any](), None
    for n, (old, new) in enumerate([("alpha", "beta"), ("beta", "alpha")] * 4):
        arguments = {"file_path": "/p/price.py", "old_string": old, "new_string": new}
        call = {"id": f"c{n}", "type": "function", "function": {"name": "edit", "arguments": json.dumps(arguments)}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"Changed line {n} of the file, as you asked."},
        ]
        assert senses.feel_messages(messages).note is None
        state, note = senses.feel(state, senses.action("edit", arguments, f"Changed line {n} of the file."))
        assert note is None
