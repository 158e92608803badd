"""What a host hands over as a message or a response, taken for what it is: text, parts, a model's object, data.

Hosts give what their library gave them: `None` beside tool calls, lists of parts, pictures, a completion, a result of
an agent, a parsed model. Each is read by its fields, without importing the library that it is of.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple, cast

_DEEPEST = 6
_CALLS = frozenset(("tool_use", "tool_call", "tool-call", "function", "function_call", "custom_tool_call", "mcp_call"))
"""Parts that ask for a tool."""
_TEXTS = frozenset(("text", "input_text", "output_text", "refusal", "message"))
_MARKS = ("role", "type", "kind", "part_kind")
"""The fields by which a part or a message is known from data."""


class Content(NamedTuple):
    """What was handed over."""

    text: str = ""
    structured: bool = False
    """Whether it is data: nothing may be written into it, and it need not answer in words."""
    calls: bool = False
    """Whether tools are asked for: the answer is still to come."""


def read_content(value: object, depth: int = 0) -> Content:
    """What a value says, by its fields; data as JSON.

    Args:
        value: a text, parts, a message, a completion, an agent's result, or data.
    """
    if value is None or depth > _DEEPEST:
        return Content()
    if isinstance(value, str):
        return Content(value)
    if isinstance(value, bytes | bytearray):
        return Content(value.decode("utf-8", "replace"))
    if isinstance(value, list | tuple):
        return _of_parts(list(value), depth)  # pyright: ignore[reportUnknownArgumentType]
    inner = _unwrap_result(value)
    if inner is not value:
        return read_content(inner, depth + 1)
    return _of_part(value, depth) if _kind_of(value) else Content(dump_json(value), structured=True)


def is_opaque(value: object) -> bool:
    """Whether a value is nothing, holds nothing, or is an object that says no more of itself than where it lies."""
    if value is None or isinstance(value, Mapping):
        return not value
    kind = type(value)
    is_plain = (kind.__str__, kind.__repr__) == (object.__str__, object.__repr__)
    with suppress(Exception):  # what cannot even be looked at is said by whoever reads it
        return is_plain and read_content(value).structured and _to_data(value) is value
    return False


def plain_text(value: object) -> str:
    """The text of a value; see `read_content`."""
    return read_content(value).text


def read_field(value: object, name: str) -> Any:
    """A field of an object or of a mapping; None where there is none."""
    if isinstance(value, Mapping):
        return value.get(name)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    field = getattr(value, name, None)
    return None if callable(field) and not isinstance(field, str) else field


def list_items(value: object) -> list[Any]:
    """The members of a list; none of anything else."""
    return list(value) if isinstance(value, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]


def dump_json(value: object) -> str:
    """A value as JSON; as Python writes it, where JSON cannot hold it."""
    try:
        return json.dumps(_to_data(value), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _to_data(value: Any) -> Any:
    for name in ("model_dump", "_asdict"):
        if callable(dump := getattr(value, name, None)) and not isinstance(value, type):
            return dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return cast(Any, value)


def _kind_of(value: object) -> str:
    """What a part or a message says it is; empty for data."""
    named = next((named for mark in _MARKS if (named := read_field(value, mark))), "")
    if isinstance(named, str) and named:
        return named
    if isinstance(read_field(value, "content"), list) and read_field(value, "model"):  # the Claude Agent SDK's message
        return "message"
    return "text" if type(value).__name__ == "TextBlock" else ""


def _unwrap_result(value: object) -> object:
    """What a completion or an agent's result is about; the value itself where it is neither."""
    if choices := list_items(read_field(value, "choices")):
        return read_field(choices[0], "message") or read_field(choices[0], "delta")
    if read_field(value, "final_output") is not None:  # the OpenAI Agents SDK
        return read_field(value, "final_output")
    if (
        isinstance(read_field(value, "output_text"), str) and read_field(value, "output") is not None
    ):  # OpenAI's responses
        return read_field(value, "output_text") or read_field(value, "output")
    if hasattr(value, "all_messages") and hasattr(value, "output"):  # Pydantic AI
        return read_field(value, "output")
    if read_field(value, "subtype") and hasattr(value, "result"):  # the Claude Agent SDK's result
        return read_field(value, "structured_output") or read_field(value, "result")
    return value


def _of_parts(parts: list[Any], depth: int) -> Content:
    if any(isinstance(read_field(part, "role"), str) for part in parts):  # messages: the last one is meant
        return read_content(parts[-1], depth + 1)
    if parts and not any(isinstance(part, str) or _kind_of(part) for part in parts):
        return Content(dump_json([_to_data(part) for part in parts]), structured=True)
    return _join_contents(read_content(part, depth + 1) for part in parts)


def _join_contents(each: Iterable[Content]) -> Content:
    known = list(each)
    text = "\n".join(content.text for content in known if content.text and not content.structured)
    return Content(text, calls=any(content.calls for content in known))


def _of_part(value: object, depth: int) -> Content:
    kind = _kind_of(value)
    if kind in _CALLS:
        return Content(calls=True)
    if isinstance(refusal := read_field(value, "refusal"), str) and refusal:
        return Content(refusal)
    calls = bool(read_field(value, "tool_calls") or read_field(value, "function_call"))
    inner = read_field(value, "content") if read_field(value, "content") is not None else read_field(value, "parts")
    if isinstance(inner, str) and read_field(value, "part_kind") not in {None, "text", "user-prompt"}:
        return Content()  # thoughts, or what a tool gave back
    if isinstance(inner, str | list | tuple) and kind not in {"thinking", "reasoning", "tool_result"}:
        said = read_content(inner, depth + 1)  # pyright: ignore[reportUnknownArgumentType]
        return said._replace(calls=calls or said.calls)
    text = read_field(value, "text")
    if isinstance(text, str) and (kind in _TEXTS or read_field(value, "content") is None):
        return Content(text, calls=calls)
    if calls or "content" in _field_names(value) or kind in _TEXTS or "_" in kind or kind in _SILENT:
        return Content(calls=calls)
    return Content(dump_json(value), structured=True)


_SILENT = frozenset(
    ("image", "file", "audio", "video", "document", "thinking", "reasoning", "assistant", "ai", "binary")
)
"""Parts that say nothing in words."""


def _field_names(value: object) -> Iterable[str]:
    return value if isinstance(value, Mapping) else dir(value)  # pyright: ignore[reportUnknownVariableType]
