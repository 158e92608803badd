"""A response that the model itself was unsure of goes out hedged, in the text that the user sees."""

import pytest

from insula.agent.chat import Chat
from insula.errors import ModelRefused
from insula.metacognition import Metacognition
from insula.testing import Request, ScriptedModel

pytestmark = pytest.mark.anyio

QUESTION, ANSWER = "What is the capital of Mongolia?", "The capital of Mongolia is Khantakal."


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_that_the_model_is_unsure_of_is_hedged(streamed: bool) -> None:
    async with await Metacognition.open(":memory:") as metacognition:
        chat = Chat(metacognition, ScriptedModel([ANSWER], logprob=-5.0))
        pieces: list[str] = []
        reply = await chat.reply("me", "s", QUESTION, on_delta=pieces.append if streamed else None)
    assert reply.hedged
    assert reply.response.endswith(ANSWER) and reply.response != ANSWER
    assert reply.assessment is not None
    assert reply.assessment.flags == ("unsure",)
    assert reply.record()["assessment"]["parts"]["likelihood"] == reply.assessment.parts.likelihood


@pytest.mark.parametrize("logprob", [-0.05, None])
async def test_an_answer_that_it_is_sure_of_or_says_nothing_about_is_not(logprob: float | None) -> None:
    async with await Metacognition.open(":memory:") as metacognition:
        reply = await Chat(metacognition, ScriptedModel([ANSWER], logprob=logprob)).reply("me", "s", QUESTION)
    assert not reply.hedged
    assert reply.assessment is not None
    assert (reply.assessment.parts.likelihood is None) is (logprob is None)


async def test_a_server_that_refuses_log_probabilities_is_asked_without_them_from_then_on() -> None:
    def answer(request: Request) -> str:
        if request.settings.get("openai_logprobs"):
            raise ModelRefused("The model 'scripted' declined the request: logprobs is not supported; change it.")
        return ANSWER

    model = ScriptedModel(answer)
    async with await Metacognition.open(":memory:") as metacognition:
        chat = Chat(metacognition, model)
        replies = [await chat.reply("me", "s", QUESTION) for _ in range(2)]
    assert [reply.error for reply in replies] == [None, None]
    assert len(model.requests) == 3


async def test_another_refusal_is_not_asked_again() -> None:
    model = ScriptedModel([ModelRefused("The model 'scripted' declined to answer.")])
    async with await Metacognition.open(":memory:") as metacognition:
        reply = await Chat(metacognition, model).reply("me", "s", QUESTION)
    assert reply.error == "The model 'scripted' declined to answer."
    assert len(model.requests) == 1
