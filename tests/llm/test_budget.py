"""A budget is never exceeded, whatever the sequence of calls, side by side or not."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from insula import Usage
from insula.errors import BudgetExceeded, ModelTimeout
from insula.llm.budget import FEWEST_TOKENS, Account, Budget, Grant, bound_tokens
from insula.llm.client import Prompt, generate_reply
from insula.llm.wire import TEMPLATE_TOKENS
from insula.testing import FrozenClock, ScriptedModel

ASK = Prompt(prompt="What is 2+2?")


class Verdict(BaseModel):
    score: float


@dataclass(frozen=True)
class Call:
    ask: int
    prompt: int
    used: float
    """Which share of the granted tokens it really generates."""
    seconds: float
    waits: bool
    """Whether it is still under way when the next one starts."""


CALLS = st.lists(
    st.builds(
        Call,
        ask=st.integers(1, 900),
        prompt=st.integers(0, 600),
        used=st.floats(0, 1),
        seconds=st.floats(0, 5),
        waits=st.booleans(),
    ),
    max_size=30,
)


@given(
    calls=CALLS,
    max_calls=st.none() | st.integers(0, 10),
    tokens=st.none() | st.integers(0, 5_000),
    seconds=st.none() | st.floats(0, 20),
)
def test_no_cap_is_exceeded_whatever_is_asked(
    calls: list[Call], max_calls: int | None, tokens: int | None, seconds: float | None
) -> None:
    clock = FrozenClock()
    budget = Budget(calls=max_calls, tokens=tokens, seconds=seconds)
    account = Account(budget=budget, clock=clock.monotonic)
    waiting: list[tuple[Grant, Usage]] = []
    for call in calls:
        try:
            grant = account.reserve_call("any", call.ask, call.prompt)
        except BudgetExceeded:
            continue
        assert 1 <= grant.output_tokens <= call.ask
        assert grant.seconds is None or 0 < grant.seconds <= (seconds or 0)
        usage = Usage(calls=1, input_tokens=call.prompt, output_tokens=int(grant.output_tokens * call.used))
        clock.advance(min(call.seconds, grant.seconds if grant.seconds is not None else call.seconds))
        waiting.append((grant, usage))
        while waiting and not call.waits:
            account.charge_usage(*waiting.pop())
    for grant, usage in waiting:
        account.charge_usage(grant, usage)
    spent = account.spent
    assert max_calls is None or spent.calls <= max_calls
    assert tokens is None or spent.input_tokens + spent.output_tokens <= tokens
    assert seconds is None or clock.monotonic() <= seconds + 1e-6


def test_the_ledger_says_what_was_spent_on_what() -> None:
    account = Account()
    for purpose, output in (("plan", 10), ("solve", 20), ("solve", 30)):
        account.charge_usage(account.reserve_call(purpose, 100), Usage(calls=1, input_tokens=1, output_tokens=output))
    assert account.by_purpose["plan"] == Usage(calls=1, input_tokens=1, output_tokens=10)
    assert account.by_purpose["solve"].output_tokens == 50
    assert account.spent.calls == 3


def test_a_call_is_clipped_to_what_is_left_and_refused_when_that_holds_no_answer() -> None:
    account = Account(budget=Budget(tokens=100))
    assert account.reserve_call("first", 500, 20).output_tokens == 80
    with pytest.raises(BudgetExceeded):
        account.reserve_call("second", 500, 0)
    roomy = Account(budget=Budget(tokens=FEWEST_TOKENS - 1))
    assert roomy.reserve_call("yes or no", 4).output_tokens == 4
    with pytest.raises(BudgetExceeded):
        roomy.reserve_call("an essay", 500)


def test_what_is_reserved_and_not_used_is_free_again() -> None:
    account = Account(budget=Budget(tokens=200))
    grant = account.reserve_call("first", 150)
    account.charge_usage(grant, Usage(calls=1, output_tokens=10))
    assert account.reserve_call("second", 150).output_tokens == 150


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(calls=1), "of 1 calls allowed, 1 are spent"),
        (Budget(tokens=60), "of 60 tokens allowed, 50 are spent"),
        (Budget(seconds=2), "of 2 seconds allowed, 3 are spent"),
    ],
)
def test_the_refusal_names_the_cap_what_was_spent_and_the_remedy(budget: Budget, words: str) -> None:
    clock = FrozenClock()
    account = Account(budget=budget, clock=clock.monotonic)
    account.charge_usage(account.reserve_call("plan", 50), Usage(calls=1, output_tokens=50))
    clock.advance(3)
    with pytest.raises(BudgetExceeded, match=words) as caught:
        account.reserve_call("solve", 50)
    assert str(caught.value).startswith("The call for solve is not made")
    assert "raise the cap" in str(caught.value)


@pytest.mark.anyio
async def test_the_clipped_tokens_and_seconds_reach_the_model() -> None:
    model = ScriptedModel(["4"])
    account = Account(budget=Budget(tokens=300, seconds=7), clock=FrozenClock().monotonic)
    await generate_reply(model, ASK, purpose="reply", account=account, max_tokens=512)
    settings = model.requests[0].settings
    assert settings["request_timeout"] == 7
    assert settings["max_tokens"] == 300 - bound_tokens(ASK.prompt) - TEMPLATE_TOKENS


@pytest.mark.anyio
async def test_calls_side_by_side_cannot_spend_the_same_tokens_twice() -> None:
    model = ScriptedModel(lambda _: "4", delay=0.01)
    account = Account(budget=Budget(tokens=400))
    asked = [generate_reply(model, ASK, purpose="vote", account=account, max_tokens=200) for _ in range(6)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert any(isinstance(result, BudgetExceeded) for result in results)
    granted = sum(request.settings["max_tokens"] for request in model.requests)
    assert 0 < granted <= 400


@pytest.mark.anyio
async def test_a_call_that_fails_or_runs_out_of_time_is_charged() -> None:
    account = Account(budget=Budget(calls=3, seconds=60))
    with pytest.raises(ModelTimeout):
        await generate_reply(ScriptedModel(["4"], delay=5), ASK, purpose="reply", account=account, timeout=0.05)
    assert account.spent.calls == 1
    assert account.spent.seconds >= 0.05


@pytest.mark.anyio
async def test_a_second_attempt_at_an_object_needs_its_own_leave() -> None:
    account = Account(budget=Budget(calls=1))
    with pytest.raises(BudgetExceeded):
        await generate_reply(ScriptedModel(["no", "no"]), ASK, purpose="judge", account=account, schema=Verdict)
    assert account.spent.calls == 1


def test_the_bound_on_tokens_is_high_enough_for_what_tokenizers_split_most() -> None:
    assert bound_tokens("") == 0
    assert bound_tokens("1234567890") == 10
    assert bound_tokens("乌兰巴托") == 12
    assert bound_tokens("three") == 2
