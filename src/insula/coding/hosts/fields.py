"""Reading a host's payload: whatever is missing or of the wrong type is empty, never an error."""

from insula.coding.step.action import Event
from insula.coding.step.digests import digest
from insula.value import is_list, is_number, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
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


def text(payload: "Payload", name: str) -> str:
    """The field, where it is a text."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def fields(payload: "Payload", name: str) -> "Payload":
    """The field, where it is an object."""
    value = payload.get(name)
    return value if is_object(value) else {}


def objects(payload: "Payload", name: str) -> "list[Payload]":
    """The objects in the field, where it is a list."""
    value = payload.get(name)
    return [each for each in value if is_object(each)] if is_list(value) else []


def parse_event(payload: "Payload", kinds: "Mapping[str, str]") -> Event | None:
    """The event, without its actions, of a host that names its fields as Claude Code does; None for one unheard of."""
    name, session = text(payload, "hook_event_name"), text(payload, "session_id")
    if name not in kinds or not session:
        return None
    return Event(
        kind=kinds[name],
        name=name,
        session=session,
        agent=text(payload, "agent_id"),
        cwd=text(payload, "cwd"),
        source=text(payload, "source"),
        transcript=text(payload, "transcript_path"),
        prompt=text(payload, "prompt") if kinds[name] == "prompt" else "",
        said=text(payload, "last_assistant_message"),
        drops_output=kinds[name] == "stop",
        mode=text(payload, "permission_mode"),
        pending=bool(payload.get("background_tasks")),
    )


def raw_call(payload: "Payload") -> "tuple[str, Any, Any]":
    """The tool of a call, its arguments and its result, as they came, under whatever names a host has for them."""
    call = fields(payload, "input") or fields(payload, "tool_result") or fields(payload, "postToolUse")
    tool = text(payload, "tool_name") or text(payload, "toolName") or text(call, "tool") or text(call, "name")
    names = ("tool_input", "toolArgs")
    given = next((payload[name] for name in names if name in payload), None)
    given = (
        next((call[name] for name in ("args", "input", "parameters") if name in call), None) if given is None else given
    )
    results = ("tool_response", "error", "toolResult", "output", "tool_result")
    return tool, given, next((payload[name] for name in results if name in payload), "")


def seconds(payload: "Payload", *names: str) -> float:
    """What a call took, of a field in milliseconds; 0 unknown."""
    value = next((payload[name] for name in names if name in payload), 0)
    return value / 1_000 if is_number(value) and 0 < value < _LONGEST_CALL else 0.0


def said(value: "Any", depth: int = 0) -> str:
    """All the text in what a tool gave back."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if is_list(value):
        return "\n".join(filter(None, (said(part, depth + 1) for part in value)))
    if is_object(value):
        known = [value[name] for name in _TEXTS if name in value]
        others = [_brief(each) if isinstance(each, str) else each for each in value.values()]
        return "\n".join(filter(None, (said(each, depth + 1) for each in known or others)))
    return ""


def _brief(data: str) -> str:
    """The first whole words of a field that may hold anything, else what tells it from another: half a word may be the
    half of a secret, which nobody would know for one."""
    return data if len(data) <= _DATA else data[:_DATA].rpartition(" ")[0] or digest(data)
