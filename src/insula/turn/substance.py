"""How much a response that passes has to it, told from its form and its ties.

Four signs with equal weights (Dawes 1979: such a sum loses little to fitted weights). None is fitted; what that costs
stands in docs/benchmarks/monitor.md.
"""

from typing import NamedTuple

from insula.text.manner import count_breaks
from insula.turn.similarity import measure_specificity, self_repetition

FRESH = 4
"""A response has nothing fresh from this share (1 in 4) of repeated word pairs on: plain prose repeats 1 in 50."""

HALF = 0.5
"""Each word taken up from the conversation, and each broken phrase, halves what is missing, and what is left."""


class Substance(NamedTuple):
    """The signs, each in [0, 1]."""

    specific: float
    """By the length of its words: "I don't know what to do" says less than "Sodium reacts with water"."""
    fresh: float
    """It does not repeat itself."""
    connected: float
    """It takes up words of the message or of what was said before."""
    intact: float
    """No phrase in it is broken off."""

    @property
    def worth(self) -> float:
        """All of them in one figure in [0, 1]."""
        return sum(self) / len(self)


def measure_substance(response: str, language: str, shared: int) -> Substance:
    """Look for the signs.

    Args:
        language: its language as an ISO 639-1 code.
        shared: how many content words it takes up from the message and from what was said before.
    """
    return Substance(
        specific=measure_specificity(response),
        fresh=max(0.0, 1 - FRESH * self_repetition(response)),
        connected=1 - HALF**shared,
        intact=HALF ** count_breaks(response, language),
    )
