"""The embedded model, for real."""

import asyncio
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel, Field
from pydantic_ai.models import Model

from insula.errors import ModelRefused, ModelUnavailable
from insula.llm.client import Prompt, generate_reply
from insula.llm.local import SMOLLM2, find_weights, run_embedded, verify_weights


def _missing() -> str:
    try:
        find_weights(SMOLLM2)
    except ModelUnavailable as error:
        return str(error)
    return ""


with_weights = pytest.mark.skipif(bool(_missing()), reason=_missing())

TOLD = """\
You are Insula, a helpful assistant.

Facts about the user:
- {fact} (today)

Your confidence from memory is high: answer the question with these facts."""

FACTS = [
    ("My sister Ana moved to Lisbon in May.", "Where does my sister live?", "Lisbon"),
    ("My dog is called Biscuit.", "What is my dog called?", "Biscuit"),
    ("My wife's name is Elena.", "What is my wife's name?", "Elena"),
    ("My favourite film is Casablanca.", "What is my favourite film?", "Casablanca"),
]


class Verdict(BaseModel):
    score: float = Field(ge=0, le=1)
    difficulty: int = Field(ge=0, le=100)
    why: str = Field(max_length=60)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def model(anyio_backend: str) -> AsyncGenerator[Model]:
    async with run_embedded() as running:
        yield running


@with_weights
@pytest.mark.anyio
async def test_it_answers_from_what_it_is_told(model: Model) -> None:
    hits = 0
    for fact, question, word in FACTS:
        prompt = Prompt(instructions=TOLD.format(fact=fact), prompt=question)
        hits += word in (await generate_reply(model, prompt, purpose="reply", max_tokens=40)).text
    assert hits >= 2  # measured: three of four; arithmetic differs a little between processors


@with_weights
@pytest.mark.anyio
async def test_it_streams_with_a_log_probability_for_each_token(model: Model) -> None:
    deltas: list[str] = []
    prompt = Prompt(prompt="Tell me about trees.")
    answer = await generate_reply(model, prompt, purpose="reply", max_tokens=20, logprobs=True, on_delta=deltas.append)
    assert "".join(deltas).strip() == answer.text
    assert answer.logprobs is not None
    assert "".join(token for token, _ in answer.logprobs).strip() == answer.text
    assert all(logprob <= 0 for _, logprob in answer.logprobs)
    assert (answer.model, answer.truncated, answer.usage.output_tokens) == ("smollm2", True, 20)
    assert answer.first_token_seconds is not None


@with_weights
@pytest.mark.anyio
async def test_it_answers_by_a_schema_within_every_range(model: Model) -> None:
    answer = await generate_reply(
        model, Prompt(prompt="How hard is 3+4?"), purpose="judge", schema=Verdict, max_tokens=120
    )
    assert 0 <= answer.value.score <= 1
    assert 0 <= answer.value.difficulty <= 100
    assert answer.logprobs is None


@with_weights
@pytest.mark.anyio
async def test_a_question_about_the_world_gets_a_fluent_answer(model: Model) -> None:
    question = "What is the capital of Mongolia, and how many people live there?"
    prompt = Prompt(instructions="You are Insula, a helpful assistant.", prompt=question)
    answer = await generate_reply(model, prompt, purpose="reply", max_tokens=40)
    assert len(answer.text.split()) >= 5
    assert answer.text[0].isupper()


@with_weights
@pytest.mark.anyio
async def test_a_prompt_beyond_its_context_is_refused_in_a_sentence(model: Model) -> None:
    with pytest.raises(ModelRefused, match="shorten"):
        await generate_reply(model, Prompt(prompt="word " * SMOLLM2.context), purpose="reply", max_tokens=5)


@with_weights
@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/completion", "/tokenize", "/v1/models", "/slots", "/props"])
async def test_nobody_gets_in_without_the_key(model: Model, path: str) -> None:
    assert model.base_url is not None
    assert model.base_url.startswith("http://127.0.0.1:")
    address = model.base_url.removesuffix("/v1/") + path
    for key in ({}, {"Authorization": "Bearer guess"}):
        request = urllib.request.Request(address, data=b"{}", headers=key)
        with pytest.raises(urllib.error.HTTPError) as caught:
            await asyncio.to_thread(urllib.request.urlopen, request, timeout=60)
        assert caught.value.code == 401
        caught.value.close()


@with_weights
@pytest.mark.anyio
async def test_it_can_be_closed_at_once_and_is_gone_then() -> None:
    for _ in range(2):
        async with run_embedded() as model:
            address = str(model.base_url)
        with pytest.raises(urllib.error.URLError, match="refused"):
            await asyncio.to_thread(urllib.request.urlopen, address, timeout=60)


def test_missing_weights_say_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere = replace(SMOLLM2, package="no_such_weights")
    with pytest.raises(ModelUnavailable, match=r"run: insula model install smollm2$"):
        find_weights(nowhere, tmp_path)


def test_weights_are_found_in_a_folder_of_ones_own_then_in_insulas_before_any_package(
    tmp_path: Path, home: Path
) -> None:
    ours = home / "weights" / SMOLLM2.file
    ours.parent.mkdir()
    ours.touch()
    assert find_weights(SMOLLM2, tmp_path) == ours
    file = tmp_path / SMOLLM2.file
    file.touch()
    assert find_weights(SMOLLM2, tmp_path) == file


@pytest.mark.parametrize("content", [b"GGUF", b""])
def test_weights_that_are_not_the_pinned_ones_are_refused_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / SMOLLM2.file
    file.write_bytes(content)
    for weights in (SMOLLM2, replace(SMOLLM2, bytes=len(content))):
        with pytest.raises(ModelUnavailable, match=r"run: insula model install smollm2$"):
            verify_weights(file, weights)


def test_weights_that_cannot_be_read_are_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        verify_weights(tmp_path / "nothing", SMOLLM2)


@with_weights
@pytest.mark.anyio
async def test_a_missing_runtime_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelUnavailable, match=r"run: pip install xllamacpp$"):
        async with run_embedded():
            pass


START = (
    "import asyncio, os, signal, sys; from insula.llm.local import run_embedded; "
    "from insula.llm.client import generate_reply, Prompt\n"
)
CLEAN = """
async def main():
    async with run_embedded() as model:
        await generate_reply(model, Prompt(prompt="Hello"), purpose="r", max_tokens=4)
    print(os.environ["OMP_WAIT_POLICY"])
asyncio.run(main())
"""
INTERRUPTED = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
async def main():
    async with run_embedded() as model:
        asyncio.get_running_loop().call_later(0.3, os.kill, os.getpid(), 2)
        await generate_reply(model, Prompt(prompt="Tell a long story."), purpose="r", max_tokens=3000)
try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(7)
"""
LEFT_OPEN = """
async def main():
    global keep
    keep = run_embedded()
    await keep.__aenter__()
    raise SystemExit(7)
asyncio.run(main())
"""


def _run(script: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = [sys.executable, "-c", START + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


@with_weights
def test_a_process_that_used_it_ends_by_itself_and_the_library_prints_nothing() -> None:
    process = _run(CLEAN)
    assert (process.returncode, process.stdout, process.stderr) == (0, "PASSIVE\n", "")


@with_weights
def test_a_process_that_is_interrupted_in_the_midst_of_an_answer_ends_at_once() -> None:
    process = _run(INTERRUPTED)
    assert (process.returncode, process.stdout, process.stderr) == (7, "", "")


@with_weights
def test_a_process_that_never_closes_it_ends_all_the_same() -> None:
    assert _run(LEFT_OPEN).returncode == 7
