"""Attempts as evidence: each speaks for its answer as strongly as attempts of its sort are right (M10).

An attempt that is right with probability p names the right answer; a wrong one names one of a few wrong answers. So it
multiplies the odds of its answer by p / ((1 - p) / alternatives). What is known of it without a model moves p:
arithmetic that does not hold, the likelihood of its tokens. What is known of an answer, that it can hardly be, counts
once, however many gave it.

That decides between answers, and when to stop. How sure to be of the leading one is another question: attempts at one
problem are right or wrong together, and where they disagree much the problem is a hard one. See `estimate_confidence`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from insula_solve.answers import ParsedAnswer
from insula_solve.features import ProblemFeatures
from insula_solve.solution import Attempt, group_attempts

LOGIT_CAP = 0.02
"""No attempt is held to be right or wrong with more certainty than this far from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VotePolicy:
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
    """What the odds of an answer are multiplied by that is negative, or no whole number where things are counted: three
    attempts of two sorts outweigh it, for there are debts, and temperatures."""
    typical_logprob: float = -0.2
    slope: float = 2.0
    most_shift: float = 0.5
    """How the mean log-probability of a chain's tokens moves the odds: against the typical one, and how far at most."""
    alternatives: float = 4.0
    """Wrong answers that wrong attempts spread over."""
    repeated: float = 0.8
    """What a further attempt by the same prompt counts for the same answer: its errors are not independent."""
    stop: float = 0.85
    """Share of the votes at which it ends with the leading answer, if two attempts gave it."""
    alike: float = 0.37
    """How far attempts at one problem are right or wrong together (correlation within problems): 0.35 on SVAMP and 0.37
    on ASDiv (Llama 3.1 8B), 0.41 for the small reasoner on 25 problems of GSM8K."""
    unlike: float = 0.5
    """What is added to the log-odds of that confidence: `alike` is how far chains err together, and attempts of several
    kinds do less. 0.57 on problems 100 to 213 of GSM8K, rounded; on 626 others the calibration error is 0.051 with it
    and 0.079 without (docs/benchmarks/gsm8k.md)."""
    abstain: float = 0.03
    """Confidence below which no answer is given: all that was found speaks against itself."""
    attempts: int = 7
    """With as many it is as often right as adaptive self-consistency for a sixth fewer tokens; nine are right more
    often, for as many tokens (docs/benchmarks/gsm8k.md)."""
    sure_logprob: float = -0.05
    sure_answer: float = -1e-4
    """Mean log-probability of a first attempt, and of the answer in it, from which one is enough."""
    easy: float = 0.22
    """Difficulty at first sight up to which one attempt is enough, unless the model was unsure: three numbers in as
    many sentences."""
    monitor_from: float = 0.6
    """Difficulty at first sight from which the Monitor is asked for a strategy; a fifth of GSM8K reaches it."""


@dataclass(frozen=True, slots=True)
class AnswerStanding:
    """How an answer stands."""

    answer: str
    share: float
    """Its share of the weighed votes, in [0, 1]."""
    attempts: tuple[Attempt, ...]


def rank_answers(attempts: Iterable[Attempt], seen: ProblemFeatures, policy: VotePolicy) -> tuple[AnswerStanding, ...]:
    """The answers with their shares of the votes, the greatest first; they leave room for one that nobody gave."""
    groups = group_attempts(attempts)
    odds = [math.exp(_weigh_support(group, seen, policy)) for group in groups]
    total = sum(odds) + policy.alternatives
    made = (
        AnswerStanding(group[0].shown or "", of / total, tuple(group)) for group, of in zip(groups, odds, strict=True)
    )
    return tuple(sorted(made, key=lambda standing: -standing.share))


def is_settled(standing: Sequence[AnswerStanding], policy: VotePolicy) -> bool:
    """Whether the leading answer can be relied on: two attempts gave it, and it has enough of the votes."""
    return bool(standing) and standing[0].share >= policy.stop and len(standing[0].attempts) > 1


def estimate_confidence(
    standing: Sequence[AnswerStanding], attempts: Sequence[Attempt], seen: ProblemFeatures, policy: VotePolicy
) -> float:
    """The chance in [0, 1] that the leading answer is right, where problems differ in how hard they are.

    The share of attempts that are right is drawn for each problem from a Beta distribution, with the mean of a plain
    chain and the correlation `alike`; integrated out, an answer with k of n attempts counts as
    B(a + k, b + n - k) × `alternatives`^k (Skellam 1948, the beta-binomial). So two that agree at once are worth more
    than four of ten. An attempt counts for as much of a plain chain as it is worth; of the answers that there may be,
    `alternatives` wrong ones and the right one, at least one was given by nobody.
    """
    strength = 1 / policy.alike - 1
    doubt = [
        math.log(policy.implausible) if is_implausible(each.attempts[0].answer, seen) else 0.0 for each in standing
    ]
    right, wrong = policy.chain * strength, (1 - policy.chain) * strength
    made = sum(max(_attempt_worth(attempt, policy), 0.0) for attempt in attempts)
    known = [sum(_attempt_worth(attempt, policy) for attempt in each.attempts) for each in standing]
    logs = [
        _log_beta(right + max(worth, 0.0), wrong + made - max(worth, 0.0))
        + worth * math.log(policy.alternatives)
        + less
        for worth, less in zip((*known, 0.0), (*doubt, 0.0), strict=True)
    ]
    weights = [math.exp(log - max(logs)) for log in logs]
    unseen = max(1.0, policy.alternatives + 1 - len(standing))
    return weights[0] / (sum(weights[:-1]) + unseen * weights[-1])


def raise_confidence(chance: float, policy: VotePolicy) -> float:
    """A confidence of `estimate_confidence` where the attempts are of several kinds."""
    return chance / (chance + (1 - chance) * math.exp(-policy.unlike))


def estimate_chance(attempt: Attempt, policy: VotePolicy) -> float:
    """The chance that an attempt is right, by what is known of it alone."""
    if attempt.repaired:
        return policy.repaired
    if attempt.wrong:
        return policy.wrong_arithmetic
    base = {"program": policy.program, "strategy": policy.strategy}.get(attempt.kind, policy.chain)
    shift = 0.0
    if attempt.likelihood is not None and attempt.kind != "program":
        shift = policy.slope * (attempt.likelihood.mean - policy.typical_logprob)
    shift = max(-policy.most_shift, min(policy.most_shift, shift))
    return 1 / (1 + math.exp(-(math.log(base / (1 - base)) + shift)))


def is_sure(attempt: Attempt, seen: ProblemFeatures, policy: VotePolicy) -> bool:
    """Whether a first attempt is enough: nothing speaks against it, and the model was sure or the problem is easy."""
    computes = attempt.kind == "chain" and not attempt.computed
    if attempt.answer is None or attempt.wrong or attempt.truncated or (computes and not attempt.claims):
        return False
    if is_implausible(attempt.answer, seen):
        return False
    if (told := attempt.likelihood) is None:
        return seen.difficulty <= policy.easy
    sure = told.mean >= policy.sure_logprob and (told.answer is None or told.answer >= policy.sure_answer)
    return sure or (seen.difficulty <= policy.easy and told.mean >= policy.typical_logprob)


def is_implausible(answer: ParsedAnswer | None, seen: ProblemFeatures) -> bool:
    """Whether an answer cannot be: words for a quantity, less than nothing, or half a thing where they are counted."""
    if answer is None or answer.form != "number" or not seen.is_quantity:
        return False
    number = answer.number
    if number is None:
        return not any(character.isdigit() for character in answer.value)
    return number < 0 or (seen.is_count and number.denominator != 1)


def _weigh_support(group: Sequence[Attempt], seen: ProblemFeatures, policy: VotePolicy) -> float:
    """The logarithm of what the attempts of one answer multiply its odds by, and what it is itself."""
    total = math.log(policy.implausible) if is_implausible(group[0].answer, seen) else 0.0
    counted: dict[str, int] = {}
    for attempt in group:
        repeats = counted.get(attempt.kind, 0)
        counted[attempt.kind] = repeats + 1
        total += _weigh_evidence(estimate_chance(attempt, policy), policy) * (policy.repeated if repeats else 1.0)
    return total


def _weigh_evidence(p: float, policy: VotePolicy) -> float:
    """The logarithm of what an attempt that is right with chance `p` multiplies the odds of its answer by."""
    p = max(LOGIT_CAP, min(1 - LOGIT_CAP, p))
    return math.log(p * policy.alternatives / (1 - p))


def _attempt_worth(attempt: Attempt, policy: VotePolicy) -> float:
    """An attempt in plain chains; below 0 where it speaks against its answer."""
    return _weigh_evidence(estimate_chance(attempt, policy), policy) / _weigh_evidence(policy.chain, policy)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def list_shares(standing: Sequence[AnswerStanding]) -> Mapping[str, float]:
    """Answers with their shares of the votes, to two decimals, for the trace."""
    return {each.answer: round(each.share, 2) for each in standing}
