"""What solving a problem came to: the answer, how sure, every attempt, what each stage cost."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from insula.redaction import redact
from insula.types import Usage
from insula_solve.answers import Form, ParsedAnswer, is_correct, is_same_answer
from insula_solve.claims import EquationClaim
from insula_solve.programs import TestsOutcome

Kind = Literal["plain", "chain", "program", "strategy"]
"""How an attempt was asked for: the problem alone, the prompt of every baseline, a program, or by a strategy."""

StepKind = Literal["monitor", "attempt", "arithmetic", "verify", "vote", "setting", "lost", "stop"]

Ending = Literal["agreed", "accepted", "done", "budget", "refused", "failed", "input"]
"""What ended a method: enough attempts agree; a verifier or critic was content; all that it may try was tried; a cap on
calls, tokens or seconds; a model that declined; a model that failed; a problem that is empty or too long."""

BY_RULE: Final[frozenset[Ending]] = frozenset({"agreed", "accepted", "done"})
"""The endings that are a method's own; the others came over it."""

ACCEPTED = 0.85
"""The mean of the four scores from which a solution is accepted (seed 001)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """A verifier's judgement, each part in [0, 1] (M3)."""

    coherence: float
    plausibility: float
    consistency: float
    goal_conduciveness: float

    @property
    def mean(self) -> float:
        """The mean of the four."""
        return (self.coherence + self.plausibility + self.consistency + self.goal_conduciveness) / 4


Logprobs = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """How likely the model itself held what it wrote, in natural log-probabilities (M8)."""

    mean: float
    lowest: float
    answer: float | None
    """Mean over the tokens of the answer; None where they were not found."""

    @property
    def confidence(self) -> float:
        """The geometric mean of the tokens' probabilities, in [0, 1]."""
        return math.exp(self.mean)


def measure_likelihood(logprobs: Logprobs | None, answer: str = "") -> Likelihood | None:
    """Mean and lowest log-probability of a reply, and the mean over its answer.

    Args:
        logprobs: each token with its natural log-probability; None where the model returns none.
        answer: the answer as it was written in the reply.
    """
    usable = [(token, min(0.0, value)) for token, value in logprobs or () if math.isfinite(value)]
    if not usable:
        return None
    values = [value for _, value in usable]
    mine = _answer_logprobs(usable, answer)
    return Likelihood(
        mean=sum(values) / len(values),
        lowest=min(values),
        answer=sum(mine) / len(mine) if mine else None,
    )


def _answer_logprobs(tokens: Logprobs, answer: str) -> list[float]:
    """The log-probabilities of the tokens in which the answer stands for the last time."""
    start = "".join(token for token, _ in tokens).rfind(answer) if answer else -1
    if start < 0:
        return []
    logprobs: list[float] = []
    at = 0
    for token, value in tokens:
        if at < start + len(answer) and at + len(token) > start:
            logprobs.append(value)
        at += len(token)
    return logprobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One reasoning, with all that is known of it."""

    number: int
    """From 1."""
    kind: Kind
    reasoning: str
    answer: ParsedAnswer | None
    strategy: str = ""
    """Its name in the repertoire; empty for a plain chain."""
    difficulty: float | None = None
    """In [0, 1], as the Monitor felt it before."""
    features: str = ""
    """What the Monitor saw in the task."""
    scores: Scores | None = None
    evaluation: str = ""
    claims: tuple[EquationClaim, ...] = ()
    """The equations in it that could be recomputed."""
    repaired: bool = False
    """Whether its answer is that of its corrected arithmetic, not the one it states."""
    computed: bool = False
    """Whether its answer is what the program in it comes to, not the one that it says the program would print."""
    tests: TestsOutcome | None = None
    """Of its code, where that brings some."""
    doubts: tuple[str, ...] = ()
    """What speaks against it, of all that can be checked without a model."""
    likelihood: Likelihood | None = None
    truncated: bool = False

    @property
    def value(self) -> str | None:
        """Its answer in the form in which answers are compared."""
        return self.answer.value if self.answer else None

    @property
    def shown(self) -> str | None:
        """Its answer as a person is told it."""
        return self.answer.shown if self.answer else None

    @property
    def wrong(self) -> tuple[EquationClaim, ...]:
        """The equations in it that do not hold."""
        return tuple(claim for claim in self.claims if not claim.holds)

    @property
    def confidences(self) -> dict[str, float]:
        """What is known of it alone: the verifier's mean, and its likelihood."""
        known = {
            "prompted": self.scores and self.scores.mean,
            "likelihood": self.likelihood and self.likelihood.confidence,
        }
        return {kind: value for kind, value in known.items() if value is not None}


def group_attempts(attempts: Iterable[Attempt]) -> list[list[Attempt]]:
    """The attempts that gave the same answer, each with those that agree with the first of them."""
    groups: list[list[Attempt]] = []
    for attempt in attempts:
        if (answer := attempt.answer) is not None:
            group = next(
                (
                    attempts_of
                    for attempts_of in groups
                    if attempts_of[0].answer and is_same_answer(attempts_of[0].answer, answer)
                ),
                None,
            )
            groups.append([attempt]) if group is None else group.append(attempt)
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A line of the trace."""

    kind: StepKind
    text: str
    """A sentence for a person."""
    data: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodVerdict:
    """What a method makes of its attempts."""

    answer: str | None
    confidence: float | None = None
    confidences: Mapping[str, float] = field(default_factory=dict[str, float])
    chosen: int | None = None
    """Number of the attempt whose answer it is."""


def conclude_with(attempt: Attempt | None, confidence: float | None = None, **known: float) -> MethodVerdict:
    """The verdict that an attempt has the answer; without one there is none.

    Args:
        known: what a method knows of how sure it is, beside what is known of the attempt alone.
    """
    if attempt is None:
        return MethodVerdict(answer=None)
    return MethodVerdict(
        answer=attempt.shown,
        confidence=confidence,
        confidences={**known, **attempt.confidences},
        chosen=attempt.number,
    )


@dataclass(frozen=True, slots=True)
class MethodEnd:
    """Why a method ended."""

    ending: Ending
    why: str
    """The same for a person, as a clause with the figures of the case: "two strategies agree"."""
    stuck: bool = False
    """Whether all was tried and what the method looks for, agreement or a good judgement, was not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a method returned for a problem. It always returns one; where it could not answer, `answer` is None."""

    method: str
    problem: str
    answer: str | None
    confidence: float | None
    """In [0, 1], by the method's own means; None where it has none."""
    confidences: Mapping[str, float]
    """Each kind that is known: `prompted`, `likelihood`, `agreement`, `combined`."""
    attempts: tuple[Attempt, ...]
    chosen: int | None
    trace: tuple[Step, ...]
    usage: Mapping[str, Usage]
    """Calls, tokens and seconds of each stage."""
    end: MethodEnd
    form: Form = "number"
    """What kind of answer it is."""
    abstained: bool = False
    """Whether there is an answer that it is too unsure of to give."""
    unparsed: int = 0
    """Replies that could not be read, each after a second try."""

    @property
    def ending(self) -> Ending:
        """Why it ended, for a program."""
        return self.end.ending

    @property
    def stopped(self) -> str:
        """Why it ended, as a clause for a person."""
        return self.end.why

    @property
    def completed(self) -> bool:
        """Whether it ended by its own rule; else a budget, a failure or the input ended it."""
        return self.ending in BY_RULE

    @property
    def spent(self) -> Usage:
        """All stages together."""
        return sum(self.usage.values(), Usage())

    @property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the answer: what was checked without a model, and what a verifier said of it."""
        chosen = next((attempt for attempt in self.attempts if attempt.number == self.chosen), None)
        if chosen is None:
            return ()
        is_judged = chosen.scores is not None and chosen.scores.mean < ACCEPTED and chosen.evaluation
        return (*chosen.doubts, *((chosen.evaluation,) if is_judged else ()))

    @property
    def at_impasse(self) -> bool:
        """Whether the method is out of means: without an answer, cut off, or done without what it looks for (K5)."""
        return self.answer is None or not self.completed or self.end.stuck

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "doubts": list(self.doubts),
            "confidences": dict(self.confidences),
            "spent": asdict(self.spent),
            "usage": {stage: asdict(usage) for stage, usage in self.usage.items()},
            "attempts": [_attempt_record(attempt) for attempt in self.attempts],
            "trace": [{"kind": step.kind, "text": step.text} for step in self.trace],
        }


_PLAIN = (
    *("method", "problem", "form", "answer", "confidence", "chosen", "ending", "stopped", "completed"),
    *("abstained", "unparsed"),
)


def _attempt_record(attempt: Attempt) -> dict[str, Any]:
    claims = [{"text": each.text, "computed": str(each.computed), "holds": each.holds} for each in attempt.claims]
    return {**asdict(attempt), "answer": attempt.shown, "doubts": list(attempt.doubts), "claims": claims}


Pair = dict[str, Any]


def pair_attempts(solution: Solution, gold: str | None = None) -> Iterator[Pair]:
    """Each attempt that succeeded beside each that failed, to train a Monitor elsewhere (M9: V-STaR, DPO).

    Success is the right answer where it is known. Else it is the answer that the method gave by its own rule, with
    arithmetic that holds; what is not known to have failed, an attempt without an answer, is left out then.

    Args:
        gold: the right answer, as a data set has it.
    """
    if gold is not None:
        good = [attempt for attempt in solution.attempts if is_correct(attempt.shown, gold)]
        bad = [attempt for attempt in solution.attempts if not is_correct(attempt.shown, gold)]
    elif solution.completed and solution.answer is not None:
        good = [attempt for attempt in solution.attempts if attempt.shown == solution.answer and not attempt.wrong]
        bad = [attempt for attempt in solution.attempts if attempt.shown not in (None, solution.answer)]
    else:
        return
    for chosen in good:
        for rejected in bad:
            yield {
                "prompt": redact(solution.problem),
                "chosen": redact(chosen.reasoning),
                "rejected": redact(rejected.reasoning),
                "chosen_plan": _plan_pair(chosen),
                "rejected_plan": _plan_pair(rejected),
                "known_by": "gold" if gold is not None else solution.method,
            }


def _plan_pair(attempt: Attempt) -> Pair:
    """What a Monitor would have had to foresee."""
    return {
        "kind": attempt.kind,
        "strategy": attempt.strategy,
        "difficulty": attempt.difficulty,
        "features": redact(attempt.features),
        "answer": attempt.shown,
    }
