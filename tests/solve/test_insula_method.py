"""Insula's own method: unlike attempts, recomputed, until two that can be relied on agree."""

from collections import Counter
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from solving import PROBLEM, MemoryPool, asked

from insula.testing import Reply, Request, ScriptedModel
from insula_solve import Account, Budget, Limits, Models, votes
from insula_solve.baselines import direct
from insula_solve.features import read_features
from insula_solve.insula import build_method, insula
from insula_solve.solution import Attempt, Likelihood, MethodEnd
from insula_solve.votes import VotePolicy

pytestmark = pytest.mark.anyio

RIGHT = r"3 * 4 = 12. 12 - 2 = 10. \boxed{10}"
PROGRAM = "```python\nboxes = 3\napples = boxes * 4\nanswer = apples - 2\n```"
HARD = (
    "Half of the 24 pupils are twice as old as the 5 others, 30 percent more than 7 of the rest play,\n"
    "and the average of the 4 teams is 6 more than before.\n"
    "What fraction was there originally, if 8 left? How many are possible?"
)


NEVER_SURE = build_method(VotePolicy(easy=-1.0))
"""What follows a first attempt, also at an easy problem."""


async def solve(*replies: Reply, problem: str = PROBLEM, logprob: float | None = -0.2):
    model = ScriptedModel(replies, logprob=logprob)
    return model, await NEVER_SURE(problem, Models(generator=model))


async def test_a_chain_and_a_program_that_agree_are_enough() -> None:
    model, solved = await solve(RIGHT, PROGRAM)
    assert (solved.answer, solved.ending, solved.completed, solved.abstained) == ("10", "agreed", True, False)
    assert asked(model) == snapshot(
        [
            (600, 0.0, "Please reason step by step, and put your final answer within"),
            (300, 0.0, "numbers, names and arithmetic only, the last of them to `ans"),
        ]
    )
    assert model.requests[1].prompt == snapshot("""\
Question: Mia buys 4 notebooks at $3 each and 2 pens for half the price of a notebook each. She pays with a $20 note.
How much change does she get?

```python
# Mia buys 4 notebooks at $3 each.
notebooks = 4
notebook_price = 3
notebooks_cost = notebooks * notebook_price
# A pen costs half of a notebook, which is 3 / 2.
pens = 2
pen_price = notebook_price / 2
pens_cost = pens * pen_price
# The change is what is left of the $20 after both.
paid = 20
answer = paid - notebooks_cost - pens_cost
```

Question: Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?

Write the program for this question in the same way: a comment that reasons before each step, then assignments with
numbers, names and arithmetic only, the last of them to `answer`.\
""")
    assert [(step.kind, step.text) for step in solved.trace] == snapshot(
        [
            ("attempt", "Attempt 1 (chain): 10."),
            ("arithmetic", "Recomputed 2 of its equations: all hold."),
            ("vote", "Votes so far: 10 with 0.60."),
            ("attempt", "Attempt 2 (program): 10."),
            ("vote", "Votes so far: 10 with 0.86."),
            ("stop", "Stopped: 2 attempts agree (chain, program), with 0.86 of the votes."),
        ]
    )
    assert solved.confidences == snapshot(
        {"combined": 0.8936454708581594, "agreement": 1.0, "likelihood": 0.8187307530779818}
    )


async def test_its_first_chain_is_that_of_direct() -> None:
    pool = MemoryPool()
    await direct(PROBLEM, Models(generator=ScriptedModel([RIGHT]), pool=pool))
    model = ScriptedModel([PROGRAM])
    solved = await NEVER_SURE(PROBLEM, Models(generator=model, pool=pool))
    assert (solved.answer, len(model.requests), pool.hits) == ("10", 1, 1)


GUESSED = "Python will tell.\n```python\nboxes = 3\nleft = boxes * 4 - 2\nprint(left)\n```\nIt prints \\boxed{12}."


async def test_a_program_whose_result_a_chain_guesses_is_computed() -> None:
    _, solved = await solve(GUESSED, PROGRAM)
    assert (solved.answer, len(solved.attempts)) == ("10", 2)
    assert (solved.attempts[0].computed, solved.attempts[0].repaired) == (True, False)
    assert "The program in attempt 1 comes to 10." in [step.text for step in solved.trace]


@pytest.mark.parametrize(
    "chain",
    [
        r"3 * 4 = 12 apples. ```python" "\nanswer = 7\n" r"``` So \boxed{12}.",  # its words compute
        "```python\nimport sympy\nprint(sympy.solve('x - 10'))\n```\n" r"It is \boxed{12}.",
        "```python\nx = 1\n```\n" r"It is \boxed{yes}.",
        "```\nno program\n```\n" r"It is \boxed{12}.",
    ],
)
async def test_an_answer_stands_where_its_chain_computes_or_holds_no_program_for_it(chain: str) -> None:
    _, solved = await solve(chain, PROGRAM, RIGHT, RIGHT, RIGHT)
    assert not solved.attempts[0].computed
    assert solved.attempts[0].value in {"12", "yes"}


async def test_attempts_that_differ_call_for_others_in_turn() -> None:
    model, solved = await solve(*[rf"\boxed{{{number}}}" for number in range(11, 14)], *[RIGHT] * 4)
    assert solved.answer == "10"
    assert [attempt.kind for attempt in solved.attempts] == snapshot(
        ["chain", "program", "chain", "strategy", "chain", "chain"]
    )
    assert [request.settings["temperature"] for request in model.requests] == snapshot([0.0, 0.0, 0.7, 0.7, 0.7, 0.7])


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        ("How much is 3 - 10?", "-7"),
        ("At 8 it was 3 degrees, then it fell by 10. How many degrees is it now?", "-7"),
        ("How many boats are 5 halves?", "2.5"),
    ],
)
async def test_an_answer_that_can_hardly_be_is_given_where_all_attempts_come_to_it(problem: str, answer: str) -> None:
    said = rf"\boxed{{{answer}}}"
    _, solved = await solve(said, f"answer = {answer}", *[said] * 8, problem=problem)
    assert (solved.answer, solved.ending) in {(answer, "agreed"), (answer, "accepted")}
    assert len(solved.attempts) < 6
    assert solved.confidence is not None
    assert solved.confidence > 0.6


@pytest.mark.parametrize("unit", ["grams", "dollars", "teaspoons", "hours"])
def test_what_is_measured_may_be_broken(unit: str) -> None:
    assert not read_features(f"She has 5 and gives half away. How many {unit} are left?").is_count


def test_what_is_counted_may_not() -> None:
    assert read_features("She has 5 eggs and breaks 2. How many eggs are left?").is_count
    assert read_features("How many more centurions than 4 came in 2 days?").is_count


async def test_after_seven_attempts_without_agreement_the_most_probable_answer_is_given() -> None:
    _, solved = await solve(*[rf"\boxed{{{number}}}" for number in (11, 12, 13, 14, 15, 13, 16)])
    assert (solved.answer, solved.end, len(solved.attempts)) == (
        "13",
        MethodEnd("done", "7 attempts are made", stuck=True),
        7,
    )
    kinds = Counter(attempt.kind for attempt in solved.attempts)
    assert kinds == {"chain": 5, "strategy": 1, "program": 1}
    assert solved.confidence is not None
    assert solved.confidence < 0.5


async def test_it_abstains_where_it_knows_nothing() -> None:
    _, solved = await solve(r"\boxed{-3}", "no program", *["I cannot say."] * 7)
    assert (solved.answer, solved.abstained) == (None, True)
    assert any(attempt.value == "-3" for attempt in solved.attempts)
    _, solved = await solve(*["I cannot say."] * 8)
    assert (solved.answer, solved.abstained, solved.confidence) == (None, False, None)


async def test_the_monitor_is_asked_only_where_the_problem_looks_hard_and_the_attempts_differ() -> None:
    assert read_features(HARD).difficulty >= VotePolicy().monitor_from > read_features(PROBLEM).difficulty

    def answer(request: Request) -> Reply:
        return "2" if "Which approach" in request.prompt else rf"\boxed{{{request.settings['seed']}}}"

    for problem, calls in ((HARD, 2), (PROBLEM, 0)):
        model = ScriptedModel(answer)
        await build_method(VotePolicy(attempts=8, stop=2.0))(problem, Models(generator=model))
        assert sum("Which approach" in request.prompt for request in model.requests) == calls
    monitor = next(r for r in (await _hard(answer)).requests if "Which approach" in r.prompt)
    assert monitor.prompt == snapshot("""\
Problem: Half of the 24 pupils are twice as old as the 5 others, 30 percent more than 7 of the rest play,
and the average of the 4 teams is 6 more than before.
What fraction was there originally, if 8 left? How many are possible?

Two solutions of this problem came to different answers: 0 and 1.
Which approach would help most to decide it?

1. equal parts: fits problems with ratios, or amounts that are so many times another
2. general: fits problems of any kind
3. every case: fits problems that ask in how many ways, or of which several cases are possible
4. running amount: fits problems in which one amount changes step by step in time
5. elimination: fits problems that state conditions which only one possibility meets
6. sum behind the average: fits problems with averages

Reply with the number of one approach and nothing else.\
""")
    assert monitor.settings["max_tokens"] == 16


async def _hard(answer: object) -> ScriptedModel:
    model = ScriptedModel(answer)  # pyright: ignore[reportArgumentType] the function above
    await insula(HARD, Models(generator=model))
    return model


async def test_words_get_strategies_where_there_is_nothing_to_compute() -> None:
    model = ScriptedModel([r"\boxed{the red one}", r"\boxed{The red one.}"], logprob=-0.5)
    solved = await insula("Which ball did Ann take?", Models(generator=model))
    assert [attempt.kind for attempt in solved.attempts] == ["plain", "strategy"]
    assert solved.answer == "the red one"
    assert "Solve this by the following approach" in model.requests[1].prompt


async def test_the_same_seed_draws_the_same_strategies_and_no_strategy_twice() -> None:
    drawn: list[list[str]] = []
    for seed in (1, 1, 2):
        model = ScriptedModel(lambda request: rf"\boxed{{{request.settings['seed']}}}")
        solved = await build_method(VotePolicy(attempts=9))(PROBLEM, Models(generator=model), seed=seed)
        drawn.append([attempt.strategy for attempt in solved.attempts if attempt.strategy])
    assert drawn[0] == drawn[1]
    assert all(len(names) == len(set(names)) == 2 for names in drawn)


async def test_a_budget_that_ends_gives_the_best_so_far() -> None:
    model = ScriptedModel([RIGHT, "answer = 7"])
    solved = await NEVER_SURE(PROBLEM, Models(generator=model), Account(budget=Budget(calls=2)))
    assert (solved.answer, solved.completed, len(solved.attempts)) == ("10", False, 2)


async def test_a_likely_chain_outweighs_an_unlikely_one() -> None:
    def chance(logprob: float) -> float:
        likelihood = Likelihood(mean=logprob, lowest=logprob, answer=None)
        return votes.estimate_chance(
            Attempt(number=1, kind="chain", reasoning="", answer=None, likelihood=likelihood), VotePolicy()
        )

    assert chance(-0.05) > chance(-0.2) > chance(-0.5)
    assert chance(-9.0) == chance(-99.0)


@pytest.mark.parametrize(("needed", "answer"), [(4_000, "10"), (40_000, None)])
async def test_a_model_that_thinks_long_gets_more_tokens_within_a_bound(needed: int, answer: str | None) -> None:
    caps: list[int] = []

    def think(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        settings: Any = info.model_settings or {}
        caps.append(settings.get("max_tokens", 0))
        if caps[-1] >= needed:
            return ModelResponse([TextPart(r"3 * 4 = 12. 12 - 2 = 10. \boxed{10}")])
        return ModelResponse([TextPart("")], finish_reason="length")

    solved = await insula(PROBLEM, Models(generator=FunctionModel(think)), limits=Limits(attempts=3))
    assert solved.answer == answer
    assert caps[:2] == [600, 8_192]
    assert all(cap <= 600 for cap in caps[2:])
