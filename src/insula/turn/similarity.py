"""How alike two texts are, and how much one repeats itself: scores in [0, 1] without understanding."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from rapidfuzz import fuzz

from insula.caches import clear_on_erasure

NEAR_DUPLICATE = 0.85
"""From this similarity on two texts say the same (a word changed in ten leaves about 0.9)."""

UNSPECIFIC, SPECIFIC = 3.0, 5.5
"""Mean lengths of a word: of small talk, and of plain prose."""

MAX_CHARS = 4_000
"""Texts are compared up to here."""

_PROBES = 8
_PROBE = 12
_SHORT = 48
_BLANK = re.compile(r"[\W_]+")
_LONG = 40
_MIN_WORDS = 4


def near_duplicate(text: str, others: Sequence[str]) -> float:
    """The highest similarity in [0, 1] of `text` to one of `others`; what is below `NEAR_DUPLICATE` counts as 0.

    Case, punctuation and spacing do not count. A long text that stands whole within another is its duplicate. Eight
    probes of twelve characters rule most texts out before anything else is computed.
    """
    lower = _lower_text(text)
    alike = [other for other in map(_lower_text, others) if _may_be_alike(lower, other)]
    return max((_measure_similarity(_normal_text(lower), _normal_text(other)) for other in alike), default=0.0)


def _lower_text(text: str) -> str:
    lower = text[:MAX_CHARS].lower()
    return " ".join(lower.split()) if "\n" in lower or "  " in lower else lower


def _may_be_alike(text: str, other: str) -> bool:
    if min(len(text), len(other)) < _SHORT:
        return max(len(text), len(other)) < 2 * _SHORT
    if min(len(text), len(other)) < 0.4 * max(len(text), len(other)):
        return False
    step = max(1, (len(text) - _PROBE) // _PROBES)
    return any(text[at : at + _PROBE] in other for at in range(0, len(text) - _PROBE, step))


def _measure_similarity(text: str, other: str) -> float:
    if not text or not other:
        return 0.0
    if min(len(text), len(other)) >= _SHORT and (text in other or other in text):
        return 1.0
    return fuzz.ratio(text, other, score_cutoff=100 * NEAR_DUPLICATE) / 100


def _normal_text(text: str) -> str:
    return _BLANK.sub(" ", text).strip()


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
