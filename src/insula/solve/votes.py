"""Attempts as evidence: each speaks for its answer as strongly as attempts of its sort are right (M10).

An attempt that is right with probability p names the right answer; a wrong one names one of a few wrong answers. So it
multiplies the odds of its answer by p / ((1 - p) / alternatives). What is known of it without a model moves p:
arithmetic that does not hold, an answer that cannot be, the likelihood of its tokens.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from insula.solve.answers import as_number
from insula.solve.features import Features
from insula.solve.solution import Attempt

LOGIT_CAP = 0.02
"""No attempt is held to be right or wrong with more certainty than this far from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The figures that `insula` decides by. Hand-set from what is said at each, not fitted."""

    chain: float = 0.6
    """Chance that a plain chain is right: a small reasoner's on GSM8K, and an 8B model's on SVAMP, are near it."""
    program: float = 0.5
    """Chance that a program that could be computed is right: 17 of 40 for the small reasoner, all programs counted."""
    strategy: float = 0.55
    """Chance that a chain by a strategy is right."""
    wrong_arithmetic: float = 0.2
    """Where recomputed arithmetic does not hold; then an attempt speaks for no answer."""
    repaired: float = 0.3
    """Where it was put right and carried to the answer."""
    implausible: float = 0.05
    """Where an answer is negative, or no whole number of things is counted; then an attempt speaks against it."""
    typical_logprob: float = -0.2
    slope: float = 2.0
    most_shift: float = 0.5
    """How the mean log-probability of a chain's tokens moves the odds: against the typical one, and how far at most."""
    alternatives: float = 4.0
    """Wrong answers that wrong attempts spread over."""
    repeated: float = 0.8
    """What a further attempt by the same prompt counts for the same answer: its errors are not independent."""
    stop: float = 0.85
    """Probability of the leading answer at which it ends, if two attempts gave it."""
    abstain: float = 0.1
    """Probability below which no answer is given."""
    attempts: int = 8
    """As many as adaptive self-consistency has."""
    monitor_from: float = 0.6
    """Difficulty at first sight from which the Monitor is asked for a strategy; a fifth of GSM8K reaches it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How an answer stands."""

    answer: str
    probability: float
    attempts: tuple[Attempt, ...]


def standings(attempts: Iterable[Attempt], seen: Features, policy: Policy) -> tuple[Standing, ...]:
    """The answers with their probabilities, the most probable first; they leave room for one that nobody gave."""
    groups: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.value is not None:
            groups.setdefault(attempt.value, []).append(attempt)
    odds = {answer: math.exp(_support(group, seen, policy)) for answer, group in groups.items()}
    total = sum(odds.values()) + policy.alternatives
    made = (Standing(answer, odds[answer] / total, tuple(group)) for answer, group in groups.items())
    return tuple(sorted(made, key=lambda one: -one.probability))


def chance(attempt: Attempt, seen: Features, policy: Policy) -> float:
    """The chance that an attempt is right, by what is known of it alone."""
    if is_implausible(attempt.value, seen):
        return policy.implausible
    if attempt.repaired:
        return policy.repaired
    if attempt.wrong:
        return policy.wrong_arithmetic
    base = {"chain": policy.chain, "program": policy.program, "strategy": policy.strategy}[attempt.kind]
    shift = 0.0
    if attempt.likelihood is not None and attempt.kind != "program":
        shift = policy.slope * (attempt.likelihood.mean - policy.typical_logprob)
    shift = max(-policy.most_shift, min(policy.most_shift, shift))
    return 1 / (1 + math.exp(-(math.log(base / (1 - base)) + shift)))


def is_implausible(answer: str | None, seen: Features) -> bool:
    """Whether an answer cannot be: words for a quantity, less than nothing, or half a thing where they are counted."""
    if answer is None or not seen.is_quantity:
        return False
    number = as_number(answer)
    if number is None:
        return not any(character.isdigit() for character in answer)
    return number < 0 or (seen.is_count and number.denominator != 1)


def _support(group: Sequence[Attempt], seen: Features, policy: Policy) -> float:
    """The logarithm of what the attempts of one answer multiply its odds by."""
    total = 0.0
    counted: dict[str, int] = {}
    for attempt in group:
        p = max(LOGIT_CAP, min(1 - LOGIT_CAP, chance(attempt, seen, policy)))
        repeats = counted.get(attempt.kind, 0)
        counted[attempt.kind] = repeats + 1
        total += math.log(p * policy.alternatives / (1 - p)) * (policy.repeated if repeats else 1.0)
    return total


def shares(standing: Sequence[Standing]) -> Mapping[str, float]:
    """Answers with their probabilities, to two decimals, for the trace."""
    return {one.answer: round(one.probability, 2) for one in standing}
