"""`insula.senses` in an agent of one's own: what it did goes in, now and then a note for its model comes out."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from insula import senses

FAILED = '{"content": [{"type": "text", "text": "relation users does not exist"}], "isError": true}'
NOTE = "[insula] The tool `query` has failed in 3 turns"
Shape = Callable[[int, str, str], list[Any]]


class Agent:
    """An agent that calls a tool `query`, with the senses in its loop as the docs show it.

    Args:
        tool: what its tool gives back, by the number of the call.
        about: what is said of each call besides.
    """

    def __init__(self, tool: Callable[[int], Any], **about: Any) -> None:
        self.state: senses.State | None = None
        self._tool, self._about, self._calls = tool, about, 0

    def step(self, **arguments: Any) -> str:
        """A call; returns what the model reads of it."""
        number, self._calls = self._calls, self._calls + 1
        result, about = self._tool(number), {name: value.format(number) for name, value in self._about.items()}
        given = arguments or {"sql": f"select {number}"}
        self.state, note = senses.feel(self.state, senses.action("query", given, result, **about))
        return str(result) + (f"\n\n{note.text}" if note else "")

    def run(self, steps: int = 8) -> list[int]:
        """Some calls; returns the numbers of those whose result the model read a note behind."""
        return [number for number in range(steps) if "[insula]" in self.step()]


def test_a_tool_that_fails_alike_brings_a_note_behind_its_result() -> None:
    agent = Agent(lambda _: FAILED)
    assert [agent.step(), agent.step()] == [FAILED, FAILED]
    assert NOTE in agent.step()
    assert len(agent.run(20)) == 3, "plainer each time, and then no more"


@pytest.mark.parametrize(
    "result",
    [json.loads(FAILED), FAILED, {"error": "relation users does not exist"}, "Error: relation users does not exist"],
)
def test_an_error_inside_a_result_that_came_as_a_success_counts_as_one(result: Any) -> None:
    assert Agent(lambda _: result).run(3) == [2]


def test_a_healthy_agent_gets_no_note_until_something_fails() -> None:
    assert Agent(lambda number: json.dumps({"count": 1000 + number})).run(20) == []
    assert Agent(lambda number: json.dumps({"count": number}) if number < 20 else FAILED).run(24) == [22]


def test_a_session_goes_on_in_another_process_from_json() -> None:
    one, whole = Agent(lambda _: FAILED), Agent(lambda _: FAILED)
    one.run(2)
    other = Agent(lambda number: FAILED)
    assert one.state is not None
    other.state = senses.load(json.loads(json.dumps(senses.dump(one.state))))
    assert ([*whole.run(2), *(2 + number for number in other.run(6))]) == [2, 4, 7]


def test_the_same_actions_give_the_same_notes() -> None:
    assert Agent(lambda _: FAILED).run(12) == Agent(lambda _: FAILED).run(12) != []


def test_calls_of_one_turn_of_the_model_count_once() -> None:
    assert Agent(lambda _: FAILED, turn="one", id="call-{}").run(6) == []
    assert Agent(lambda _: FAILED, turn="turn-{}", id="call-{}").run(6) == [2, 4]


def test_an_agent_that_repeats_itself_is_told_so() -> None:
    def read(path: str) -> list[bool]:
        """What is said while one file after the other is read."""
        state, told = None, list[bool]()
        for number in range(4):
            state, note = senses.feel(state, senses.action("read_file", {"path": path.format(number)}, "x = 1"))
            told.append(note is not None and note.sense == "vestibular")
        return told

    assert read("price.py") == [False, False, True, False]
    assert read("price_{}.py") == [False] * 4


def test_a_sense_that_is_off_by_default_tells_an_agent_of_any_framework_nothing() -> None:
    state, told = None, list[str]()
    for number, (old, new) in enumerate([("alpha", "beta"), ("beta", "alpha")] * 4):
        arguments = {"file_path": "/p/price.py", "old_string": old, "new_string": new}
        state, note = senses.feel(state, senses.action("edit", arguments, f"Changed line {number} of the file."))
        told += [note.text] if note else []
    assert told == []
    for number in range(3):
        state, note = senses.feel(state, senses.action("query", {"number": number}, FAILED))
        told += [note.sense] if note else []
    assert told == ["nociception"]


def test_a_secret_of_a_call_is_not_in_its_note() -> None:
    secret = "ghp_" + "aB3d" * 9
    state, told = None, ""
    for _ in range(4):
        arguments = {"command": f"curl -H 'Authorization: Bearer {secret}' https://x.org"}
        state, note = senses.feel(state, senses.action("bash", arguments, f"Error: 401 for {secret}", ok=False))
        told += note.text if note else ""
    assert "curl" in told
    assert state is not None
    assert secret not in told + json.dumps(senses.dump(state))


# A list of messages, of any library


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


def functions(n: int, query: str, output: str) -> list[Any]:
    call = {"name": "query", "arguments": json.dumps({"sql": query})}
    return [{"role": "assistant", "function_call": call}, {"role": "function", "name": "query", "content": output}]


class Conversation:
    """A list of messages that grows, felt each time before the model is asked.

    Args:
        shape: the library whose messages these are.
        output: what the tool gives back, by the number of the call.
        options: of `feel_messages`.
    """

    def __init__(self, shape: Shape, output: Callable[[int], str] = lambda _: FAILED, **options: Any) -> None:
        self.messages: list[Any] = [{"role": "user", "content": "How many users are there?"}]
        self.state: senses.State | None = None
        self._shape, self._output, self._options, self._calls = shape, output, options, 0

    def step(self, kept: int = 0) -> str:
        """The model calls the tool; returns the note that stands behind the result when it is asked again.

        Args:
            kept: messages that the host still has; all by default.
        """
        number, self._calls = self._calls, self._calls + 1
        self.messages += self._shape(number, f"select count(*) from users_{number}", self._output(number))
        self.messages = self.messages[-kept:]
        self.state, note = senses.feel_messages(self.messages, self.state, **self._options)
        return note.text if note else ""

    def run(self, steps: int = 8, kept: int = 0) -> list[int]:
        """Some calls; returns the numbers of those that brought a note."""
        return [number for number in range(steps) if self.step(kept)]


@pytest.mark.parametrize("shape", [chat, responses, anthropic, langchain, pydantic_ai, functions])
def test_the_messages_of_any_library_are_felt_alike(shape: Shape) -> None:
    conversation = Conversation(shape)
    assert [conversation.step(), conversation.step()] == ["", ""]
    assert conversation.step().startswith(NOTE)
    assert conversation.run(5) == [1, 4]
    assert Conversation(shape, lambda number: json.dumps({"count": 1000 + number})).run() == []


def test_folded_anew_or_from_the_state_of_the_call_before_the_same_is_told() -> None:
    conversation, told = Conversation(chat), list[tuple[str, str]]()
    for _ in range(8):
        going_on = conversation.step()
        whole = senses.feel_messages(conversation.messages).note
        told.append((going_on, whole.text if whole else ""))
    assert [one for one, _ in told] == [other for _, other in told]
    assert any(one for one, _ in told)


def test_a_history_that_was_cut_goes_on() -> None:
    assert Conversation(chat).run(kept=4) == Conversation(chat).run() == [2, 4, 7]


def test_a_tool_is_exempt_by_name() -> None:
    assert Conversation(chat, exempt={"query"}).run() == []
    assert Conversation(chat, exempt={"other"}).run() == [2, 4, 7]


def test_a_user_who_speaks_begins_anew_for_repeats() -> None:
    conversation = Conversation(chat, lambda _: FAILED)
    conversation.run(4)
    conversation.messages.append({"role": "user", "content": "Try the replica."})
    assert senses.feel_messages(conversation.messages, conversation.state).note is None
    assert conversation.step() != "", "what has failed since has still not succeeded"


def test_a_note_of_before_is_no_word_of_the_user_and_no_result() -> None:
    plain, noted = Conversation(chat), Conversation(chat, lambda number: f"{FAILED}\n\n[insula] Note {number}.")
    noted.messages.append({"role": "user", "content": "[insula] The tool `query` has failed."})
    assert plain.run() == noted.run() == [2, 4, 7]


def test_what_is_no_message_is_passed_over() -> None:
    conversation = Conversation(chat)
    conversation.run(2)
    odd = [None, 5, "text", {}, {"role": 3}, object(), {"role": "tool"}, {"type": "x_output"}]
    assert senses.feel_messages(odd).note is None
    conversation.messages += odd
    assert conversation.step().startswith("[insula]")
