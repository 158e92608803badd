"""Monitor, generate, verify: prompt by prompt, and what becomes of replies that are no use."""

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from solving import PROBLEM, schedule, scores

from insula.testing import Reply, ScriptedModel
from insula_solve import Account, Budget, Models
from insula_solve.knowledge import Knowledge, Strategy, read_shipped
from insula_solve.mgv import metastrategy_of, mgv
from insula_solve.solution import MethodEnd, Scores
from insula_solve.verification import read_scores

pytestmark = pytest.mark.anyio

SMALL = (
    Strategy(name="general", when="of any kind", how="Go in small steps."),
    Strategy(name="table", when="with several people", how="Draw up a table."),
    Strategy(name="equation", when="with an unknown", how="Write one equation."),
)


def plan(difficulty: object = 50, strategy: str = "table") -> Reply:
    return {"task_features": "a short story", "difficulty": difficulty, "strategy": strategy}


def solution(answer: object = 10, reasoning: str = "3 * 4 = 12. 12 - 2 = 10.") -> str:
    return f"<think>\n{reasoning}\n</think>\n<answer>\n{answer}\n</answer>"


def models(*replies: Reply) -> tuple[ScriptedModel, Models]:
    model = ScriptedModel(replies)
    return model, Models(generator=model)


async def test_one_accepted_cycle_is_a_plan_a_solution_and_a_judgement() -> None:
    model, asked = models(plan(), solution(), scores(0.9))
    solved = await mgv(PROBLEM, asked, knowledge=Knowledge(repertoire=SMALL))
    assert (solved.answer, solved.confidence, solved.completed) == ("10", pytest.approx(0.9), True)
    assert solved.end == MethodEnd("accepted", "the verifier accepted cycle 1, with 0.90 of 0.85")
    assert {stage: usage.calls for stage, usage in solved.usage.items()} == {"monitor": 1, "generate": 1, "verify": 1}
    monitor, generate, verify = model.requests
    assert monitor.instructions == snapshot("""\
You plan how a problem will be solved. You do not solve it.

What is known of the solver: it is a language model that reasons in writing. It is good at planning and language; it
slips in long calculations, in what a percentage or fraction is taken of, and in answering another question than is
asked.
What is known of tasks: a task is harder the more steps depend on one another, the more quantities it names that are
not needed, and the less directly it says how they are related.
What is known of strategies (name: when it fits):
- general: problems of any kind
- table: problems with several people
- equation: problems with an unknown\
""")
    assert monitor.prompt == snapshot("""\
Problem: Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?

Assess:
- task_features: what kind of task this is and what makes it easy or hard, in one sentence.
- difficulty: a whole number from 0 (trivial) to 100 (hardly solvable).
- strategy: the name of the one strategy from the list that fits best.\
""")
    assert generate.prompt == snapshot("""\
Problem: Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?

Strategy: table
Draw up a table.

Output format:
<think>
Work through the problem step by step using the table approach. Show all calculations and reasoning.
</think>
<answer>
Output only the final numerical answer (no units or text).
</answer>\
""")
    assert verify.prompt == snapshot("""\
Problem: Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?

Solution: 3 * 4 = 12. 12 - 2 = 10.

Answer: 10

Evaluate this solution on these dimensions (0-1 scale):
1. COHERENCE: Do the steps logically connect?
2. PLAUSIBILITY: Is the approach reasonable?
3. CONSISTENCY: Are calculations correct?
4. GOAL-CONDUCIVENESS: Does it answer the question?

Output format:
<evaluate>
Coherence: X.X
Plausibility: X.X
Consistency: X.X
Goal-conduciveness: X.X
Evaluation: [Provide a 2-3 sentence analysis explaining the scores. Identify specific errors or strengths. For low
scores, indicate what went wrong (e.g., "arithmetic error in step 3", "misunderstood the question", "skipped crucial
reasoning"). For high scores, note what worked well. Be specific and actionable.]
</evaluate>\
""")
    assert (verify.settings["max_tokens"], verify.settings["temperature"]) == (300, 0.0)


async def test_a_judgement_that_cannot_be_read_is_asked_for_once_more_and_then_counted() -> None:
    model, asked = models(plan(), solution(), "It looks fine to me!", scores(0.95))
    solved = await mgv(PROBLEM, asked)
    assert (solved.answer, solved.unparsed, solved.usage["verify"].calls) == ("10", 0, 2)
    again = model.requests[3]
    assert again.history[-1] == ("assistant", "It looks fine to me!")
    assert again.prompt == snapshot("""\
That cannot be used: one of the four scores from 0 to 1 is missing.
Answer again in the required form, and write nothing else.\
""")
    never = "Coherence: NaN\nPlausibility: NaN\nConsistency: NaN\nGoal-conduciveness: NaN"
    _, asked = models(*[plan(), solution(), never, never] * 3)
    solved = await mgv(PROBLEM, asked)
    assert (solved.answer, solved.confidence, solved.unparsed, len(solved.attempts)) == ("10", None, 3, 3)


async def test_cycles_that_end_without_a_verdict_are_an_impasse() -> None:
    _, asked = models(*[plan(), solution(), "Fine.", "Fine!"] * 3)
    solved = await mgv(PROBLEM, asked)
    assert (solved.answer, solved.completed, solved.at_impasse) == ("10", True, True)
    _, asked = models(*[plan(), solution(), scores(0.5)] * 3)
    assert (await mgv(PROBLEM, asked)).at_impasse
    _, asked = models(plan(), solution(), scores(0.9))
    assert not (await mgv(PROBLEM, asked)).at_impasse


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        *(("0.7", 680), ("0,7", 680), ("70%", 680), (0.7, 680), ("7/10", 680), ("7 out of 10", 680)),
        *(("about 70", 680), ("70 (hard)", 680), (1, 404), (250, 800), (-5, 400)),
    ],
)
async def test_a_difficulty_in_another_form_is_read(said: object, tokens: int) -> None:
    model, asked = models(plan(said), solution(), scores(1))
    solved = await mgv(PROBLEM, asked)
    assert (solved.unparsed, schedule(model, "Strategy: ")[0][0]) == (0, tokens)


async def test_a_solution_without_an_answer_is_asked_for_once_more_and_its_cycle_is_not_judged() -> None:
    _, asked = models(*[plan(), "I do not know.", "Really not."] * 3)
    solved = await mgv(PROBLEM, asked)
    assert (solved.answer, solved.unparsed, "verify" in solved.usage) == (None, 3, False)
    assert solved.stopped == "3 cycles are over without a score of 0.85"


async def test_a_plan_that_cannot_be_read_leaves_what_can_be_told_at_first_sight() -> None:
    model, asked = models("no plan", "still none", solution(), scores(1))
    solved = await mgv(PROBLEM, asked)
    assert (solved.answer, solved.unparsed, solved.usage["monitor"].calls) == ("10", 1, 2)
    assert 400 < float(str(schedule(model, "Strategy: ")[0][0])) < 800


async def test_a_budget_that_ends_within_a_cycle_gives_the_best_attempt_so_far() -> None:
    replies = [plan(), solution(1), scores(0.6), plan(), solution(2)]
    _, asked = models(*replies)
    account = Account(budget=Budget(calls=5))
    solved = await mgv(PROBLEM, asked, account)
    assert (solved.answer, solved.completed, solved.spent.calls) == ("1", False, 5)
    assert solved.stopped.startswith("the budget is spent (The call for verify is not made: of 5 calls allowed")
    assert [attempt.value for attempt in solved.attempts] == ["1", "2"]


@pytest.mark.parametrize("tokens", [0, 300, 900, 1_500, 2_500])
async def test_it_never_spends_more_tokens_than_it_may(tokens: int) -> None:
    model = ScriptedModel(
        lambda asked: plan() if asked.schema else scores(0.5) if "COHER" in asked.prompt else "x " * 300
    )
    solved = await mgv(PROBLEM, Models(generator=model), Account(budget=Budget(tokens=tokens)))
    assert solved.spent.input_tokens + solved.spent.output_tokens <= tokens
    assert not solved.completed


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((0.9,) * 4, "accept"),
        ((0.9, 0.2, 0.9, 0.9), "switch"),
        ((0.9, 0.9, 0.2, 0.9), "revise"),
        ((0.5,) * 4, "revise"),
    ],
)
def test_the_metacognitive_strategy_follows_from_the_scores(values: tuple[float, ...], wanted: str) -> None:
    coherence, plausibility, consistency, goal = values
    parts = Scores(coherence=coherence, plausibility=plausibility, consistency=consistency, goal_conduciveness=goal)
    assert metastrategy_of(parts) == wanted
    assert metastrategy_of(None) == "switch"


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>a = 1</think><answer>7</answer>", "a = 1", "7"),
        ("<think>a = 1\n<answer>7", "a = 1", "7"),
        ("a = 1\n<answer>7</answer>", "a = 1", "7"),
        ("<THINK>a = 1</THINK> The answer is 7.", "a = 1", "7"),
        ("a = 1, so 7", "a = 1, so 7", "7"),
    ],
)
async def test_tags_are_read_tolerantly(text: str, reasoning: str, answer: str) -> None:
    _, asked = models(plan(), text, scores(0.9))
    solved = await mgv(PROBLEM, asked, knowledge=Knowledge(repertoire=SMALL))
    assert (solved.attempts[0].reasoning, solved.answer) == (reasoning, answer)


def test_the_repertoire_has_twenty_strategies_and_a_general_one() -> None:
    names = [one.name for one in read_shipped()]
    assert len(names) == len(set(names)) == 21
    assert names[0] == "general"


# Scores and difficulties are read on the scale that they are written on, or not at all.


@pytest.mark.parametrize(
    "text",
    [
        "Coherence: 0.8\nPlausibility: 0.8\nConsistency: 0.8\nGoal-conduciveness: 0.8",
        "<evaluate> **COHERENCE**: 0.8/1 **Plausibility** - 0.8; consistency = 80% ... goal conduciveness score: .8",
        '{"coherence": 0.8, "plausibility": 0.8, "consistency": 0.8, "goal_conduciveness": 0.8}',
        "1. Coherence (0-1 scale): 0.8\n2. Plausibility (0-1): 0.8\n3. Consistency: 8/10\n4. Goal-Conduciveness: 8",
        "Coherence: X.X\nCoherence: 0.8 Plausibility: 0.8 Consistency: 0.8 Goal-conduciveness: 0.8 Evaluation: [Good.]",
    ],
)
def test_scores_are_read_however_they_are_written(text: str) -> None:
    read = read_scores(text)
    assert read is not None
    assert read[0].mean == pytest.approx(0.8)


@given(st.text(max_size=200), st.lists(st.floats(allow_nan=True) | st.integers(), min_size=4, max_size=4))
def test_any_scores_are_within_bounds_or_none(noise: str, values: list[float]) -> None:
    read = read_scores(noise + scores(*values))
    if read is not None:
        assert 0 <= read[0].mean <= 1
        assert math.isfinite(read[0].mean)


def four(*written: str) -> str:
    """A verifier's reply with the four scores as they were written."""
    names = ("Coherence", "Plausibility", "Consistency", "Goal-conduciveness")
    return "\n".join(f"{name}: {value}" for name, value in zip(names, written, strict=True))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (("3.0", "8.5", "1.5", "9.0"), (0.3, 0.85, 0.15, 0.9)),
        (("1.0", "1", "0", "1.0"), (1.0, 1.0, 0.0, 1.0)),
        (("1.5", "1.5", "1.5", "1.5"), (0.15,) * 4),
        (("8,5", "9,0", "3,0", "10"), (0.85, 0.9, 0.3, 1.0)),
        (("90", "85", "8", "70"), (0.9, 0.85, 0.08, 0.7)),
        (("8 out of 10", "3 of 5", "80 %", "7.5/10.0"), (0.8, 0.6, 0.8, 0.75)),
        (("0.8", "0.8", "8/10", "8"), (0.8,) * 4),
    ],
)
def test_each_score_is_read_on_its_scale(written: tuple[str, ...], meant: tuple[float, ...]) -> None:
    read = read_scores(four(*written))
    assert read is not None
    assert astuple(read[0]) == pytest.approx(meant)


def test_a_stated_range_is_the_scale() -> None:
    read = read_scores(
        "Coherence (0-10): 8\nPlausibility (0–10): 1\nConsistency (0 to 5): 4\nGoal-conduciveness [0-100]: 95"
    )
    assert read is not None
    assert astuple(read[0]) == pytest.approx((0.8, 0.1, 0.8, 0.95))
