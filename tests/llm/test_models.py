"""Names of models, and what is said when one cannot be had."""

import sys

import pytest

from insula.errors import ModelUnavailable
from insula.llm.client import Prompt, generate_reply
from insula.llm.models import KEY_VARIABLE, TEST_ANSWER, resolve_model
from insula.testing import FakeServer

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


async def test_an_address_needs_no_key_and_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with FakeServer() as server:
        async with resolve_model(server.url) as model:
            assert (await generate_reply(model, ASK, purpose="reply")).text


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
