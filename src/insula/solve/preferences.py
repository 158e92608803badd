"""Attempts that succeeded beside attempts that failed, to train a Monitor elsewhere (M9: V-STaR, DPO)."""

from collections.abc import Iterator
from typing import Any

from insula.redaction import redact
from insula.solve.answers import is_correct
from insula.solve.solution import Attempt, Solution

Pair = dict[str, Any]


def pairs(solution: Solution, gold: str | None = None) -> Iterator[Pair]:
    """Each attempt that succeeded with each that failed, as a line of JSON may hold it.

    Success is the right answer where it is known. Else it is the answer that the method gave by its own rule, with
    arithmetic that holds; what is not known to have failed, an attempt without an answer, is left out then.

    Args:
        solution: what a method returned.
        gold: the right answer, as a data set has it.
    """
    if gold is not None:
        good = [one for one in solution.attempts if is_correct(one.shown, gold)]
        bad = [one for one in solution.attempts if not is_correct(one.shown, gold)]
    elif solution.completed and solution.answer is not None:
        good = [one for one in solution.attempts if one.shown == solution.answer and not one.wrong]
        bad = [one for one in solution.attempts if one.shown not in (None, solution.answer)]
    else:
        return
    for chosen in good:
        for rejected in bad:
            yield {
                "prompt": redact(solution.problem),
                "chosen": redact(chosen.reasoning),
                "rejected": redact(rejected.reasoning),
                "chosen_plan": _plan(chosen),
                "rejected_plan": _plan(rejected),
                "known_by": "gold" if gold is not None else solution.method,
            }


def _plan(attempt: Attempt) -> Pair:
    """What a Monitor would have had to foresee."""
    return {
        "kind": attempt.kind,
        "strategy": attempt.strategy,
        "difficulty": attempt.difficulty,
        "features": redact(attempt.features),
        "answer": attempt.shown,
    }
