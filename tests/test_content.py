"""What hosts hand over is taken for what it is."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from insula.content import Content, read_content

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


class Trip(BaseModel):
    """A structured answer."""

    city: str
    content: str = "two days"


@dataclass
class Price:
    amount: int


def completion(message: dict[str, Any]) -> ChatCompletion:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return ChatCompletion.model_validate(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )


HANDED: list[tuple[object, Content]] = [
    (None, Content()),
    ("In Lisbon.", Content("In Lisbon.")),
    (b"In Lisbon.", Content("In Lisbon.")),
    ([], Content()),
    ([{"type": "text", "text": "What is this?"}, PICTURE], Content("What is this?")),
    ([{"type": "input_text", "text": "What"}, {"type": "input_image", "image_url": "x"}], Content("What")),
    ([PICTURE], Content()),
    (["one", "two"], Content("one\ntwo")),
    ([{"role": "user", "content": "first"}, {"role": "user", "content": "last"}], Content("last")),
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, Content(calls=True)),
    ({"role": "assistant", "content": "I look.", "tool_calls": [CALL]}, Content("I look.", calls=True)),
    ({"role": "assistant", "content": None, "refusal": "I cannot."}, Content("I cannot.")),
    ({"role": "assistant", "content": None}, Content()),
    (completion({"content": "In Lisbon."}), Content("In Lisbon.")),
    (completion({"content": None, "tool_calls": [CALL]}), Content(calls=True)),
    (completion({"content": "In Lisbon."}).choices[0].message, Content("In Lisbon.")),
    (ModelResponse(parts=[ThinkingPart("hm"), TextPart("In Lisbon.")]), Content("In Lisbon.")),
    (ModelResponse(parts=[ToolCallPart("look", {})]), Content(calls=True)),
    (
        [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "1", "name": "look", "input": {}}],
        Content(calls=True),
    ),
    (SimpleNamespace(final_output="In Lisbon."), Content("In Lisbon.")),
    (SimpleNamespace(type="ai", content=[{"type": "text", "text": "Hi"}], tool_calls=[]), Content("Hi")),
    ({"city": "Lisbon"}, Content('{"city": "Lisbon"}', structured=True)),
    ([{"city": "Lisbon"}], Content('[{"city": "Lisbon"}]', structured=True)),
    (Trip(city="Lisbon"), Content('{"city": "Lisbon", "content": "two days"}', structured=True)),
    (SimpleNamespace(final_output=Trip(city="L")), Content('{"city": "L", "content": "two days"}', structured=True)),
    (Price(3), Content('{"amount": 3}', structured=True)),
    (31, Content("31", structured=True)),
]


@pytest.mark.parametrize(("value", "content"), HANDED)
def test_a_value_is_taken_for_what_it_is(value: object, content: Content) -> None:
    assert read_content(value) == content


def test_what_holds_itself_ends() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert read_content(circle).structured
