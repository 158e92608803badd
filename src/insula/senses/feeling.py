"""What the senses feel after an action, or at the end of a list of messages."""

import json
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from insula.coding.step import fingerprint
from insula.coding.step.action import Action
from insula.coding.step.ladder import FLAG
from insula.coding.step.proprioception import Sensed, hear_user, sense_action
from insula.coding.step.state import State
from insula.coding.step.turn import close_turn
from insula.coding.step.wording import SIGN
from insula.content import list_items, read_content, read_field
from insula.redaction import redact
from insula.senses.messages import Called, Returned, UserWords, list_calls, read_events


class Note(NamedTuple):
    """One thing to tell the model, at most one in each of its turns."""

    text: str
    """A sentence or two, beginning with "[insula]"."""
    sense: str
    """Which sense speaks: "nociception", "vestibular", …"""
    rung: int
    """How loud: 1 to 4 for a trouble that goes on, 0 for what is said once."""
    impasse: bool
    """Whether this was the loudest: nothing helped, and a person should look."""


class Felt(NamedTuple):
    """The state after an action, and what there is to say."""

    state: State
    note: Note | None


def action(
    tool: str,
    input: object,
    output: object,
    *,
    ok: bool | None = None,
    at: float = 0.0,
    id: str = "",
    turn: str = "",
) -> Action:
    """A tool call as the senses see it: digests and templates, without a secret.

    Args:
        tool: the name of the tool.
        input: its arguments: an object, JSON, or a text such as a command.
        output: what it gave back, as text or as content parts; the error where it failed.
        ok: whether it succeeded; None where nothing says so but its output. An error within a result that
            came as a success (`isError`, `{"error": …}`) is found either way.
        at: when, in seconds since the epoch; 0 where no clock is to count.
        id: the id of the call; what comes twice with the same id is counted once.
        turn: a name for the model's turn, equal for calls that it made at once; empty: each call is a turn.
    """
    if read_field(output, "isError") is True or read_field(output, "is_error") is True:
        output, ok = read_field(output, "content"), False
    given = read_content(output)
    done = fingerprint.make_action(
        tool=tool, input=parse_arguments(input), output=given.text.partition(f"\n\n{SIGN}")[0], at=at, ok=ok, id=id
    )
    return done.replace(turn=turn)


def feel(state: State | None, action: Action) -> Felt:
    """What the senses feel after an action; give the state back with the next one.

    Only those that speak by default feel anything.

    Args:
        state: what was felt so far; None at the beginning.
        action: what was done; see `action`.
    """
    before = state or State()
    if not action.turn:
        before = before.replace(turn=close_turn(before.turn, ()))
    felt = sense_action(before, action)
    return Felt(felt.state, _make_note(felt))


def feel_messages(messages: Sequence[object], state: State | None = None, *, exempt: Container[str] = ()) -> Felt:
    """What the senses feel at the end of a list of messages, as it is about to go to a model.

    Only those that speak by default feel anything.
    Takes the messages of OpenAI (chat and responses), Anthropic, LangChain and Pydantic AI, as mappings or as objects.
    What is no message that it knows is passed over.

    Args:
        messages: the conversation so far, oldest first.
        state: what came of the last call on this conversation, so that only what is new is looked at; None folds all.
        exempt: names of tools that are not felt.
    """
    before = state or State()
    told: Sensed | None = None
    for place in range(_find_unread(messages, before), len(messages)):
        told = None
        for event in read_events(messages[place], place):
            if isinstance(event, UserWords) and not event.words.startswith(SIGN):
                before = hear_user(before, 0.0, redact(event.words))
            elif isinstance(event, Returned) and (done := _read_action(messages, place, event, exempt)) is not None:
                felt = sense_action(before, done)
                before, told = felt.state, felt if felt.text else told
    return Felt(before, _make_note(told) if told is not None else None)


def parse_arguments(value: Any) -> Any:
    """The arguments of a call as JSON holds them; a text that holds none stays one."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    held: Any = value
    known: Any = held if type(held) in (str, dict, list) else read_field(held, "__dict__")
    return known if known is not None else str(held or "")


def _make_note(felt: Sensed) -> Note | None:
    return Note(felt.text, felt.sense, felt.rung, felt.rung == FLAG) if felt.text else None


def _find_unread(messages: Sequence[object], state: State) -> int:
    """The place of the first message that the state does not hold."""
    if not state.known:
        return 0
    for place in range(len(messages) - 1, -1, -1):
        if any(
            isinstance(event, Returned) and event.id in state.known for event in read_events(messages[place], place)
        ):
            return place  # parallel results may be in the same message; what is known is not counted again
    return 0


def _read_action(messages: Sequence[object], place: int, result: Returned, exempt: Container[str]) -> Action | None:
    asked, turn = _find_call(messages, place, result)
    tool = asked.tool if asked else result.tool
    if not tool or tool in exempt:
        return None
    return action(
        tool, asked.input if asked else "", result.output, ok=result.ok, id=result.id, turn=turn or f"at {place}"
    )


def _find_call(messages: Sequence[object], place: int, result: Returned) -> tuple[Called | None, str]:
    """The call that a result is of, with a name for the model's turn that it was made in."""
    for before in range(place, -1, -1):
        made = list_calls(messages[before], before)
        called = next(
            (call for call in made if call.id == result.id or _is_nameless(call, before, result, place)), None
        )
        if called is not None:
            return called, _name_turn(messages, before)
    return None, ""


def _is_nameless(call: Called, before: int, result: Returned, place: int) -> bool:
    """Whether neither has an id, and both are of the same tool."""
    return call.tool == result.tool and call.id == f"{before}:{call.tool}" and result.id == f"{place}:{result.tool}"


def _name_turn(messages: Sequence[object], place: int) -> str:
    """The first call of the turn: where each call is a message of its own, that of the first of them in a row."""
    while (
        place
        and list_calls(messages[place - 1], place - 1)
        and not list_items(read_field(messages[place - 1], "tool_calls"))
    ):
        place -= 1
    return list_calls(messages[place], place)[0].id
