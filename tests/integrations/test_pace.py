"""How slow a model is inside another's agent: its own time counts, and only where its library says what it made."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from insula import Metacognition, Usage
from insula.integrations.clients import wrap
from insula.integrations.guest import Guest, ModelWatch
from insula.integrations.proxy import create_proxy
from insula.integrations.pydantic_ai import Insula

USUAL, SLOW = 2.0, 6.0
LEAST_USUAL, LEAST_NOW = 20, 8
"""Answers after which it is known how fast a model usually is, and how fast it is now."""
SPENT = {"prompt_tokens": 500, "completion_tokens": 100}


class Clock:
    """Stands in for `time.perf_counter`: goes on only where the model, or whoever reads it, takes time."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


@pytest.fixture
def mind(tmp_path: Path) -> Generator[Any]:
    with Metacognition.sync(tmp_path / "insula.db", embed=None) as mind:
        yield mind


def slowdown(mind: Any) -> float | None:
    return mind.mind.engine.regulator.measure_performance("m", mind.mind.store.now()).slowdown


class Client:
    """A client of OpenAI's by its fields: the model takes some time, and the first piece comes at half of it."""

    def __init__(self, clock: Clock, usage: dict[str, Any] | None, reading: float = 0.0) -> None:
        self.seconds, self._clock, self._usage, self._reading = USUAL, clock, usage, reading
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, **asked: Any) -> Any:
        if asked.get("stream"):
            return SimpleNamespace(_iterator=self._pieces())
        self._clock.at += self.seconds
        message = {"role": "assistant", "content": "In Lisbon."}
        return {"choices": [{"message": message}], "usage": self._usage}

    def _pieces(self) -> Iterator[Any]:
        self._clock.at += self.seconds / 2
        yield {"choices": [{"delta": {"content": "In "}}]}
        self._clock.at += self.seconds / 2 + self._reading
        yield {"choices": [{"delta": {"content": "Lisbon."}}]}
        yield {"choices": [], "usage": self._usage}


def talked(client: Client, **asked: Any) -> None:
    """A talk in which the model becomes slow."""
    for number in range(LEAST_USUAL + LEAST_NOW):
        client.seconds = USUAL if number < LEAST_USUAL else SLOW
        messages = [{"role": "user", "content": f"Where is place number {number}?"}]
        answer: Any = client.chat.completions.create(model="m", messages=messages, **asked)
        if asked.get("stream"):
            list(answer._iterator)


@pytest.mark.parametrize("asked", [{}, {"stream": True}], ids=["whole", "streamed"])
def test_a_client_s_model_is_timed_without_anything_of_ours(asked: dict[str, Any], mind: Any, clock: Clock) -> None:
    talked(wrap(Client(clock, SPENT), mind, user="ana"), **asked)
    assert slowdown(mind) == pytest.approx(SLOW / USUAL, abs=0.01)


def test_whoever_reads_a_stream_slowly_makes_no_model_slow(mind: Any, clock: Clock) -> None:
    client: Any = wrap(Client(clock, SPENT), mind, user="ana")
    for number in range(LEAST_USUAL + LEAST_NOW):
        client._reading = 0.0 if number < LEAST_USUAL else 60.0
        messages = [{"role": "user", "content": f"Where is place number {number}?"}]
        list(client.chat.completions.create(model="m", messages=messages, stream=True)._iterator)
    assert slowdown(mind) == 1.0


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 500}, "odd"])
def test_a_library_that_does_not_say_what_was_made_says_nothing_of_the_pace(
    usage: Any, mind: Any, clock: Clock
) -> None:
    talked(wrap(Client(clock, usage), mind, user="ana"))
    assert slowdown(mind) is None


def test_a_model_that_thinks_unseen_before_it_streams_is_not_timed_by_its_first_piece(mind: Any, clock: Clock) -> None:
    thought = {**SPENT, "completion_tokens_details": {"reasoning_tokens": 80}}
    talked(wrap(Client(clock, thought), mind, user="ana"), stream=True)
    assert slowdown(mind) is None


def test_an_agent_of_pydantic_ai_is_timed(mind: Any, clock: Clock) -> None:
    seconds = USUAL

    async def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        clock.at += seconds
        return ModelResponse(parts=[TextPart("In Lisbon.")], usage=RequestUsage(input_tokens=500, output_tokens=100))

    async def talk() -> None:
        nonlocal seconds
        capability: Any = Insula(mind, user="ana")
        agent = Agent(FunctionModel(answer, model_name="m"), capabilities=[capability])
        for number in range(LEAST_USUAL + LEAST_NOW):
            seconds = USUAL if number < LEAST_USUAL else SLOW
            await agent.run(f"Where is place number {number}?")

    asyncio.run(talk())
    assert slowdown(mind) == pytest.approx(SLOW / USUAL, abs=0.01)


@pytest.mark.parametrize("stream", [False, True])
def test_what_goes_through_the_proxy_is_timed(stream: bool, mind: Any, clock: Clock) -> None:
    seconds = USUAL

    async def pieces() -> AsyncIterator[bytes]:
        clock.at += seconds
        yield b'data: {"choices": [{"delta": {"content": "In Lisbon."}}]}\n\n'
        yield b"data: " + json.dumps({"choices": [], "usage": SPENT}).encode() + b"\n\ndata: [DONE]\n\n"

    async def whole() -> AsyncIterator[bytes]:
        clock.at += seconds
        message = {"role": "assistant", "content": "In Lisbon."}
        yield json.dumps({"choices": [{"message": message}], "usage": SPENT}).encode()

    async def answer(_: httpx2.Request) -> httpx2.Response:
        kind = "text/event-stream" if stream else "application/json"
        return httpx2.Response(200, headers={"content-type": kind}, content=pieces() if stream else whole())

    async def talk() -> None:
        nonlocal seconds
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as provider:
            app = create_proxy(Guest(mind, user="ana"), "http://provider/v1", provider)
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as here:
                for number in range(LEAST_USUAL + LEAST_NOW):
                    seconds = USUAL if number < LEAST_USUAL else SLOW
                    messages = [{"role": "user", "content": f"Where is place number {number}?"}]
                    asked = {"model": "m", "messages": messages, "stream": stream}
                    assert (await here.post("/v1/chat/completions", json=asked)).status_code == 200

    asyncio.run(talk())
    assert slowdown(mind) == pytest.approx(SLOW / USUAL, abs=0.01)


RESPONSES: dict[str, Any] = {
    "OpenAI": {"usage": {"prompt_tokens": 5, "completion_tokens": 7}},
    "Anthropic": SimpleNamespace(usage=SimpleNamespace(input_tokens=5, output_tokens=7)),
    "LangChain": SimpleNamespace(result=[SimpleNamespace(usage_metadata={"input_tokens": 5, "output_tokens": 7})]),
    "the OpenAI Agents SDK": SimpleNamespace(usage=SimpleNamespace(input_tokens=5, output_tokens=7, requests=1)),
}


@pytest.mark.parametrize("library", RESPONSES)
def test_what_a_response_cost_is_read_of_each_library(library: str, clock: Clock) -> None:
    watch = ModelWatch()
    clock.at += 3.0
    assert watch.measure_usage(RESPONSES[library]) == Usage(calls=1, input_tokens=5, output_tokens=7, seconds=3.0)


def test_the_pieces_of_anthropic_s_stream_are_read_together(clock: Clock) -> None:
    begun = SimpleNamespace(message=SimpleNamespace(usage=SimpleNamespace(input_tokens=5, output_tokens=1)))
    ended = SimpleNamespace(usage=SimpleNamespace(output_tokens=7))
    watch = ModelWatch()
    clock.at += 1.0
    watch.note_piece()
    clock.at += 2.0
    expected = Usage(calls=1, input_tokens=5, output_tokens=7, seconds=3.0, seconds_to_first_token=1.0)
    assert watch.measure_usage(begun, ended) == expected


class Odd:
    """A response whose fields cannot be read."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise ZeroDivisionError(name)


def test_a_response_that_cannot_be_read_costs_the_agent_nothing() -> None:
    assert ModelWatch().measure_usage(Odd()) == Usage()
