"""Insula's methods as Inspect runs them. Inspect is made up here; docs/benchmarks/gsm8k.md shows the real one."""

import importlib
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.anyio
ACCEPTS = "Coherence: 0.9\nPlausibility: 0.9\nConsistency: 0.9\nGoal-conduciveness: 0.9\nEvaluation: It holds."


class LimitExceededError(Exception):
    """Inspect's."""


@dataclass
class Reasoning:
    """Inspect's `ContentReasoning`."""

    reasoning: str
    summary: str | None = None
    redacted: bool = False
    type: str = "reasoning"


@dataclass
class Message:
    content: str | list[Any]
    role: str = ""


@dataclass
class Output:
    completion: str
    usage: Any = None
    stop_reason: str = "stop"
    logprobs: Any = None
    thought: Reasoning | None = None

    @property
    def choices(self) -> list[Any]:
        text = SimpleNamespace(type="text", text=self.completion)
        said = self.completion if self.thought is None else [self.thought, text]
        return [SimpleNamespace(logprobs=self.logprobs, stop_reason=self.stop_reason, message=Message(said))]

    @property
    def message(self) -> Message:
        return Message(self.completion, "assistant")

    @classmethod
    def from_content(cls, model: str, content: str) -> "Output":
        return cls(content)


@dataclass
class FakeInspect:
    """Its models by role, what they were asked, and the solvers that were registered."""

    reply: Callable[[str], Output] = lambda _: Output("so \\boxed{4}")
    requests: list[tuple[str, list[Message], Any]] = field(default_factory=list[tuple[str, list[Message], Any]])
    roles: set[str] = field(default_factory=set[str])
    solvers: dict[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])

    def get_model(self, role: str = "", default: Any = None) -> Any:
        if role not in self.roles and default is not None:
            return default
        return FakeModel(role or "model", self)

    def solver(self, name: str) -> Callable[[Any], Any]:
        def register(made: Callable[..., Any]) -> Callable[..., Any]:
            self.solvers[name] = made
            return made

        return register


@dataclass
class FakeModel:
    name: str
    inspect: FakeInspect

    def __str__(self) -> str:
        return self.name

    async def generate(self, messages: list[Message], config: Any) -> Output:
        self.inspect.requests.append((self.name, messages, config))
        return self.inspect.reply(str(messages[-1].content))


@pytest.fixture
def inspect(monkeypatch: pytest.MonkeyPatch) -> FakeInspect:
    fake = FakeInspect()

    def module(name: str, **names: Any) -> None:
        made = ModuleType(name)
        made.__dict__.update(names)
        monkeypatch.setitem(sys.modules, name, made)

    module("inspect_ai")
    module(
        "inspect_ai.model",
        get_model=fake.get_model,
        ModelOutput=Output,
        GenerateConfig=SimpleNamespace,
        ChatMessageUser=partial(Message, role="user"),
        ChatMessageAssistant=partial(Message, role="assistant"),
        ChatMessageSystem=partial(Message, role="system"),
    )
    module("inspect_ai.solver", solver=fake.solver)
    module("inspect_ai.util", LimitExceededError=LimitExceededError)
    monkeypatch.delitem(sys.modules, "insula.integrations.inspect_ai", raising=False)
    importlib.import_module("insula.integrations.inspect_ai")
    return fake


def sample(epoch: int = 1) -> Any:
    return SimpleNamespace(
        input_text="What is 2 + 2?", epoch=epoch, metadata={}, messages=[], model="model", output=None
    )


async def solve(inspect: FakeInspect, name: str, state: Any = None, epoch: int = 1, **options: Any) -> Any:
    """What Inspect does with a sample."""
    work: Callable[..., Awaitable[Any]] = inspect.solvers[name](**options)
    return await work(state or sample(epoch), None)


async def test_every_method_is_a_solver(inspect: FakeInspect) -> None:
    from insula_solve import METHODS

    assert set(inspect.solvers) == set(METHODS)


async def test_the_answer_is_where_inspect_scores_it_and_the_rest_in_the_metadata(inspect: FakeInspect) -> None:
    inspect.reply = lambda _: Output(
        "so \\boxed{4}", usage=SimpleNamespace(total_tokens=30, output_tokens=10), logprobs=logprobs("so", -0.5)
    )
    state = await solve(inspect, "self_consistency")
    assert state.output.completion.endswith("\n\nANSWER: 4")
    assert state.messages == [state.output.message]
    told = state.metadata["insula"]
    assert (told["answer"], told["calls"], told["tokens"], told["attempts"]) == ("4", 5, 150, 5)
    assert (told["ending"], told["stopped"]) == ("done", "5 chains were asked for")
    assert told["confidences"] == {"agreement": 1.0, "likelihood": pytest.approx(0.6065, abs=1e-4)}  # pyright: ignore[reportUnknownMemberType]


def logprobs(token: str, value: float) -> Any:
    return SimpleNamespace(content=[SimpleNamespace(token=token, logprob=value)])


async def test_inspects_models_get_the_settings_and_each_epoch_its_own_seed(inspect: FakeInspect) -> None:
    await solve(inspect, "direct", seed=7)
    await solve(inspect, "direct", seed=7, epoch=2)
    first, second = (config for _, _, config in inspect.requests)
    assert (first.temperature, first.max_tokens, first.logprobs) == (0.0, 600, True)
    assert first.seed != second.seed


async def test_roles_of_inspect_plan_and_verify(inspect: FakeInspect) -> None:
    inspect.roles = {"monitor", "verifier"}
    await solve(inspect, "mgv")
    assert {name for name, _, _ in inspect.requests} >= {"monitor", "model"}
    monitor = next(messages for name, messages, _ in inspect.requests if name == "monitor")
    assert monitor[0].role == "system"


async def test_the_cap_on_tokens_holds(inspect: FakeInspect) -> None:
    state = await solve(inspect, "self_consistency", tokens=10)
    assert inspect.requests == []
    assert state.output.completion.startswith("There is no answer: the budget is spent")


class RetryError(Exception):
    """What Inspect raises after its last try; not of a kind that tells of a network."""


@pytest.mark.parametrize("error", [OSError("no network"), RetryError()])
async def test_a_model_that_failed_is_an_error_of_the_sample_and_no_wrong_answer(
    inspect: FakeInspect, error: Exception
) -> None:
    def fails(_: str) -> Output:
        raise error

    inspect.reply, state = fails, sample()
    with pytest.raises(type(error)):
        await solve(inspect, "mgv", state)
    assert len(inspect.requests) == 1
    assert state.metadata["insula"]["ending"] == "failed"


async def test_a_limit_of_inspects_ends_the_sample_with_what_there_is_and_nothing_is_asked_after_it(
    inspect: FakeInspect,
) -> None:
    def exceeded(_: str) -> Output:
        if len(inspect.requests) == 3:
            raise LimitExceededError("Token limit exceeded")
        return Output("so \\boxed{4}")

    inspect.reply, state = exceeded, sample()
    with pytest.raises(LimitExceededError):
        await solve(inspect, "self_consistency", state)
    assert len(inspect.requests) == 3
    told = state.metadata["insula"]
    assert (told["answer"], told["attempts"], told["ending"]) == ("4", 2, "budget")
    assert "Token limit exceeded" in told["stopped"]
    assert state.output.completion.endswith("ANSWER: 4")


async def test_the_verifier_sees_the_reasoning_that_inspect_takes_out_of_the_text(inspect: FakeInspect) -> None:
    def mgv(prompt: str) -> Output:
        if "Assess:" in prompt:
            return Output('{"task_features": "a sum", "difficulty": 10, "strategy": "none"}')
        if "Evaluate" in prompt:
            return Output(ACCEPTS)
        return Output("<answer>4</answer>", thought=Reasoning("2 + 2 = 4"))

    inspect.reply = mgv
    state = await solve(inspect, "mgv")
    assert "Solution: 2 + 2 = 4\n\nAnswer: 4" in inspect.requests[-1][1][-1].content
    assert state.output.completion == "2 + 2 = 4\n\nANSWER: 4"
    assert state.metadata["insula"]["ending"] == "accepted"


async def test_of_reasoning_that_a_provider_hides_its_summary_is_taken(inspect: FakeInspect) -> None:
    inspect.reply = lambda _: Output("\\boxed{4}", thought=Reasoning("gAAAAB", summary="A sum.", redacted=True))
    state = await solve(inspect, "direct")
    assert state.output.completion == "A sum.\n\n\\boxed{4}\n\nANSWER: 4"


async def test_a_reply_that_was_withheld_is_a_refusal(inspect: FakeInspect) -> None:
    inspect.reply = lambda _: Output("I cannot help with 4.", stop_reason="content_filter")
    state = await solve(inspect, "direct")
    told = state.metadata["insula"]
    assert (told["answer"], told["ending"], told["completed"]) == (None, "refused", False)


async def test_an_answer_that_is_not_the_one_in_the_reasoning_says_why(inspect: FakeInspect) -> None:
    inspect.reply = lambda _: Output("2 + 2 = 5, so \\boxed{5}")
    state = await solve(inspect, "insula")
    assert state.output.completion.splitlines()[-3:] == [
        "With its arithmetic put right, it comes to 4.",
        "",
        "ANSWER: 4",
    ]


@pytest.mark.parametrize("reason", ["max_tokens", "model_length"])
async def test_a_reply_that_was_cut_off_is_no_answer(inspect: FakeInspect, reason: str) -> None:
    inspect.reply = lambda _: Output("2 + 2 is 3 or", stop_reason=reason)
    state = await solve(inspect, "direct")
    assert state.metadata["insula"]["answer"] is None
