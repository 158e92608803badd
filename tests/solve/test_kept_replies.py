"""The pool of replies, likelihood, and the pairs that a Monitor can be trained on."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solving import PROBLEM

from insula.llm.client import Generation, Prompt
from insula.testing import Reply, Request, ScriptedModel
from insula.types import Usage
from insula_bench.lines import MemoryPool, read_reply, write_reply
from insula_solve import Models, pair_attempts
from insula_solve.baselines import self_consistency
from insula_solve.mgv import mgv
from insula_solve.run import key_of
from insula_solve.solution import measure_likelihood

pytestmark = pytest.mark.anyio


def test_a_reply_is_the_same_after_json() -> None:
    made = Generation(
        text="ü 10",
        value=None,
        thinking="hm",
        usage=Usage(calls=1, input_tokens=2, output_tokens=3, seconds=0.5),
        logprobs=(("10", -0.25),),
        first_token_seconds=None,
        model="m",
        truncated=True,
    )
    assert read_reply(json.loads(json.dumps(write_reply(made)))) == made


def test_a_reply_is_kept_under_all_that_it_depends_on() -> None:
    key = key_of("m", Prompt(prompt="a"), max_tokens=1, temperature=0.0, seed=0)
    others = [
        key_of("n", Prompt(prompt="a"), max_tokens=1, temperature=0.0, seed=0),
        key_of("m", Prompt(prompt="b"), max_tokens=1, temperature=0.0, seed=0),
        key_of("m", Prompt(prompt="a", instructions="b"), max_tokens=1, temperature=0.0, seed=0),
        key_of("m", Prompt(prompt="a", history=[("user", "b")]), max_tokens=1, temperature=0.0, seed=0),
        key_of("m", Prompt(prompt="a"), max_tokens=2, temperature=0.0, seed=0),
        key_of("m", Prompt(prompt="a"), max_tokens=1, temperature=0.7, seed=0),
        key_of("m", Prompt(prompt="a"), max_tokens=1, temperature=0.0, seed=1),
    ]
    assert len({key, *others}) == 8
    assert key == key_of("m", Prompt(prompt="a"), max_tokens=1, temperature=0.0, seed=0)


async def test_a_form_that_was_filled_at_the_second_try_is_asked_for_once() -> None:
    def reply(request: Request) -> Reply:
        if request.schema is None:
            return "Coherence: 1\nPlausibility: 1\nConsistency: 1\nGoal-conduciveness: 1\n<answer>5</answer>"
        filled = {"task_features": "word " * 60, "difficulty": 50, "strategy": "x"}
        return filled if "cannot be used" in request.prompt else "x " * 150

    model = ScriptedModel(reply)
    models = Models(generator=model, pool=MemoryPool())
    first = await mgv(PROBLEM, models)
    asked = len(model.requests)
    again = await mgv(PROBLEM, models)
    assert len(model.requests) == asked
    assert (again.answer, again.spent.output_tokens) == (first.answer, first.spent.output_tokens)


def test_likelihood_is_that_of_all_tokens_of_the_least_likely_and_of_the_answer() -> None:
    tokens = [("3 ", -0.5), ("is", -0.1), (" 1", -0.2), ("2", -0.4), (" eggs", -1.3)]
    known = measure_likelihood(tokens, "12")
    assert known is not None
    assert (known.mean, known.lowest, known.answer) == (pytest.approx(-0.5), -1.3, pytest.approx(-0.3))
    assert known.confidence == pytest.approx(math.exp(-0.5))
    assert measure_likelihood(None) is measure_likelihood([]) is measure_likelihood([("a", math.nan)]) is None
    nowhere = measure_likelihood(tokens, "99")
    assert nowhere is not None
    assert nowhere.answer is None


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(allow_nan=True)), max_size=20), st.text(max_size=3))
def test_any_log_probabilities_give_a_confidence_or_none(tokens: list[tuple[str, float]], answer: str) -> None:
    known = measure_likelihood(tokens, answer)
    assert known is None or 0 <= known.confidence <= 1


async def test_what_succeeded_stands_beside_what_failed() -> None:
    key = "ghp_" + "a1B2" * 9
    replies = [r"3 * 4 = 12. \boxed{10}", r"\boxed{9}", rf"\boxed{{10}} {key}", "Hm.", r"3 + 4 = 8 \boxed{10}"]
    solved = await self_consistency(PROBLEM, Models(generator=ScriptedModel(replies)))
    guessed = list(pair_attempts(solved))
    assert [(pair["chosen_plan"]["answer"], pair["rejected_plan"]["answer"]) for pair in guessed] == [("10", "9")] * 2
    assert {pair["known_by"] for pair in guessed} == {"self_consistency"}
    assert key not in json.dumps(guessed)
    known = list(pair_attempts(solved, "so it is\n#### 9"))
    assert len(known) == 4
    assert {pair["chosen"] for pair in known} == {r"\boxed{9}"}
    assert {pair["known_by"] for pair in known} == {"gold"}
    assert list(pair_attempts(solved, "11")) == []
