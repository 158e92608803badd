"""How much a response that passes has to it, told from its form and its ties.

Three signs with equal weights (Dawes 1979: such a sum loses little to fitted weights). None is fitted; what each is
worth stands in docs/benchmarks/monitor.md.
"""

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from insula.caches import clear_on_erasure

FRESH = 4
"""A response has nothing fresh from this share (1 in 4) of repeated word pairs on: plain prose repeats 1 in 50."""
HALF = 0.5
"""Each word taken up from the conversation halves what is missing."""
UNSPECIFIC, SPECIFIC = 3.0, 5.5
"""Mean lengths of a word: of small talk, and of plain prose."""
MAX_CHARS = 4_000
"""A response is read up to here."""

_LONG = 40
_MIN_WORDS = 4


class Substance(NamedTuple):
    """The signs, each in [0, 1]."""

    specific: float
    """By the length of its words: "I don't know what to do" says less than "Sodium reacts with water"."""
    fresh: float
    """It does not repeat itself."""
    connected: float
    """It takes up words of the message or of what was said before."""

    @property
    def worth(self) -> float:
        """All of them in one figure in [0, 1]."""
        return sum(self) / len(self)


def measure_substance(response: str, shared: int) -> Substance:
    """Look for the signs.

    Args:
        shared: how many content words it takes up from the message and from what was said before.
    """
    return Substance(
        specific=measure_specificity(response),
        fresh=max(0.0, 1 - FRESH * self_repetition(response)),
        connected=1 - HALF**shared,
    )


@clear_on_erasure
@lru_cache(maxsize=8)
def self_repetition(text: str) -> float:
    """How much a text repeats itself, in [0, 1]: the share of its word pairs that occurred in it before.

    From `_LONG` words on triples are counted, since longer texts repeat pairs of function words by nature.
    """
    words = text[:MAX_CHARS].lower().split()
    if "|" in text or "--" in text:  # the rules of tables repeat by nature
        words = [word for word in words if any(map(str.isalnum, word))]
    grams = zip(words, words[1:], words[2:], strict=False) if len(words) >= _LONG else pairwise(words)
    total = len(words) - (2 if len(words) >= _LONG else 1)
    return 1 - len(set(grams)) / total if total > 0 else 0.0


def measure_specificity(text: str) -> float:
    """How specific the words of a text are, in [0, 1], told by their mean length (frequent words are short: Zipf).

    `UNSPECIFIC` characters a word or fewer are 0, `SPECIFIC` or more are 1. Under four words, and where words are not
    spaced, it cannot be told and is 1.
    """
    words = text[:MAX_CHARS].split()
    if len(words) < _MIN_WORDS:
        return 1.0
    mean = len("".join(words)) / len(words)
    return min(1.0, max(0.0, (mean - UNSPECIFIC) / (SPECIFIC - UNSPECIFIC)))
