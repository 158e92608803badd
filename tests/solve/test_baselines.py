"""Direct, self-consistency and its adaptive form: what they ask, when they end, whom they believe."""

import pytest
from inline_snapshot import snapshot
from solving import PROBLEM, MemoryPool, asked

from insula import InsulaError
from insula.testing import ModelRefused, ModelTimeout, ModelUnavailable, Reply, ScriptedModel
from insula_solve import METHODS, Account, Budget, BudgetExceeded, Models, find_method
from insula_solve.baselines import adaptive_self_consistency, build_self_consistency, direct, self_consistency
from insula_solve.solution import MethodEnd

pytestmark = pytest.mark.anyio


def boxed(*answers: object) -> list[Reply]:
    return [answer if isinstance(answer, BaseException) else rf"So it is \boxed{{{answer}}}." for answer in answers]


async def test_direct_is_one_greedy_chain() -> None:
    model = ScriptedModel(boxed(10))
    solved = await direct(PROBLEM, Models(generator=model))
    assert (solved.answer, solved.method, solved.completed) == ("10", "direct", True)
    assert solved.confidence == pytest.approx(0.905, abs=0.001)  # exp(-0.1)
    assert asked(model) == snapshot([(600, 0.0, "Please reason step by step, and put your final answer within")])
    assert model.requests[0].prompt == snapshot("""\
Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?

Please reason step by step, and put your final answer within \\boxed{}.\
""")


async def test_self_consistency_is_five_chains_of_which_the_first_is_that_of_direct() -> None:
    model = ScriptedModel(boxed(9, 10, 10, 9, 10))
    solved = await self_consistency(PROBLEM, Models(generator=model))
    assert (solved.answer, solved.confidence, solved.chosen) == ("10", 0.6, 2)
    assert asked(model) == snapshot(
        [
            (600, 0.0, "Please reason step by step, and put your final answer within"),
            (600, 0.7, "Please reason step by step, and put your final answer within"),
            (600, 0.7, "Please reason step by step, and put your final answer within"),
            (600, 0.7, "Please reason step by step, and put your final answer within"),
            (600, 0.7, "Please reason step by step, and put your final answer within"),
        ]
    )
    assert len({request.settings["seed"] for request in model.requests}) == 5
    assert len({request.prompt for request in model.requests}) == 1


@pytest.mark.parametrize(
    ("answers", "calls", "answer"),
    [
        ((10, 10), 2, "10"),
        ((9, 10, 10, 10), 4, "10"),
        ((9, 10, 9, 10, 10, 10, 10, 1), 8, "10"),
        ((1, 2, 3, 4, 5, 6, 7, 8), 8, "1"),
    ],
)
async def test_adaptive_self_consistency_asks_for_two_then_four_then_eight(
    answers: tuple[int, ...], calls: int, answer: str
) -> None:
    model = ScriptedModel(boxed(*answers))
    solved = await adaptive_self_consistency(PROBLEM, Models(generator=model))
    assert (solved.answer, solved.spent.calls) == (answer, calls)


async def test_chains_of_one_pool_are_paid_for_once_and_charged_to_each() -> None:
    model, pool = ScriptedModel(boxed(10, 10, 9, 10, 10)), MemoryPool()
    models = Models(generator=model, pool=pool)
    whole = await self_consistency(PROBLEM, models)
    single, adaptive = await direct(PROBLEM, models), await adaptive_self_consistency(PROBLEM, models)
    assert len(model.requests) == 5
    assert pool.hits == 3
    assert (single.answer, adaptive.answer, adaptive.spent.calls) == ("10", "10", 2)
    assert single.usage["chain"] + single.usage["chain"] != whole.usage["chain"]
    assert single.attempts[0] == whole.attempts[0]
    other = await direct(PROBLEM, Models(generator=ScriptedModel(boxed(7)), pool=pool), seed=1)
    assert other.answer == "7"


async def test_a_pooled_reply_that_the_budget_does_not_cover_is_not_taken() -> None:
    pool = MemoryPool()
    await direct(PROBLEM, Models(generator=ScriptedModel(["word " * 100 + r"\boxed{10}"]), pool=pool))
    poor = Account(budget=Budget(tokens=150))
    solved = await direct(PROBLEM, Models(generator=ScriptedModel([r"\boxed{9}"]), pool=pool), poor)
    assert solved.answer == "9"
    assert solved.spent.input_tokens + solved.spent.output_tokens <= 150
    assert await direct(PROBLEM, Models(generator=ScriptedModel([]), pool=pool), Account(budget=Budget(calls=0)))


async def test_a_chain_without_an_answer_is_no_vote_but_counts() -> None:
    solved = await self_consistency(PROBLEM, Models(generator=ScriptedModel([*boxed(10, 9, 10), "No idea.", "Hm."])))
    assert (solved.answer, solved.confidence) == ("10", 0.4)


@pytest.mark.parametrize(
    ("failure", "end"),
    [
        (ModelUnavailable("The model is gone."), MethodEnd("failed", "The model is gone")),
        (ModelRefused("The model declined."), MethodEnd("refused", "The model declined")),
        (BudgetExceeded("No money is left."), MethodEnd("budget", "the budget is spent (No money is left)")),
    ],
)
async def test_a_model_that_cannot_be_used_ends_it_with_what_there_is(failure: InsulaError, end: MethodEnd) -> None:
    solved = await self_consistency(PROBLEM, Models(generator=ScriptedModel(boxed(10, failure))))
    assert (solved.answer, solved.end, solved.completed) == ("10", end, False)


async def test_time_limits_cost_a_chain_each_and_the_third_ends_it() -> None:
    late = ModelTimeout("The model was late.")
    solved = await self_consistency(PROBLEM, Models(generator=ScriptedModel(boxed(late, 10, late, 10, 9))))
    assert (solved.answer, solved.completed, len(solved.attempts)) == ("10", True, 3)
    solved = await build_self_consistency(9)(PROBLEM, Models(generator=ScriptedModel(boxed(late, 10, late, late))))
    assert (solved.answer, solved.completed, solved.stopped) == ("10", False, "The model was late")


@pytest.mark.parametrize("name", METHODS)
async def test_no_method_asks_about_nothing_or_about_too_much(name: str) -> None:
    models = Models(generator=ScriptedModel([]))
    for problem, reason in (("", "empty"), (" \n\x00", "empty"), ("word " * 9_000, "at most 20,000")):
        solved = await METHODS[name](problem, models)
        assert (solved.answer, solved.ending, solved.completed, solved.spent.calls) == (None, "input", False, 0)
        assert reason in solved.stopped


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("tokens", [0, 150, 700, 2_000])
async def test_no_method_spends_more_than_it_may(name: str, tokens: int) -> None:
    turn = iter(range(10_000))
    model = ScriptedModel(
        lambda request: {"x": 1} if request.schema else "word " * 400 + rf"\boxed{{{next(turn) % 3}}}"
    )
    solved = await METHODS[name](PROBLEM, Models(generator=model), Account(budget=Budget(tokens=tokens)))
    assert solved.spent.input_tokens + solved.spent.output_tokens <= tokens + 600  # a fake does not heed max_tokens
    asked_for = [float(request.settings["max_tokens"]) for request in model.requests]
    assert all(most <= tokens for most in asked_for)


async def test_what_is_spent_is_told_by_stage_also_from_an_account_in_use() -> None:
    account = Account()
    models = Models(generator=ScriptedModel(boxed(1, 2)))
    first, second = await direct(PROBLEM, models, account), await direct(PROBLEM, models, account)
    assert first.usage["chain"].calls == second.usage["chain"].calls == 1
    assert account.spent.calls == 2


def test_a_method_is_found_by_its_name_and_an_unknown_one_is_refused() -> None:
    assert find_method("self-consistency") is self_consistency
    with pytest.raises(InsulaError, match="name one of insula, mgv"):
        find_method("magic")
