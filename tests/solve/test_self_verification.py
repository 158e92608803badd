"""Self-Verification: where chains differ, the answer from which the conditions can be found again."""

import pytest
from inline_snapshot import snapshot
from solving import PROBLEM

from insula.testing import Reply, Request, ScriptedModel
from insula_solve import Account, Budget, Models
from insula_solve.baselines import mask_numbers, self_verification
from insula_solve.solution import MethodEnd

pytestmark = pytest.mark.anyio


def script(*answers: int):
    """Chains that answer so; statements; and recoveries that succeed from the answer 10 alone."""
    chains = iter(answers)
    numbers = dict(mask_numbers(PROBLEM))

    def reply(request: Request) -> Reply:
        if "declarative sentence" in request.prompt:
            return f"{request.prompt.split('Answer: ')[1].split()[0]} apples are left."
        if "value of X" in request.prompt:
            condition = next(text for text in numbers if request.prompt.startswith(text))
            return rf"\boxed{{{numbers[condition] if '10 apples are left' in request.prompt else 99}}}"
        return rf"\boxed{{{next(chains)}}}"

    return reply


async def test_chains_that_agree_are_believed() -> None:
    model = ScriptedModel(script(10, 10, 10, 10, 10))
    solved = await self_verification(PROBLEM, Models(generator=model))
    assert (solved.answer, solved.spent.calls, solved.end) == ("10", 5, MethodEnd("agreed", "all chains agree"))
    assert {request.settings["temperature"] for request in model.requests} == {0.3}


async def test_the_answer_that_explains_the_problem_wins_over_the_majority() -> None:
    model = ScriptedModel(script(9, 9, 10, 9, 9))
    solved = await self_verification(PROBLEM, Models(generator=model))
    assert (solved.answer, solved.confidence) == ("10", 1.0)
    assert {stage: usage.calls for stage, usage in solved.usage.items()} == {"chain": 5, "state": 2, "recover": 60}
    recovery = next(request for request in model.requests if "value of X" in request.prompt)
    assert recovery.prompt == snapshot("""\
Tom has X boxes with 4 apples each. He eats 2. 9 apples are left.

What is the value of X? Reason step by step, and put the value within \\boxed{}.\
""")
    assert recovery.settings["temperature"] == 0.2


async def test_a_budget_that_ends_leaves_what_was_recovered_until_then() -> None:
    for calls, answer in ((9, "10"), (6, "9")):
        models = Models(generator=ScriptedModel(script(9, 9, 10, 9, 9)))
        solved = await self_verification(PROBLEM, models, Account(budget=Budget(calls=calls)))
        assert (solved.answer, solved.completed) == (answer, False)


def test_each_number_of_the_conditions_is_masked_once() -> None:
    assert mask_numbers("He has 3 boxes. Each holds 1,200 pens at $2.50. What is 10 % of it?") == (
        ("He has X boxes. Each holds 1,200 pens at $2.50.", "3"),
        ("He has 3 boxes. Each holds X pens at $2.50.", "1200"),
        ("He has 3 boxes. Each holds 1,200 pens at $X.", "2.5"),
    )
    assert mask_numbers("How many?") == ()
    assert len(mask_numbers("1 " * 50)) == 8
