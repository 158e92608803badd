"""What the models are told: the texts of `prompts.toml`, filled in."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from insula.llm.client import Prompt
from insula.memory.storage.rows import StrategyTally
from insula_solve.knowledge import Knowledge, Strategy
from insula_solve.solution import Attempt

PARTS = ("coherence", "plausibility", "consistency", "goal_conduciveness")


@cache
def read_templates() -> Mapping[str, str]:
    """The texts by name."""
    return tomllib.loads(resources.files("insula_solve").joinpath("prompts.toml").read_text("utf-8"))


def fill_in(template: str, /, **values: object) -> str:
    """A text with its braces filled in."""
    return read_templates()[template].format(**values)


def make_prompt(template: str, /, **values: object) -> Prompt:
    """A text as the whole of what a model is told."""
    return Prompt(prompt=fill_in(template, **values))


def ask_strategy(problem: str, strategy: Strategy) -> Prompt:
    """A chain by a strategy of the repertoire."""
    return make_prompt("strategy", problem=problem, name=strategy.name, how=strategy.how)


def ask_choice(problem: str, answers: Sequence[str], shortlist: Sequence[Strategy]) -> Prompt:
    """Which approach would decide between answers."""
    catalogue = "\n".join(f"{at}. {each.name}: fits problems {each.when}" for at, each in enumerate(shortlist, 1))
    return make_prompt("choose", problem=problem, answers=" and ".join(answers), catalogue=catalogue)


def ask_monitor(
    problem: str, knowledge: Knowledge, tallies: Mapping[str, StrategyTally], previous: Attempt | None, advice: str
) -> Prompt:
    """Difficulty, features and a strategy, from what is known and from the previous cycle."""
    catalogue = "\n".join(_describe_strategy(each, tallies.get(each.name)) for each in knowledge.repertoire)
    recorded = "; how often it led to an accepted solution of such a problem" if tallies else ""
    before = (
        "" if previous is None else fill_in("before", **_describe_cycle(previous), advice=advice and fill_in(advice))
    )
    return Prompt(
        instructions=fill_in("monitor", catalogue=catalogue, recorded=recorded),
        prompt=fill_in("monitor_asks", problem=problem, previous=before),
    )


def ask_solution(problem: str, strategy: Strategy, previous: Attempt | None) -> Prompt:
    """A solution by a strategy, from the second cycle on with the whole previous one."""
    before = "" if previous is None else fill_in("previous_cycle", **_describe_cycle(previous))
    return make_prompt("execute", problem=problem, name=strategy.name, how=strategy.how, previous=before)


def _describe_strategy(strategy: Strategy, tally: StrategyTally | None) -> str:
    record = f" ({tally.successes} of {sum(tally)})" if tally else ""
    return f"- {strategy.name}: problems {strategy.when}{record}"


def _describe_cycle(attempt: Attempt) -> dict[str, object]:
    scores = attempt.scores
    return {
        **{part: getattr(scores, part) if scores else 0.0 for part in PARTS},
        "difficulty": f"{attempt.difficulty or 0.0:.2f}",
        "features": attempt.features,
        "strategy": attempt.strategy,
        "reasoning": attempt.reasoning,
        "evaluation": attempt.evaluation or "the solution could not be read",
    }
