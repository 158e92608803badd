"""How alike two texts are, letter for letter."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

NEAR_DUPLICATE = 0.85
"""From this similarity on two texts say the same (a word changed in ten leaves about 0.9)."""

MAX_CHARS = 4_000
"""Texts are compared up to here."""

_PROBES = 8
_PROBE = 12
_SHORT = 48
_BLANK = re.compile(r"[\W_]+")


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
