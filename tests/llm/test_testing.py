"""The shipped fakes do what tests rely on."""

from datetime import timedelta

import httpx2
import pytest
from pydantic import BaseModel, Field

from insula.errors import ModelMalformed, ModelTimeout
from insula.llm.client import Prompt, generate_reply
from insula.testing import FakeServer, FrozenClock, ScriptedModel

pytestmark = pytest.mark.anyio

ASK = Prompt(prompt="What is 2+2?")


class Verdict(BaseModel):
    score: float = Field(ge=0, le=1)


async def test_a_scripted_model_keeps_every_request_word_for_word() -> None:
    model = ScriptedModel(["4"])
    prompt = Prompt(
        instructions="You are Insula.", history=(("user", "Hello"), ("assistant", "Hi")), prompt="What is 2+2?"
    )
    await generate_reply(model, prompt, purpose="reply", max_tokens=9, temperature=0.5, seed=7)
    request = model.requests[0]
    assert request.instructions == "You are Insula."
    assert request.history == (("user", "Hello"), ("assistant", "Hi"))
    assert request.prompt == "What is 2+2?"
    assert request.text == "You are Insula.\n\nHello\n\nHi\n\nWhat is 2+2?"
    assert {"max_tokens": 9, "temperature": 0.5, "seed": 7}.items() <= request.settings.items()
    assert request.schema is None


async def test_a_scripted_model_answers_in_order_with_texts_objects_failures_and_functions() -> None:
    model = ScriptedModel(["one", {"score": 2}, ModelTimeout("Too slow."), lambda request: request.prompt.upper()])
    assert (await generate_reply(model, ASK, purpose="a")).text == "one"
    assert (await generate_reply(model, ASK, purpose="b", schema=Verdict)).value == Verdict(score=1)
    assert model.requests[1].schema is not None
    with pytest.raises(ModelTimeout, match=r"^Too slow\.$"):
        await generate_reply(model, ASK, purpose="c")
    assert (await generate_reply(model, ASK, purpose="d")).text == "WHAT IS 2+2?"
    with pytest.raises(ModelMalformed):
        await generate_reply(model, ASK, purpose="e")


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_scripted_model_streams_and_has_log_probabilities(streamed: bool) -> None:
    deltas: list[str] = []
    model = ScriptedModel(["It is 4."], logprob=-0.5)
    answer = await generate_reply(
        model, ASK, purpose="reply", logprobs=True, on_delta=deltas.append if streamed else None
    )
    assert answer.text == "It is 4."
    assert deltas == (["It", " is", " 4."] if streamed else [])
    assert answer.logprobs == (("It", -0.5), (" is", -0.5), (" 4.", -0.5))


async def test_a_scripted_model_can_be_without_log_probabilities() -> None:
    answer = await generate_reply(ScriptedModel(["4"], logprob=None), ASK, purpose="reply", logprobs=True)
    assert answer.logprobs is None


async def test_an_unusable_object_is_corrected_in_a_conversation() -> None:
    model = ScriptedModel(["I would say a half.", {"score": 0.5}])
    prompt = Prompt(instructions="Judge.", prompt="How good is it?")
    assert (await generate_reply(model, prompt, purpose="judge", schema=Verdict)).value == Verdict(score=0.5)
    second = model.requests[1]
    assert second.instructions == "Judge."
    assert second.history == (("user", "How good is it?"), ("assistant", "I would say a half."))
    assert "it holds no JSON object" in second.prompt


async def test_a_frozen_clock_goes_on_only_when_told() -> None:
    clock = FrozenClock()
    began = clock()
    assert clock() == began
    assert began.tzinfo is not None
    clock.advance(90)
    assert clock() - began == timedelta(seconds=90)
    assert clock.monotonic() == 90


def test_a_fake_server_says_that_it_ends_the_connection() -> None:
    """A client that is not told sends its next request into the closing connection, and now and then loses it."""
    with FakeServer() as server:
        answer = httpx2.post(f"{server.url}/chat/completions", json={"model": "fake", "messages": []})
    assert answer.headers["Connection"] == "close"
