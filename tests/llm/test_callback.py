import pytest
from pydantic import BaseModel

from insula.errors import ModelRefused, ModelUnavailable
from insula.llm.callback import CallbackAnswer, CallbackRequest, callback_model
from insula.llm.client import Prompt, generate_reply

pytestmark = pytest.mark.anyio


class Verdict(BaseModel):
    score: int


async def test_a_function_is_asked_what_a_model_would_be_and_its_answer_comes_back_whole() -> None:
    seen: list[CallbackRequest] = []

    async def ask(asked: CallbackRequest) -> CallbackAnswer:
        seen.append(asked)
        return CallbackAnswer(text="Yes.", input_tokens=7, output_tokens=2, truncated=True, logprobs=[("Yes", -0.25)])

    prompt = Prompt(prompt="And now?", instructions="Be brief.", history=[("user", "Hello"), ("assistant", "Hi")])
    made = await generate_reply(
        callback_model("mine", ask), prompt, purpose="x", max_tokens=9, temperature=0.5, seed=3, logprobs=True
    )
    assert seen == [
        CallbackRequest(
            instructions="Be brief.",
            messages=[("user", "Hello"), ("assistant", "Hi"), ("user", "And now?")],
            max_tokens=9,
            temperature=0.5,
            seed=3,
            logprobs=True,
        )
    ]
    assert (made.text, made.model, made.truncated, made.logprobs) == ("Yes.", "mine", True, (("Yes", -0.25),))
    assert (made.usage.input_tokens, made.usage.output_tokens) == (7, 2)


async def test_where_json_is_wanted_its_schema_stands_in_the_prompt() -> None:
    async def ask(asked: CallbackRequest) -> CallbackAnswer:
        assert '"score"' in asked.instructions
        return CallbackAnswer(text='{"score": 4}')

    made = await generate_reply(callback_model("mine", ask), Prompt(prompt="Judge."), purpose="x", schema=Verdict)
    assert made.value == Verdict(score=4)
    assert made.usage.output_tokens > 0  # estimated


async def test_what_was_thought_aloud_stays_apart_from_the_text() -> None:
    async def ask(_: CallbackRequest) -> CallbackAnswer:
        return CallbackAnswer(text="4", thinking="2 + 2 = 4")

    made = await generate_reply(callback_model("mine", ask), Prompt(prompt="?"), purpose="x")
    assert (made.text, made.thinking) == ("4", "2 + 2 = 4")


async def test_a_model_that_declines_is_told_as_one_whatever_it_says() -> None:
    async def ask(_: CallbackRequest) -> CallbackAnswer:
        return CallbackAnswer(text="I cannot help.", refused=True)

    with pytest.raises(ModelRefused, match="'mine' declined to answer"):
        await generate_reply(callback_model("mine", ask), Prompt(prompt="?"), purpose="x")


async def test_what_the_function_raises_is_a_failure_of_the_model() -> None:
    async def ask(_: CallbackRequest) -> CallbackAnswer:
        raise ConnectionError

    with pytest.raises(ModelUnavailable, match="'mine' cannot be reached"):
        await generate_reply(callback_model("mine", ask), Prompt(prompt="?"), purpose="x")
