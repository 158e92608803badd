"""What goes over the wire, and how each failure there comes back."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from insula.errors import ModelError, ModelMalformed, ModelRefused, ModelTimeout, ModelUnavailable
from insula.llm import compatible
from insula.llm.client import Prompt, generate_reply
from insula.llm.compatible import connect_model
from insula.llm.failures import make_error, trouble_of
from insula.llm.fake_server import Behaviour
from insula.llm.model import Model
from insula.llm.structured import parse_object
from insula.testing import FakeServer

pytestmark = pytest.mark.anyio

KEY = "sk-test-0123456789abcdef"
"""The key that tests send, and that must never come back in a message."""

Connect = Callable[[FakeServer], AbstractAsyncContextManager[Model]]

ASK = Prompt(prompt="What is 2+2?")

FAILURES: list[tuple[Behaviour, type[ModelError], str]] = [
    ("empty_body", ModelMalformed, "cannot be read"),
    ("garbage", ModelMalformed, "cannot be read"),
    ("truncated", ModelMalformed, "cannot be read"),
    ("no_choices", ModelMalformed, "no answer by its protocol"),
    ("empty_text", ModelMalformed, "answered nothing"),
    ("tool_call", ModelMalformed, "call of a tool"),
    ("refusal", ModelRefused, "I cannot help with that"),
    ("content_filter", ModelRefused, "content filter"),
    ("400", ModelRefused, "declined the request"),
    ("401", ModelUnavailable, "key"),
    ("404", ModelUnavailable, "not known there"),
    ("429", ModelUnavailable, "try again in 7 seconds"),
    ("500", ModelUnavailable, "try again later"),
    ("drop", ModelUnavailable, "broke the connection off"),
]
WHOLE = ("empty_body", "no_choices")
"""What no stream does."""


class Verdict(BaseModel):
    score: float = Field(ge=0, le=1)


@pytest.fixture
def connect() -> Connect:
    """A model at a fake server, whose client does not repeat failed requests by itself."""

    @asynccontextmanager
    async def at(server: FakeServer) -> AsyncGenerator[Model]:
        async with connect_model("fake", server.url, KEY, retries=0) as model:
            yield model

    return at


async def test_the_request_holds_instructions_history_and_prompt_word_for_word(connect: Connect) -> None:
    with FakeServer() as server:
        async with connect(server) as model:
            prompt = Prompt(
                instructions="You are Insula.\n\nWhat you remember:\n- Ana lives in Lisbon.",
                history=(("user", "Hello 👋"), ("assistant", "Hello!")),
                prompt='Where does "Ana" live?',
            )
            await generate_reply(model, prompt, purpose="reply", max_tokens=77, temperature=0.25, seed=3)
    assert server.requests[0]["messages"] == [
        {"role": "system", "content": "You are Insula.\n\nWhat you remember:\n- Ana lives in Lisbon."},
        {"role": "user", "content": "Hello 👋"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": 'Where does "Ana" live?'},
    ]
    sent = server.requests[0]
    assert (sent["temperature"], sent["seed"], sent["model"]) == (0.25, 3, "fake")
    assert sent["max_tokens"] == 77
    assert not sent.keys() & {"tools", "logprobs", "response_format"}


async def test_an_answer_comes_back_with_what_it_took(connect: Connect) -> None:
    with FakeServer(answer=" 4 apples.\n") as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="reply")
    assert (answer.text, answer.value, answer.thinking, answer.model) == ("4 apples.", None, "", "fake")
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 10, 3)
    assert answer.usage.seconds > 0
    assert answer.first_token_seconds is None
    assert not answer.truncated


async def test_lone_surrogates_and_control_characters_do_not_break_a_request(connect: Connect) -> None:
    with FakeServer() as server:
        async with connect(server) as model:
            await generate_reply(model, Prompt(prompt="a\ud800b\x00c"), purpose="reply")
    assert server.requests[0]["messages"] == [{"role": "user", "content": "a\ufffdbc"}]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("behaviour", "error", "words"), FAILURES)
async def test_each_failure_is_one_of_our_errors_and_says_what_to_do(
    connect: Connect, behaviour: Behaviour, error: type[ModelError], words: str, streamed: bool
) -> None:
    if streamed and behaviour in WHOLE:
        return
    with FakeServer(behaviour) as server:
        async with connect(server) as model:
            with pytest.raises(error, match=words) as caught:
                await generate_reply(model, ASK, purpose="reply", on_delta=_ignore if streamed else None)
    _check_sentence(str(caught.value))


@pytest.mark.parametrize("behaviour", ["slow", "endless"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_ends_at_its_timeout(connect: Connect, behaviour: Behaviour, streamed: bool) -> None:
    with FakeServer(behaviour) as server:
        async with connect(server) as model:
            with pytest.raises(ModelTimeout, match=r"within 0\.2 seconds") as caught:
                await generate_reply(model, ASK, purpose="r", timeout=0.2, on_delta=_ignore if streamed else None)
    _check_sentence(str(caught.value))


async def test_nobody_at_the_address_is_unavailable() -> None:
    with FakeServer() as server:
        url = server.url
    async with connect_model("fake", url, KEY, retries=0) as model:
        with pytest.raises(ModelUnavailable, match=r"cannot be reached at http://127\.0\.0\.1:\d+/v1;") as caught:
            await generate_reply(model, ASK, purpose="reply")
    _check_sentence(str(caught.value))


async def test_cancellation_passes_through_at_once(connect: Connect) -> None:
    with FakeServer("endless") as server:
        async with connect(server) as model:
            task = asyncio.create_task(generate_reply(model, ASK, purpose="reply"))
            await asyncio.to_thread(server.received.wait, 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_the_deltas_together_are_the_answer(connect: Connect) -> None:
    deltas: list[str] = []
    with FakeServer(answer="One two three.") as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="reply", on_delta=deltas.append)
    assert len(deltas) == 3
    assert "".join(deltas) == answer.text == "One two three."
    assert answer.first_token_seconds is not None
    assert answer.first_token_seconds <= answer.usage.seconds
    assert answer.usage.output_tokens == 3


async def test_what_a_delta_callback_raises_is_not_blamed_on_the_model(connect: Connect) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError

    with FakeServer() as server:
        async with connect(server) as model:
            with pytest.raises(ZeroDivisionError):
                await generate_reply(model, ASK, purpose="reply", on_delta=broken)


@pytest.mark.parametrize("streamed", [False, True])
async def test_log_probabilities_come_token_by_token(connect: Connect, streamed: bool) -> None:
    with FakeServer(answer="It is 4.") as server:
        async with connect(server) as model:
            answer = await generate_reply(
                model, ASK, purpose="r", logprobs=True, on_delta=_ignore if streamed else None
            )
    assert answer.logprobs == (("It", -0.1), (" is", -0.1), (" 4.", -0.1))


async def test_under_a_schema_the_grammar_is_sent_and_no_log_probabilities(connect: Connect) -> None:
    with FakeServer(answer='{"score": 0.5}') as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="judge", schema=Verdict, logprobs=True)
    assert answer.value == Verdict(score=0.5)
    assert answer.logprobs is None
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["additionalProperties"] is False
    assert '"title"' not in json.dumps(form)
    assert form["json_schema"]["schema"]["properties"]["score"]["type"] == "number"
    assert "logprobs" not in server.requests[0]


async def test_an_unusable_object_is_asked_for_once_more_with_the_reason(connect: Connect) -> None:
    with FakeServer("empty_text", "ok", answer='{"score": 0.5}') as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="judge", schema=Verdict)
    assert answer.value == Verdict(score=0.5)
    assert answer.usage.calls == 2
    assert "it holds no JSON object" in server.prompt()
    assert server.prompt().startswith("What is 2+2?")


@pytest.mark.parametrize("behaviour", ["empty_text", "cut_off"])
async def test_an_object_that_fails_twice_is_malformed(connect: Connect, behaviour: Behaviour) -> None:
    with FakeServer(behaviour, answer='{"score": 0.5, "why": "because"}') as server:
        async with connect(server) as model:
            with pytest.raises(ModelMalformed, match="Verdict") as caught:
                await generate_reply(model, ASK, purpose="judge", schema=Verdict)
    assert len(server.requests) == 2
    _check_sentence(str(caught.value))


async def test_an_object_put_into_a_tool_call_is_taken(connect: Connect) -> None:
    with FakeServer("tool_call", answer='{"score": 0.25}') as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="judge", schema=Verdict)
    assert answer.value == Verdict(score=0.25)


async def test_a_refusal_is_not_asked_again(connect: Connect) -> None:
    with FakeServer("refusal") as server:
        async with connect(server) as model:
            with pytest.raises(ModelRefused):
                await generate_reply(model, ASK, purpose="judge", schema=Verdict)
    assert len(server.requests) == 1


async def test_an_answer_that_was_cut_off_says_so(connect: Connect) -> None:
    with FakeServer("cut_off") as server:
        async with connect(server) as model:
            assert (await generate_reply(model, ASK, purpose="reply")).truncated


async def test_thinking_is_kept_apart_from_the_answer(connect: Connect) -> None:
    with FakeServer(answer="<think>2+2 is 4</think>4") as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="reply")
    assert (answer.thinking, answer.text) == ("2+2 is 4", "4")


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_a_model_refuses_by_its_name_is_left_out_and_asked_without(connect: Connect, streamed: bool) -> None:
    refused: set[str] = set()
    delta = _ignore if streamed else None
    with FakeServer("no_temperature", "ok") as server:
        async with connect(server) as model:
            for _ in range(2):
                made = await generate_reply(model, ASK, purpose="r", temperature=0.5, on_delta=delta, refused=refused)
                assert made.text == "The answer is 4."
    assert ["temperature" in request for request in server.requests] == [True, False, False]


async def test_a_busy_server_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compatible, "FIRST_WAIT", 0.0)
    with FakeServer("500", "drop", "ok") as server:
        async with connect_model("fake", server.url) as model:
            assert (await generate_reply(model, ASK, purpose="reply")).text == "The answer is 4."
    assert len(server.requests) == 3


async def test_a_server_that_asks_to_wait_too_long_is_not_waited_for() -> None:
    with FakeServer("long_wait") as server:
        async with connect_model("fake", server.url) as model:
            with pytest.raises(ModelUnavailable, match="try again in 3600 seconds"):
                await generate_reply(model, ASK, purpose="reply")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (429, {"code": "insufficient_quota", "message": "You exceeded it."}, "no quota left"),
        (402, {"message": "Pay."}, "no quota left"),
        (403, {"message": "No."}, "refused the key"),
        (400, {"message": "This model's maximum context length is 8 tokens."}, "shorten"),
        (400, {"type": "exceed_context_size_error", "message": "too many"}, "shorten"),
        (503, {"code": "overloaded", "message": "Busy."}, "try again later"),
        (None, {"code": "rate_limit_exceeded", "message": "Slow down."}, "rate limit"),
        (None, {"code": 404, "message": "Which?"}, "not known there"),
        (None, {"message": "Something broke."}, "try again later"),
    ],
)
def test_what_a_server_says_of_a_request_comes_back_with_what_to_do(
    status: int | None, error: dict[str, object], words: str
) -> None:
    trouble = trouble_of(status, error.get("code"), error.get("type"), error["message"])
    made = make_error(trouble, "The model 'fake'", error["message"])
    assert words in str(made)
    _check_sentence(str(made))


async def test_thinking_is_not_shown_as_it_is_streamed(connect: Connect) -> None:
    deltas: list[str] = []
    with FakeServer(answer="<think>2 and 2 is 4</think>It is 4.") as server:
        async with connect(server) as model:
            answer = await generate_reply(model, ASK, purpose="reply", on_delta=deltas.append)
    assert "".join(deltas) == answer.text == "It is 4."
    assert (answer.thinking, answer.first_token_seconds) == ("2 and 2 is 4", None)


async def test_a_model_without_grammars_is_shown_the_schema_instead() -> None:
    seen: list[str] = []

    def judge(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append("".join(part.content for part in info.model_request_parameters.instruction_parts or ()))
        return ModelResponse(parts=[TextPart('Certainly: {"score": 3}')])

    model = FunctionModel(judge, profile=ModelProfile(supports_json_schema_output=False))
    prompt = Prompt(instructions="Judge.", prompt="How good is it?")
    assert (await generate_reply(model, prompt, purpose="judge", schema=Verdict)).value == Verdict(score=1)
    assert seen[0].startswith("Judge.")
    assert '"maximum": 1' in seen[0]


async def test_the_key_goes_to_the_server_and_a_foreign_key_does_not(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-foreign")
    with FakeServer() as server:
        async with connect(server) as model:
            await generate_reply(model, ASK, purpose="reply")
        async with connect_model("fake", server.url) as model:
            await generate_reply(model, ASK, purpose="reply")
    assert server.keys[0] == f"Bearer {KEY}"
    assert "foreign" not in server.keys[1]


async def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with FakeServer() as server:
        async with connect(server) as model:
            assert (await generate_reply(model, ASK, purpose="reply")).text


def _ignore(_: str) -> None:
    pass


def _check_sentence(message: str) -> None:
    """A message names the model, ends as a sentence, and holds neither the key nor a long body."""
    assert message.startswith("The model 'fake'")
    assert message.endswith(".")
    assert KEY not in message
    assert len(message) < 400


# What a grammar lets through, and what models wrap around their JSON


class Step(BaseModel):
    effort: float | None = Field(default=None, ge=0, le=10)


class VerdictOfStructured(BaseModel):
    score: float = Field(ge=0, le=1)
    difficulty: int = Field(default=50, ge=0, le=100)
    open: float = Field(default=0.5, gt=0, lt=1)
    why: str = Field(default="", max_length=10)
    steps: list[Step] = Field(default_factory=list[Step], max_length=2)


GOOD = '{"score": 0.5}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"```json\n{GOOD}",
        f"Here is my {{verdict}}:\n\n{GOOD}\n\nI hope that helps {{you}}.",
        f'{{"note": "not this one"}} but {GOOD}',
        '{"score": 0.5,\n "why": "a\nb"}',
    ],
    ids=["bare", "blanks", "fence", "fence without language", "open fence", "prose", "second object", "bare line end"],
)
def test_an_object_is_found_in_whatever_surrounds_it(text: str) -> None:
    assert parse_object(text, VerdictOfStructured).score == 0.5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("I would say 0.5.", "no JSON object"),
        ('{"score": 0.5', "cut off"),
        ('{"steps": [{"effort": 1}, {"eff', "cut off"),
        ('{"score": "high"}', "score: Input should be a valid number"),
        ('{"difficulty": 3}', "score: Field required"),
        ('{"score": NaN}', "score"),
    ],
)
def test_what_cannot_be_used_says_why(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_object(text, VerdictOfStructured)


def test_a_part_of_a_broken_object_is_not_taken_for_the_answer() -> None:
    with pytest.raises(ValueError, match="cut off"):
        parse_object('{"steps": [{"effort": 1}, {"effort": 2}', Step)


@given(
    score=st.floats(allow_nan=False) | st.integers(),
    difficulty=st.integers(),
    opened=st.floats(allow_nan=False, allow_infinity=False),
    why=st.text(),
    efforts=st.lists(st.none() | st.floats(allow_nan=False)),
)
def test_whatever_is_out_of_range_is_brought_into_it(
    score: float, difficulty: int, opened: float, why: str, efforts: list[float | None]
) -> None:
    said = {
        "score": score,
        "difficulty": difficulty,
        "open": opened,
        "why": why,
        "steps": [{"effort": effort} for effort in efforts],
    }
    verdict = parse_object(json.dumps(said), VerdictOfStructured)
    assert verdict.score == min(max(score, 0), 1)
    assert verdict.difficulty == min(max(difficulty, 0), 100)
    assert 0 < verdict.open < 1
    assert verdict.why == why[:10]
    kept = [None if effort is None else min(max(effort, 0), 10) for effort in efforts[:2]]
    assert [step.effort for step in verdict.steps] == kept
