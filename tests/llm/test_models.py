"""Names of models, and what is said when one cannot be had."""

import subprocess
import sys
from typing import cast

import pytest
from pydantic import BaseModel, Field

from insula.errors import ModelError, ModelMalformed, ModelRefused, ModelTimeout, ModelUnavailable
from insula.llm.callback import CallbackModel
from insula.llm.client import Prompt, generate_reply
from insula.llm.models import KEY_VARIABLE, TEST_ANSWER, resolve_model
from insula.llm.wire import Response, Settings
from insula.testing import Behaviour, FakeServer, ScriptedModel

pytestmark = pytest.mark.anyio

ASK = Prompt(prompt="What is 2+2?")


async def test_the_test_model_answers_without_a_network() -> None:
    async with resolve_model("test") as model:
        assert (await generate_reply(model, ASK, purpose="reply")).text == TEST_ANSWER


async def test_an_address_is_asked_for_the_model_after_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "my-own-key")
    with FakeServer() as server:
        async with resolve_model(f"{server.url}#qwen2.5:1.5b") as model:
            await generate_reply(model, ASK, purpose="reply")
    assert server.requests[0]["model"] == "qwen2.5:1.5b"
    assert server.keys == ["Bearer my-own-key"]


@pytest.mark.parametrize("behaviour", ["401", "404", "empty_text", "refusal", "garbage", "away"])
async def test_an_address_without_a_name_is_called_by_itself_in_what_goes_wrong(behaviour: Behaviour | str) -> None:
    with FakeServer(cast(Behaviour, behaviour)) as server:
        url = server.url if behaviour != "away" else "http://127.0.0.1:9/v1"
        async with resolve_model(url) as model:
            with pytest.raises(ModelError) as caught:
                await generate_reply(model, ASK, purpose="reply")
    assert str(caught.value).startswith(f"The model at {url} ")
    assert str(caught.value).count(url) == 1


async def test_a_provider_speaks_its_own_protocol_at_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        async with resolve_model("ollama:llama3.2") as model:
            assert (await generate_reply(model, ASK, purpose="reply")).text == "The answer is 4."
    assert server.requests[0]["model"] == "llama3.2"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("smolm2", "did you mean 'smollm2'?"),
        ("Embedded", "did you mean 'embedded'?"),
        ("opnai:gpt-5", "did you mean 'openai:gpt-5'?"),
        ("gpt-5", "There is no model called 'gpt-5'"),
        ("openai:", "There is no model called 'openai:'"),
        ("", "There is no model called ''"),
        ("openai:gpt-5", "put it into the environment as OPENAI_API_KEY"),
        ("deepseek:chat", "put it into the environment as DEEPSEEK_API_KEY"),
        ("azure:gpt-5", "is not ready for use"),
        ("ftp://127.0.0.1/v1#x", "is written http://HOST:PORT/v1#NAME"),
        ("http:///v1#x", "is written http://HOST:PORT/v1#NAME"),
    ],
)
async def test_a_name_that_does_not_work_says_what_to_do(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "DEEPSEEK_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ModelUnavailable) as caught:
        async with resolve_model(name):
            pass
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "package", "words"),
    [
        ("anthropic:claude-sonnet-4-5", "anthropic", 'pip install "pydantic-ai-slim[anthropic]"'),
        ("google-gla:gemini-2.5-pro", "google.genai", 'pip install "pydantic-ai-slim[google]"'),
        ("groq:llama", "groq", 'pip install "pydantic-ai-slim[groq]"'),
    ],
)
async def test_a_missing_package_is_named_with_the_command(
    name: str, package: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelUnavailable) as caught:
        async with resolve_model(name):
            pass
    assert words in str(caught.value)


async def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ModelUnavailable, match="without a user") as caught:
        async with resolve_model("http://user:hunter22@127.0.0.1/v1#x"):
            pass
    assert "hunter22" not in str(caught.value)


# The shipped fakes do what tests rely on


ASKED = Prompt(prompt="What is 2+2?")


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
    assert (await generate_reply(model, ASKED, purpose="a")).text == "one"
    assert (await generate_reply(model, ASKED, purpose="b", schema=Verdict)).value == Verdict(score=1)
    assert model.requests[1].schema is not None
    with pytest.raises(ModelTimeout, match=r"^Too slow\.$"):
        await generate_reply(model, ASKED, purpose="c")
    assert (await generate_reply(model, ASKED, purpose="d")).text == "WHAT IS 2+2?"
    with pytest.raises(ModelMalformed):
        await generate_reply(model, ASKED, purpose="e")


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_scripted_model_streams_and_has_log_probabilities(streamed: bool) -> None:
    deltas: list[str] = []
    model = ScriptedModel(["It is 4."], logprob=-0.5)
    answer = await generate_reply(
        model, ASKED, purpose="reply", logprobs=True, on_delta=deltas.append if streamed else None
    )
    assert answer.text == "It is 4."
    assert deltas == (["It", " is", " 4."] if streamed else [])
    assert answer.logprobs == (("It", -0.5), (" is", -0.5), (" 4.", -0.5))


# callback


class Judged(BaseModel):
    score: int


async def test_a_function_is_asked_what_a_model_would_be_and_its_answer_comes_back_whole() -> None:
    seen: list[tuple[Prompt, Settings]] = []

    async def ask(prompt: Prompt, settings: Settings) -> Response:
        seen.append((prompt, settings))
        return Response(
            text="Yes.", input_tokens=7, output_tokens=2, finish_reason="length", logprobs=(("Yes", -0.25),)
        )

    prompt = Prompt(prompt="And now?", instructions="Be brief.", history=[("user", "Hello"), ("assistant", "Hi")])
    made = await generate_reply(
        CallbackModel("mine", ask), prompt, purpose="x", max_tokens=9, temperature=0.5, seed=3, logprobs=True
    )
    assert seen == [(prompt, {"max_tokens": 9, "temperature": 0.5, "seed": 3, "logprobs": True})]
    assert (made.text, made.model, made.truncated, made.logprobs) == ("Yes.", "mine", True, (("Yes", -0.25),))
    assert (made.usage.input_tokens, made.usage.output_tokens) == (7, 2)


async def test_where_json_is_wanted_its_schema_stands_in_the_prompt() -> None:
    async def ask(prompt: Prompt, _: Settings) -> Response:
        assert '"score"' in prompt.instructions
        return Response(text='{"score": 4}')

    made = await generate_reply(CallbackModel("mine", ask), Prompt(prompt="Judge."), purpose="x", schema=Judged)
    assert made.value == Judged(score=4)
    assert made.usage.output_tokens > 0  # estimated


async def test_a_function_that_declines_is_told_as_a_model_that_does_whatever_it_says() -> None:
    async def ask(*_: object) -> Response:
        return Response(text="I cannot help.", finish_reason="content_filter")

    with pytest.raises(ModelRefused, match="'mine' declined to answer"):
        await generate_reply(CallbackModel("mine", ask), Prompt(prompt="?"), purpose="x")


async def test_what_the_function_raises_is_a_failure_of_the_model() -> None:
    async def ask(*_: object) -> Response:
        raise ConnectionError

    with pytest.raises(ModelUnavailable, match="'mine' cannot be reached"):
        await generate_reply(CallbackModel("mine", ask), Prompt(prompt="?"), purpose="x")


# what an address costs


def test_a_model_at_an_address_is_asked_without_loading_the_providers() -> None:
    asked = (
        "import asyncio, sys\n"
        "from insula.llm.client import Prompt, generate_reply\n"
        "from insula.llm.models import resolve_model\n"
        "async def ask():\n"
        "    async with resolve_model(sys.argv[1]) as model:\n"
        "        return (await generate_reply(model, Prompt(prompt='What is 2+2?'), purpose='reply')).text\n"
        "print(asyncio.run(ask()), sorted({'pydantic_ai', 'openai'} & {*sys.modules}))"
    )
    with FakeServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", asked, server.url], capture_output=True, text=True, check=True, timeout=120
        )
    assert done.stdout == "The answer is 4. []\n"
