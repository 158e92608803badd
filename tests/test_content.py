"""What hosts hand over is taken for what it is."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from insula import Metacognition
from insula.testing import memory_store

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


class Trip(BaseModel):
    """A structured answer."""

    city: str
    content: str = "two days"


pytestmark = pytest.mark.anyio


@dataclass
class Price:
    amount: int


def completion(message: dict[str, Any]) -> ChatCompletion:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return ChatCompletion.model_validate(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )


HANDED: list[tuple[object, str]] = [
    (None, ""),
    ("In Lisbon.", "In Lisbon."),
    (b"In Lisbon.", "In Lisbon."),
    ([], ""),
    ([{"type": "text", "text": "What is this?"}, PICTURE], "What is this?"),
    ([{"type": "input_text", "text": "What"}, {"type": "input_image", "image_url": "x"}], "What"),
    ([PICTURE], ""),
    (["one", "two"], "one\ntwo"),
    ([{"role": "user", "content": "first"}, {"role": "user", "content": "last"}], "last"),
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, ""),
    ({"role": "assistant", "content": "I look.", "tool_calls": [CALL]}, "I look."),
    ({"role": "assistant", "content": None, "refusal": "I cannot."}, "I cannot."),
    ({"role": "assistant", "content": None}, ""),
    (completion({"content": "In Lisbon."}), "In Lisbon."),
    (completion({"content": None, "tool_calls": [CALL]}), ""),
    (completion({"content": "In Lisbon."}).choices[0].message, "In Lisbon."),
    (ModelResponse(parts=[ThinkingPart("hm"), TextPart("In Lisbon.")]), "In Lisbon."),
    (ModelResponse(parts=[ToolCallPart("look", {})]), ""),
    (
        [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "1", "name": "look", "input": {}}],
        "",
    ),
    (SimpleNamespace(final_output="In Lisbon."), "In Lisbon."),
    (SimpleNamespace(type="ai", content=[{"type": "text", "text": "Hi"}], tool_calls=[]), "Hi"),
    ({"city": "Lisbon"}, '{"city": "Lisbon"}'),
    ([{"city": "Lisbon"}], '[{"city": "Lisbon"}]'),
    (Trip(city="Lisbon"), '{"city": "Lisbon", "content": "two days"}'),
    (SimpleNamespace(final_output=Trip(city="L")), '{"city": "L", "content": "two days"}'),
    (Price(3), '{"amount": 3}'),
    (31, "31"),
]


async def test_a_value_is_taken_for_what_it_is_as_a_message_and_as_a_response() -> None:
    circle: list[object] = []
    circle.append(circle)
    async with memory_store() as store:
        mind = Metacognition(store, embed=None)
        for value, text in HANDED:
            is_message = bool(text) and not isinstance(value, int)
            async with mind.turn("ana", "s", value if is_message else "Hello.") as turn:
                assert turn.message == text or not is_message, value
                assert turn.finish(value).response == text or not text, value
            assert turn.troubles == []
        async with mind.turn("ana", "s", circle) as turn:
            turn.finish(circle)
        assert turn.troubles == []
