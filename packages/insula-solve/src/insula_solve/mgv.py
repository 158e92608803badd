"""Monitor, generate, verify: the algorithm of Oh and Gobet (2025) but for one call (M1–M4, M7).

It deviates from their paper in one thing: Monitor and Select are one call, which gives features, difficulty and
strategy; theirs are two, so each cycle has a call fewer here. What they leave open is decided thus. Monitoring and
verifying are greedy. Difficulty is asked for as a whole number, which a grammar can hold within bounds, and clamped.
The metacognitive strategy follows from the scores: accept from a mean of 0.85; else switch the strategy where the
approach or the goal was judged worst, and revise within it where the steps or the calculations were. At T the
best-scored attempt wins, the earlier of two. A reply that cannot be read is asked for once more, then counted; its
cycle scores 0.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from insula.llm.client import Generation
from insula.memory.storage.rows import StrategyTally
from insula_solve.answers import Form, ParsedAnswer, find_answer
from insula_solve.features import ProblemFeatures, read_features
from insula_solve.knowledge import Knowledge, Strategy, draw_strategy
from insula_solve.method import make_method
from insula_solve.prompts import ask_monitor, ask_solution
from insula_solve.run import SolveRun
from insula_solve.solution import ACCEPTED, Attempt, MethodEnd, MethodVerdict, Scores, conclude_with
from insula_solve.verification import of_hundred, verify_attempt

CYCLES = 3
"""T of the paper."""
BASE_TOKENS, MORE_TOKENS = 400, 400
"""`max_tokens = 400 + 400 · difficulty` (seed 001)."""
BASE_TEMPERATURE, MORE_TEMPERATURE = 0.3, 0.2
"""`temperature = 0.3 + 0.2 · difficulty` (seed 001)."""
PLAN_TOKENS = 200
FEATURES_CHARS = 300

Metastrategy = Literal["accept", "revise", "switch"]

_THINK = re.compile(r"<\s*think(?:ing)?\s*>(.*?)(?=<\s*(?:/\s*)?(?:think(?:ing)?|answer)\s*>|\Z)", re.S | re.I)
_ANSWER_TAG = re.compile(r"<\s*answer\s*>", re.I)


class Plan(BaseModel):
    """What the Monitor fills in."""

    task_features: str = Field(max_length=FEATURES_CHARS)
    difficulty: Annotated[int, Field(ge=0, le=100), BeforeValidator(of_hundred)]
    strategy: str = Field(max_length=80)


def conclude_by_scores(run: SolveRun) -> MethodVerdict:
    """The attempt with the highest scores among those with an answer; its mean is the prompted confidence."""
    answered = [attempt for attempt in run.attempts if attempt.answer is not None]
    best = max(answered, key=lambda attempt: (_mean_score(attempt), -attempt.number), default=None)
    return conclude_with(best, best.confidences.get("prompted") if best else None)


@make_method(conclude_by_scores)
async def mgv(run: SolveRun) -> MethodEnd:
    """Plan, solve and judge in up to three cycles."""
    seen = read_features(run.problem)
    generator = run.models.generator.model_name
    previous: Attempt | None = None
    cycles = run.limits.attempts or CYCLES
    for cycle in range(cycles):
        tallies = await run.knowledge.read_tallies(generator, seen.kind)
        metastrategy = metastrategy_of(previous.scores) if previous else "switch"
        plan = await _make_plan(run, tallies, previous, metastrategy, cycle)
        draw = partial(draw_strategy, run.knowledge.repertoire, tallies, seen.classes, run.draw_seed(cycle))
        strategy = select_strategy(run.knowledge, plan, previous, metastrategy, draw)
        attempt = await _generate_attempt(run, plan or _guess_plan(seen), strategy, previous, cycle)
        attempt = await verify_attempt(run, attempt, cycle) if attempt.answer is not None else attempt
        accepted = attempt.scores is not None and attempt.scores.mean >= ACCEPTED
        await run.knowledge.learn_outcome(generator, seen.kind, strategy.name, accepted)
        if accepted and attempt.answer is not None:
            return MethodEnd(
                "accepted", f"the verifier accepted cycle {cycle + 1}, with {_mean_score(attempt):.2f} of {ACCEPTED}"
            )
        previous = attempt
    return MethodEnd("done", f"{cycles} cycles are over without a score of {ACCEPTED}", stuck=True)


def metastrategy_of(scores: Scores | None) -> Metastrategy:
    """What to do about a solution, by its scores; one that could not be judged is solved another way."""
    if scores is None:
        return "switch"
    if scores.mean >= ACCEPTED:
        return "accept"
    approach = min(scores.plausibility, scores.goal_conduciveness)
    execution = min(scores.coherence, scores.consistency)
    return "switch" if approach < execution else "revise"


def tokens_for(difficulty: float) -> int:
    """The most tokens of a solution."""
    return round(BASE_TOKENS + MORE_TOKENS * difficulty)


def temperature_for(difficulty: float) -> float:
    """The temperature of a solution."""
    return round(BASE_TEMPERATURE + MORE_TEMPERATURE * difficulty, 4)


def read_solution(made: Generation, form: Form = "number", problem: str = "") -> tuple[str, ParsedAnswer] | None:
    """Reasoning and answer of a reply, whether or not its tags are there, closed, or in order."""
    tagged = _ANSWER_TAG.search(made.text)
    answer = find_answer(made.text, truncated=made.truncated, form=form, problem=problem)
    if answer is None:
        return None
    thought = _THINK.search(made.text)
    reasoning = thought[1] if thought else made.text[: tagged.start()] if tagged else made.text
    return reasoning.strip() or made.thinking or made.text, answer


def select_strategy(
    knowledge: Knowledge,
    plan: Plan | None,
    previous: Attempt | None,
    metastrategy: Metastrategy,
    draw: Callable[..., Strategy],
) -> Strategy:
    """The strategy of a cycle: the one before to revise it, else the one that the Monitor chose, else one by lot."""
    if previous is not None and metastrategy == "revise" and (same := knowledge.find_strategy(previous.strategy)):
        return same
    tried = frozenset({previous.strategy}) if previous is not None else frozenset[str]()
    named = knowledge.find_strategy(plan.strategy) if plan is not None else None
    return named if named is not None and named.name not in tried else draw(without=tried)


def _guess_plan(seen: ProblemFeatures) -> Plan:
    """What stands in for a plan that could not be read: the difficulty at first sight."""
    return Plan(task_features=", ".join(seen.classes), difficulty=round(100 * seen.difficulty), strategy="")


async def _make_plan(
    run: SolveRun,
    tallies: Mapping[str, StrategyTally],
    previous: Attempt | None,
    metastrategy: Metastrategy,
    cycle: int,
) -> Plan | None:
    prompt = ask_monitor(
        run.problem, run.knowledge, tallies, previous, "revise" if metastrategy == "revise" else "switch"
    )
    plan = await run.fill_form("monitor", prompt, Plan, model=run.monitor, max_tokens=PLAN_TOKENS, index=cycle)
    if plan is not None:
        run.add_step("monitor", f"Difficulty {plan.difficulty / 100:.2f}: {plan.task_features}", chosen=plan.strategy)
    return plan


async def _generate_attempt(
    run: SolveRun, plan: Plan, strategy: Strategy, previous: Attempt | None, cycle: int
) -> Attempt:
    difficulty = plan.difficulty / 100
    run.add_step("monitor", f'Strategy "{strategy.name}", which fits problems {strategy.when}.', strategy=strategy.name)
    solved, made = await run.ask_readable(
        "generate",
        ask_solution(run.problem, strategy, previous),
        lambda made: read_solution(made, run.form, run.problem),
        max_tokens=run.limits.tokens or tokens_for(difficulty),
        temperature=temperature_for(difficulty) if run.limits.temperature is None else run.limits.temperature,
        index=cycle,
        form="the number in <answer> tags",
    )
    reasoning, answer = solved or ("", None)
    return run.note_attempt(
        "strategy",
        made,
        answer,
        reasoning=reasoning,
        strategy=strategy.name,
        difficulty=difficulty,
        features=plan.task_features,
    )


def _mean_score(attempt: Attempt) -> float:
    return attempt.scores.mean if attempt.scores else 0.0
