"""Reading a host's payload: whatever is missing or of the wrong type is empty, never an error."""

from insula.coding.step.digests import hash_text
from insula.value import is_list, is_number, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Payload = dict[str, Any]
else:
    Payload = dict

_DEEPEST = 6
_LONGEST_CALL = 86_400_000
"""Milliseconds: no call of a tool takes a day."""
_DATA = 200
"""Characters of a field that holds no text, such as a picture."""
_TEXTS = ("stdout", "stderr", "llmContent", "content", "text", "output", "file", "result", "message")
"""Where hosts put what a tool gave back."""


def get_text(payload: "Payload", name: str) -> str:
    """The field, where it is a text."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def get_object(payload: "Payload", name: str) -> "Payload":
    """The field, where it is an object."""
    value = payload.get(name)
    return value if is_object(value) else {}


def get_first_text(payload: "Payload", name: str) -> str:
    """The first item of the field, where that is a list and the item a text."""
    value = payload.get(name)
    return value[0] if is_list(value) and value and isinstance(value[0], str) else ""


def get_objects(payload: "Payload", name: str) -> "list[Payload]":
    """The objects in the field, where it is a list."""
    value = payload.get(name)
    return [each for each in value if is_object(each)] if is_list(value) else []


def read_raw_call(payload: "Payload") -> "tuple[str, Any, Any]":
    """The tool of a call, its arguments and its result, as they came, under whatever names a host has for them."""
    call = get_object(payload, "input") or get_object(payload, "tool_result") or get_object(payload, "postToolUse")
    tools = ((payload, "tool_name"), (payload, "toolName"), (call, "tool"), (call, "name"))
    tool = next(filter(None, (get_text(*place) for place in tools)), "")
    given = _get_first(payload, ("tool_input", "toolArgs"), None)
    given = _get_first(call, ("args", "input", "parameters"), None) if given is None else given
    return tool, given, _get_first(payload, ("tool_response", "error", "toolResult", "output", "tool_result"), "")


def _get_first(payload: "Payload", names: tuple[str, ...], otherwise: "Any") -> "Any":
    return next((payload[name] for name in names if name in payload), otherwise)


def get_seconds(payload: "Payload", name: str) -> float:
    """What a call took, of a field in milliseconds; 0 unknown."""
    value = payload.get(name, 0)
    return value / 1_000 if is_number(value) and 0 < value < _LONGEST_CALL else 0.0


def collect_text(value: "Any", depth: int = 0) -> str:
    """All the text in what a tool gave back."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if is_list(value):
        return "\n".join(filter(None, (collect_text(part, depth + 1) for part in value)))
    if is_object(value):
        known = [value[name] for name in _TEXTS if name in value]
        others = [_shorten_field(each) if isinstance(each, str) else each for each in value.values()]
        return "\n".join(filter(None, (collect_text(each, depth + 1) for each in known or others)))
    return ""


def _shorten_field(data: str) -> str:
    """The first whole words of a field that may hold anything, else what tells it from another: half a word may be the
    half of a secret, which nobody would know for one."""
    return data if len(data) <= _DATA else data[:_DATA].rpartition(" ")[0] or hash_text(data)
