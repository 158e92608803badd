"""What can be compared in two texts without understanding: measures, days, opposites, and what a text denies.

The words of each language stand in `known.json`.
"""

import json
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, Self

from insula.text.analysis import content_words, words_of
from insula.text.grammar import UNSPACED

CHARS = 400
"""So much of a text is read."""

_MEASURE = re.compile(
    r"(?:([^\W\d_]{2,})[ :#]*)?(?<![\w.,:/-])(\d{1,7}(?:[.,]\d{1,3})?)(?![\w.,:/-]*\d)(?: ?([^\W\d_]{1,12}|[€$£%]))?"
)
_CLAUSE = re.compile(r"(?:[;!?。；：！？，、]|[.,:](?!\d))+")

Pairs = tuple[re.Pattern[str], re.Pattern[str]]


class Values(NamedTuple):
    """The values of a text that have a kind: measures by the word beside them, and days of the week."""

    measures: frozenset[tuple[str, str]]
    days: frozenset[int]

    @classmethod
    def of(cls, text: str, language: str) -> Self:
        """Read a text."""
        return cls(*_values(text[:CHARS], language))

    def is_of(self, other: Self) -> bool:
        """Whether one of these values stands in another text."""
        return bool(self.measures & other.measures or self.days & other.days)

    def rivals(self, other: Self) -> bool:
        """Whether another text has other values of the same kind, and none of these."""
        if self.is_of(other):
            return False
        mine, theirs = ({word for word, _ in each.measures} for each in (self, other))
        return bool(mine & theirs) or bool(self.days and other.days)


@lru_cache(maxsize=1_024)
def _values(text: str, language: str) -> tuple[frozenset[tuple[str, str]], frozenset[int]]:
    function = words_of("function", language)
    measures = {
        (word.lower(), number.replace(",", "."))
        for before, number, after in _MEASURE.findall(text)
        for word in (before, after)
        if word and word.lower() not in function
    }
    days = (i for i, day in enumerate(_listed("days", language)) if day.search(text))
    return frozenset(measures), frozenset(days)


def parted(text: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the clauses that a text denies, and those of the clauses that it asserts."""
    denied, held = frozenset[str](), frozenset[str]()
    for clause in _CLAUSE.split(text[:CHARS]):
        for piece, negated in _pieces(clause, language):
            words = content_words(piece, language)
            denied, held = (denied | words, held) if negated else (denied, held | words)
    return denied, held


def _pieces(clause: str, language: str) -> list[tuple[str, bool]]:
    """What stands on either side of "but", and whether it is denied; in Japanese what comes before it is."""
    pieces = _pattern("but", language).split(clause)
    if language == "ja" and len(pieces) > 1:
        return [(piece, i < len(pieces) - 1) for i, piece in enumerate(pieces)]
    return [(piece, says("negation", piece, language)) for piece in pieces]


def kinds_of(what: str, text: str, language: str) -> frozenset[str]:
    """Which of the patterns of a list ("days", "months", "parts" of a day) a text holds, by their place in it."""
    return frozenset(str(i) for i, each in enumerate(_listed(what, language)) if each.search(text[:CHARS]))


def opposites(language: str) -> tuple[Pairs, ...]:
    """Pairs of words that exclude each other ("passed", "failed")."""
    return _opposites(language)


def side(pair: Pairs, text: str) -> int | None:
    """Which of two opposites a text names; None where it names neither, or both."""
    found = [bool(each.search(text[:CHARS])) for each in pair]
    return found.index(True) if sum(found) == 1 else None


def says(what: str, text: str, language: str) -> bool:
    """Whether a text holds one of the phrases of a kind: that something ended, is denied, or holds now."""
    return bool(_pattern(what, language).search(text.replace("’", "'")))


@cache
def _opposites(language: str) -> tuple[Pairs, ...]:
    pairs = (pair.split(" <> ") for pair in _data()[language]["opposites"].split(" ;; "))
    return tuple((_compiled(one, language), _compiled(other, language)) for one, other in pairs)


@cache
def _listed(what: str, language: str) -> tuple[re.Pattern[str], ...]:
    known = _data().get(language)
    return tuple(_compiled(one.replace("_", " "), language) for one in known[what].split()) if known else ()


@cache
def _pattern(what: str, language: str) -> re.Pattern[str]:
    return _compiled(_data()[language][what], language)


def _compiled(phrases: str, language: str) -> re.Pattern[str]:
    return re.compile(phrases if language in UNSPACED else rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)


@cache
def _data() -> dict[str, dict[str, str]]:
    return json.loads((files("insula.turn") / "known.json").read_text("utf-8"))
