"""Whether two corrections ask for the same, told from their words: a smaller kin of `insula.text.wishes`.

The hook's half of the package has the standard library only. What counts are the words that say what it is about, each
with whether it is denied: "don't commit" and "commit first" are not alike.
"""

import re
from functools import lru_cache

from insula.step.small_words import DENIALS, GENERIC, LIGHT, SPOILERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SAME = 0.5
"""Likeness from which two corrections are one."""
_ABOUT = 0.5
"""What a word counts that only the call in question holds: nobody said whether it is wanted."""
_WEAK = 0.25
"""What a word counts that every correction may hold."""
_LEAST = 4
"""Letters that the beginnings of two words must share to be forms of one."""

_WORD = r"[^\W_]+(?:[._/'-][^\W_]+)*"
_CLAUSE = (
    r"[,;:，、；：。.!?！？\n()（）–—]+(?=\s|$)|[，、；：。！？]|\bbut\b|\bsino\b|\bsondern\b|\bmais\b|\bmas sim\b"
)
_WIDE = "[\u3040-\u30ff\u3400-\u9fff]"

_PARTICLES = "[的我你了都请就和把让给的をはがにでもと]"

Marked = tuple[str, int]
"""A word, and whether it is wanted (1), denied (-1) or neither said (0)."""


def alike(one: str, other: str, about: str = "", other_about: str = "") -> float:
    """How far two corrections ask for the same, in [0, 1].

    Args:
        one: words of a user's.
        other: others.
        about: the call that the first were said of; empty for none.
        other_about: that of the others.
    """
    first, second = _weights(one, about), _weights(other, other_about)
    total = sum(first.values()) + sum(second.values())
    return _shared(first, second) / total if total else 0.0


def keys(words: str, about: str = "") -> frozenset[str]:
    """Beginnings of the telling words: two corrections that share none are not alike."""
    return frozenset(word[:_LEAST] for word, _ in _weights(words, about))


@lru_cache(maxsize=2048)
def _weights(words: str, about: str) -> "dict[Marked, float]":
    return dict(_weighed(words, about))


def _shared(first: "Mapping[Marked, float]", second: "Mapping[Marked, float]") -> float:
    left = dict(second)
    shared = 0.0
    for marked, weight in first.items():
        best = next((other for other in left if _same(marked, other)), None)
        if best is not None:
            shared += weight + left.pop(best)
    return shared


def _same(one: Marked, other: Marked) -> bool:
    return one[1] * other[1] >= 0 and _forms_of_one(one[0], other[0])


def _forms_of_one(one: str, other: str) -> bool:
    """Whether two words are the same but for their ending."""
    if one == other:
        return True
    shorter = min(len(one), len(other))
    if shorter < _LEAST or re.search(_WIDE, one + other):
        return False
    common = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    return common >= max(_LEAST, round(0.75 * max(len(one), len(other))))


def _weighed(words: str, about: str) -> "Iterator[tuple[Marked, float]]":
    said: set[str] = set()
    for clause in re.split(_CLAUSE, words.lower().replace("’", "'")):
        for word, sign in _signed(clause):
            said.add(word)
            yield (word, sign), _WEAK if word in GENERIC else 1.0
    for word in _words(about.lower()):
        if word not in said:
            yield (word, 0), _WEAK * _ABOUT if word in GENERIC else _ABOUT


def _signed(clause: str) -> "Iterator[Marked]":
    if re.search(_WIDE, clause):
        marks = [mark for mark in DENIALS if mark in clause and re.search(_WIDE, mark)]
        for mark in sorted(marks, key=len, reverse=True):
            clause = clause.replace(mark, " ")
        yield from ((word, -1 if marks else 1) for word in _words(clause))
        return
    said = re.findall(_WORD, clause)
    sign = -1 if not SPOILERS.isdisjoint(said) else 1
    for each in said:
        if each in DENIALS:
            sign = -1
        elif each not in SPOILERS:
            yield from ((word, sign) for word in _words(each))


def _words(text: str) -> "Iterator[str]":
    """The telling words of a text; of `test:ci` and `src/app.py` their parts; of unspaced scripts pairs of signs."""
    for found in re.finditer(rf"{_WIDE}+|[a-zà-ÿ0-9ß-ɏ]+", text):
        word = found[0]
        if re.match(_WIDE, word):
            pairs = (word[i : i + 2] for i in range(len(word) - 1))
            yield from (pair for pair in pairs if not re.search(_PARTICLES, pair))
        elif word not in LIGHT and word not in DENIALS and (len(word) > 1 or word.isdigit()):
            yield word
