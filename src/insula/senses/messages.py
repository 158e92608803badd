"""Messages of the libraries that people use, as what they tell: calls, their results, the user's words."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from insula.content import list_items, plain_text, read_content, read_field


class Called(NamedTuple):
    """The model asks for a tool."""

    id: str
    tool: str
    input: object


class Returned(NamedTuple):
    """What a tool gave back."""

    id: str
    tool: str
    """Empty where the message does not say; the call does."""
    output: object
    ok: bool | None


class UserWords(NamedTuple):
    """The user speaks."""

    words: str


Event = Called | Returned | UserWords

_USERS, _TOOLS = frozenset(("user", "human")), frozenset(("tool", "function"))
_MODELS = frozenset(("assistant", "ai", "response", "function_call"))
_OTHERS = _TOOLS | _MODELS | {"system", "developer", "function_call_output"}
"""Who speaks and is not the user."""
_CALLS = frozenset(("function_call", "custom_tool_call", "mcp_call", "tool_use", "tool-call", "tool_call", "function"))


def list_calls(message: object, place: int) -> list[Called]:
    """The calls that a message asks for."""
    return [event for event in read_events(message, place) if isinstance(event, Called)]


def list_user_words(messages: Sequence[object]) -> Iterator[str]:
    """What the user said in a conversation, oldest first."""
    for place, message in enumerate(messages):
        role = _get_role(message)
        if isinstance(role, str) and role not in _OTHERS:  # most messages of an agent are not the user's
            yield from (event.words for event in read_events(message, place) if isinstance(event, UserWords))


def is_beginning(messages: Sequence[object]) -> bool:
    """Whether the model has said nothing in a conversation yet."""
    return not any(_get_role(message) in _MODELS for message in messages)


def _get_role(message: object) -> object:
    return read_field(message, "role") or read_field(message, "type") or read_field(message, "kind")


def read_events(message: object, place: int) -> Iterator[Event]:
    """What a message tells, in its order.

    Args:
        message: a mapping or an object of a library.
        place: its place in the conversation; names a call that has no id.
    """
    role = _get_role(message)
    if not isinstance(role, str):
        return
    if role in _TOOLS and (read_field(message, "tool_call_id") or read_field(message, "name")):
        status = read_field(message, "status")
        yield _read_result(message, place, "content", False if status == "error" else None)
        return
    if role in _CALLS:
        yield from _read_call(message, place)
        return
    if role.endswith("_output"):
        yield _read_result(message, place, "output", None)
        return
    for call in list_items(read_field(message, "tool_calls")):
        yield from _read_call(call, place)
    if call := read_field(message, "function_call"):
        yield from _read_call(call, place)
    yield from _read_content(message, role, place)


def _read_content(message: object, role: str, place: int) -> Iterator[Event]:
    content = read_field(message, "content")
    for part in list_items(content if content is not None else read_field(message, "parts")):
        kind = read_field(part, "type") or read_field(part, "part_kind")
        if kind in {"tool_use", "tool-call"}:
            if not list_items(read_field(message, "tool_calls")):  # LangChain says the same in both places
                yield from _read_call(part, place)
        elif kind in {"tool_result", "tool-return"}:
            yield _read_result(part, place, "content", False if read_field(part, "is_error") else None)
        elif kind == "retry-prompt" and read_field(part, "tool_name"):
            yield _read_result(part, place, "content", ok=False)
        elif kind == "user-prompt":
            yield UserWords(plain_text(read_field(part, "content")))
    if role in _USERS and (words := read_content(message).text):
        yield UserWords(words)


def _read_call(call: Any, place: int) -> Iterator[Called]:
    inner = read_field(call, "function") or call
    tool = read_field(inner, "name") or read_field(inner, "tool_name")
    given = next((v for n in ("arguments", "args", "input") if (v := read_field(inner, n)) is not None), "")
    if isinstance(tool, str):
        yield Called(_name_call(call, place, tool), tool, given)


def _read_result(message: object, place: int, where: str, ok: bool | None) -> Returned:
    tool = read_field(message, "name") or read_field(message, "tool_name")
    name = tool if isinstance(tool, str) else ""
    return Returned(_name_call(message, place, name), name, read_field(message, where), ok)


def _name_call(value: object, place: int, tool: str) -> str:
    names = ("tool_call_id", "tool_use_id", "call_id", "id")
    known = next((v for n in names if isinstance(v := read_field(value, n), str) and v), "")
    return known[:80] or f"{place}:{tool}"
