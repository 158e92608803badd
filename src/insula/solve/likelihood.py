"""How likely the model itself held what it wrote: confidence that nobody had to ask it for (M8)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Logprobs = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """Natural log-probabilities of a reply's tokens; 0 is certain."""

    mean: float
    lowest: float
    answer: float | None
    """Mean over the tokens of the answer; None where they were not found."""

    @property
    def confidence(self) -> float:
        """The geometric mean of the tokens' probabilities, in [0, 1]."""
        return math.exp(self.mean)


def likelihood(logprobs: Logprobs | None, answer: str = "") -> Likelihood | None:
    """Mean and lowest log-probability of a reply, and the mean over its answer.

    Args:
        logprobs: each token with its natural log-probability; None where the model returns none.
        answer: the answer as it was written in the reply.
    """
    usable = [(token, min(0.0, value)) for token, value in logprobs or () if math.isfinite(value)]
    if not usable:
        return None
    values = [value for _, value in usable]
    mine = _within(usable, answer)
    return Likelihood(
        mean=sum(values) / len(values),
        lowest=min(values),
        answer=sum(mine) / len(mine) if mine else None,
    )


def _within(tokens: Logprobs, answer: str) -> list[float]:
    """The log-probabilities of the tokens in which the answer stands for the last time."""
    start = "".join(token for token, _ in tokens).rfind(answer) if answer else -1
    if start < 0:
        return []
    found: list[float] = []
    at = 0
    for token, value in tokens:
        if at < start + len(answer) and at + len(token) > start:
            found.append(value)
        at += len(token)
    return found
