"""Values that exclude each other: where a line holds one number, month, day or time of day, a reply has another.

Nothing is worked out: what may follow from a line by counting or converting ("two weeks", "6 feet") is no rival.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Literal

from insula.text.analysis import content_words, words_of
from insula.text.answers import numbers_in
from insula.text.grammar import UNSPACED
from insula.turn.lines import numbers, units
from insula.turn.values import kinds_of, says

Sort = Literal["number", "day", "month", "part", "colour", "season"]

_SORTS: tuple[Sort, ...] = ("month", "day", "part", "colour", "season", "number")
_CLAUSE = re.compile(r"(?:[;!?。；：！？，、]|[.,:](?!\d))+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_FEW = 12
_COUNTER = re.compile(r"\d ?([^\W\d_])|[一二三四五六七八九十两]([^\W\d_])")


def differs(said: str, held: str, elsewhere: Iterable[str], language: str, *, dated: bool, counted: bool) -> bool:
    """Whether a reply says one value of a sort of which a line holds another one, and which stands nowhere else.

    Args:
        said: the reply.
        held: what the line says of it.
        elsewhere: the message, and other lines.
        language: theirs.
        dated: a date is asked for, so that two numbers beside the same month are days of it.
        counted: a number is asked for, which may be one more or less than the line's ("the youngest of four").
    """
    mine, theirs = _values(said, language), _values(held, language)
    known = [_values(text, language) for text in elsewhere]
    units_alike = bool(_units(said, language) & _units(held, language))
    for sort in _SORTS:
        one, other = mine[sort], theirs[sort]
        if len(one) != 1 or len(other) != 1:
            if one & other:
                return False
            continue
        if one == other:
            if sort == "month" and dated:
                continue
            return False
        if any(one & each[sort] for each in known):
            return False
        if sort == "number" and counted and not units_alike and _next_to(*one, *other):
            return False
        return sort != "number" or _numbers_differ(said, held, mine, theirs, known, language)
    return False


Values = Mapping[Sort, frozenset[str]]


def _numbers_differ(said: str, held: str, mine: Values, theirs: Values, known: Iterable[Values], language: str) -> bool:
    """Whether two lone numbers can be compared: both years or neither, both of a date or neither, of no two units."""
    one, other = mine["number"], theirs["number"]
    if len(one) != 1 or len(other) != 1 or one == other or any(one & each["number"] for each in known):
        return False
    years = [bool(_YEAR.fullmatch(value)) for value in (*one, *other)]
    dated = [bool(each["month"] or each["day"]) for each in (mine, theirs)]
    in_digits = [bool(numbers_in(text)) for text in (said, held)]
    clock = any(":" in value for value in (*one, *other))
    if years[0] != years[1] or dated[0] != dated[1] or (clock and in_digits[0] != in_digits[1]):
        return False
    if clock and _hour(*one) == _hour(*other):
        return False
    if all(dated):
        return True
    function = words_of("function", language)
    measured = [frozenset(unit for unit in _units(text, language) if unit not in function) for text in (said, held)]
    return not (all(measured) and measured[0].isdisjoint(measured[1])) and not _sums(one, other, held, language)


def _next_to(one: str, other: str) -> bool:
    return one.isdigit() and other.isdigit() and max(int(one), int(other)) <= _FEW and abs(int(one) - int(other)) == 1


def _units(text: str, language: str) -> frozenset[str]:
    return frozenset(map("".join, _COUNTER.findall(text))) if language in UNSPACED else units(text)


def _sums(one: Collection[str], other: Collection[str], held: str, language: str) -> bool:
    """Whether the reply may count something more of the line ("three brothers and a sister": four)."""
    value, base = (next(iter(each)).replace(".", "", 1) for each in (one, other))
    more = value.isdigit() and base.isdigit() and int(base) < int(value) <= int(base) + 2
    return more and says("more", held, language)


def _hour(value: str) -> tuple[int, str]:
    hour, _, minutes = value.partition(":")
    return (int(hour) % 12 if hour.isdigit() else -1, minutes or "00")


@lru_cache(maxsize=1_024)
def _values(text: str, language: str) -> Values:
    found = numbers(text, language)
    clock = {value.partition(":")[0] for value in found if ":" in value}
    return {
        "number": frozenset(value for value in found if value not in clock),
        "day": kinds_of("days", text, language),
        "month": kinds_of("months", text, language),
        "part": kinds_of("parts", text, language),
        "colour": kinds_of("colours", text, language),
        "season": kinds_of("seasons", text, language),
    }


def beside(asked: Collection[str], held: str, language: str) -> str:
    """The clause of a line that alone speaks of what is asked about and holds a value; else the whole line."""
    clauses = [each for each in _CLAUSE.split(held) if any(_values(each, language).values())]
    if len(clauses) < 2:
        return held
    about = [each for each in clauses if content_words(each, language) & frozenset(asked)]
    return about[0] if len(about) == 1 else held


def own_verb(question: str, language: str) -> bool:
    """Whether a question has a verb in the first person and no pronoun ("Quando consegno la tesi?")."""
    return says("mine", question, language)


def counted_alike(question: str, held: str, language: str) -> bool:
    """Chinese and Japanese: whether a line counts with the word that the question asks for ("何人", "15人")."""
    return language in UNSPACED and any(unit in question for unit in _units(held, language))
