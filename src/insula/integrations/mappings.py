"""Messages that are plain mappings, as clients and the OpenAI Agents SDK send them."""

from collections.abc import Sequence
from typing import Any

from insula.content import list_items, read_field
from insula.integrations.guest import GuestInjection, append_text, put_behind


def with_told(messages: Sequence[Any], told: GuestInjection) -> list[Any]:
    """The messages with what belongs behind the user's words and behind the results of tools."""
    return put_behind(messages, told, append_to_mapping)


def append_to_mapping(message: Any, text: str, call: str) -> Any:
    """A message with a text behind its content, or behind the result of one call in it."""
    content: Any = read_field(message, "content")
    parts = list_items(content)
    if call and "output" in message:
        output = message["output"]
        return {
            **message,
            "output": append_text(output, text) if isinstance(output, str) else [*output, _text_part(text)],
        }
    if call and parts:
        return {**message, "content": [_with_note(part, text, call) for part in parts]}
    if any(read_field(part, "type") == "input_text" for part in parts):
        return {**message, "content": [*parts, _text_part(text)]}
    return {**message, "content": append_text(content if content is not None else "", text)}


def _text_part(text: str) -> dict[str, str]:
    return {"type": "input_text", "text": text}


def _with_note(part: Any, text: str, call: str) -> Any:
    if read_field(part, "tool_use_id") != call:
        return part
    return {**part, "content": append_text(read_field(part, "content") or "", text)}
