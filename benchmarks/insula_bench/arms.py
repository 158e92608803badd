"""One problem in the hands of one method, as a line of the results: never an error, and never above the budget."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from insula.errors import InputError
from insula.llm.budget import Account, Budget
from insula_solve import Models, find_method
from insula_solve.answers import is_correct
from insula_solve.baselines import build_self_consistency
from insula_solve.method import Method
from insula_solve.solution import Attempt, Solution

VERSION = 1
MOST_CHAINS = 64
_CHAINS = re.compile(r"self[-_]consistency@(\d{1,3})")

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of the data."""

    number: int
    """Its line in the file, from 0."""
    text: str
    gold: str


@dataclass(frozen=True, slots=True)
class Arm:
    """A method under the name that it has in the report."""

    name: str
    method: Method


def arms(names: str) -> list[Arm]:
    """The methods of a list with commas; `self_consistency@8` is self-consistency with eight chains.

    Raises:
        InputError: the list is empty, or one of them is none.
    """
    found = {arm.name: arm for name in names.split(",") if name.strip() for arm in [_arm(name.strip())]}
    if not found:
        raise InputError("No method is named; give --methods such as direct,self_consistency,insula.")
    return list(found.values())


def _arm(name: str) -> Arm:
    if match := _CHAINS.fullmatch(name):
        chains = int(match[1])
        if not 1 <= chains <= MOST_CHAINS:
            raise InputError(f"{name!r} has {chains} chains; give 1 to {MOST_CHAINS}.")
        return Arm(f"self_consistency@{chains}", build_self_consistency(chains))
    return Arm(name.replace("-", "_"), find_method(name))


async def solved(arm: Arm, problem: Problem, models: Models, *, tokens: int, seed: int) -> Record:
    """A line of the results. Whatever goes wrong inside counts as wrong, and as failed."""
    account = Account(budget=Budget(tokens=tokens))
    try:
        solution = await arm.method(problem.text, models, account, seed=seed)
    except Exception as error:  # noqa: BLE001 a benchmark of hours goes on
        return _line(arm, problem, seed) | {
            "failed": f"{type(error).__name__}: {error}"[:300],
            "correct": False,
            **_spent(account),
        }
    return _line(arm, problem, seed) | recorded(solution, problem.gold) | _spent(account)


def _line(arm: Arm, problem: Problem, seed: int) -> Record:
    return {"v": VERSION, "arm": arm.name, "problem": problem.number, "seed": seed, "gold": problem.gold}


def recorded(solution: Solution, gold: str) -> Record:
    """What of a solution stands in the results."""
    leaning = next((one.value for one in solution.attempts if one.number == solution.chosen), solution.answer)
    capped = solution.ending == "budget"
    return {
        "answer": solution.answer,
        "correct": is_correct(solution.answer, gold),
        "abstained": solution.abstained,
        "leaning": leaning,
        "leaning_correct": is_correct(leaning, gold),
        "confidence": solution.confidence,
        "confidences": dict(solution.confidences),
        "ending": solution.ending,
        "stopped": solution.stopped,
        "capped": capped,
        "failed": None if solution.completed or capped else solution.stopped,
        "unparsed": solution.unparsed,
        "attempts": [_attempt(one, gold) for one in solution.attempts],
    }


def _attempt(one: Attempt, gold: str) -> Record:
    return {
        "kind": one.kind,
        "strategy": one.strategy,
        "difficulty": one.difficulty,
        "answer": one.value,
        "correct": is_correct(one.value, gold),
        "scores": asdict(one.scores) if one.scores else None,
        "equations": len(one.claims),
        "wrong_equations": len(one.wrong),
        "repaired": one.repaired,
        "computed": one.computed,
        "likelihood": asdict(one.likelihood) if one.likelihood else None,
        "truncated": one.truncated,
    }


def _spent(account: Account) -> Record:
    spent = account.spent
    return {
        "calls": spent.calls,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "seconds": round(spent.seconds, 3),
        "stages": {stage: asdict(usage) for stage, usage in account.by_purpose.items()},
    }


def key(record: Record) -> tuple[str, int, int]:
    """What one line is about."""
    return record["arm"], record["problem"], record["seed"]


def latest(records: Sequence[Record]) -> list[Record]:
    """The last line of each method, problem and seed: one that had failed may have been tried again."""
    return list({key(record): record for record in records}.values())
