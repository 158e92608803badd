"""A line of memory as the monitor reads it: its words, numbers and names, and whom each clause is about.

Beside them stands what can be compared in two texts without understanding either: numbers, days, months, and pairs of
words that exclude each other. The words of each language stand in `remembered.json`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from insula.caches import clear_on_erasure
from insula.language.owner import ASSISTANT, USER, find_owners, names_among, owners_may_match
from insula.text.analysis import LANGUAGES, content_words, detect_language, fold_accents, words_of
from insula.text.answers import numbers_in
from insula.text.grammar import UNSPACED, compile_words
from insula.text.numerals import number_words
from insula.text.questions import Ask
from insula.text.tables import load_table
from insula.turn.aim import wants_advice

CHARS = 400
"""So much of a text is read."""
NOON = 12
TERSE = 3
"""In so few words a name may begin the text."""
START_CHARS = 40
"""So much before a word tells whether a sentence begins with it."""

Sort = Literal["months", "days"]
"""Closed sets of words of which one excludes the others."""
SORTS: tuple[Sort, ...] = ("months", "days")

_DATED = re.compile(r"\s*[(（](?P<date>[^()（）]{4,40}\d{4}|\d{4}[^()（）]{0,24})[)）]\s*$")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CAPITAL = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-Þ][\w'’-]*")
_SENTENCE = re.compile(r"(?:^|[.!?:]\s+|\n\s*)[\"“«„(]*$")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_WHOLE = re.compile(r"\.0+$")
_UNIT = re.compile(r"\d ?([^\W\d_]{1,12}|[€$£%])")
_COUNTER = re.compile(r"\d ?([^\W\d_])|[一二三四五六七八九十两]([^\W\d_])")
_CLAUSE = re.compile(r"(?:[;!?。；：！？，、]|[.,:](?!\d))+")
_ANYBODY = frozenset({f"{USER}/person"})
"""Whom "the first woman in space" may be: nobody of the user's."""


class MemoryLine(NamedTuple):
    """A line of memory: what is said, and of whom."""

    text: str
    raw: str
    """As it stood before the model."""
    words: frozenset[str]
    numbers: frozenset[str]
    subjects: frozenset[str]
    clauses: tuple[frozenset[str], ...]
    """The beings of each clause; none: it names nobody and may be of anybody ("No, in Granada")."""
    language: str

    def may_be_of(self, owners: frozenset[str]) -> bool:
        """Whether a clause may be about some beings."""
        return any(not clause or owners_may_match(owners, clause) for clause in self.clauses)


@clear_on_erasure
@lru_cache(maxsize=512)
def read_line(text: str, language: str, raw: str = "") -> MemoryLine:
    """Read a line of memory; its date is no value of its own. `raw` is the whole of which it is a part."""
    whole = text if raw else _DATED.sub("", text.strip().removeprefix("- ").strip())
    plain = whole[:CHARS]
    detected = detect_language(plain, language)
    own = detected if detected in LANGUAGES else language
    clauses = [find_owners(each, own, USER, ASSISTANT) for each in _CLAUSE.split(plain) if any(map(str.isalnum, each))]
    subjects = frozenset[str]().union(*(each.subjects & each.mentions for each in clauses))
    of = tuple(each.subjects | each.mentions if each.mentions else frozenset[str]() for each in clauses)
    return MemoryLine(plain, raw or whole, content_words(plain, own), find_numbers(plain, own), subjects, of, own)


def split_by_person(line: MemoryLine, owners: frozenset[str]) -> list[MemoryLine]:
    """A line that tells of some beings and of others, in the part about those and the part about these; else whole.

    A clause that names nobody goes on with the one before it. Where no name is asked for, a name may be anybody's.
    """
    clauses = [each.strip() for each in _CLAUSE.split(line.text) if any(map(str.isalnum, each))]
    parts: dict[bool, list[str]] = {True: [], False: []}
    about, fitting = True, False
    for clause, beings in zip(clauses, line.clauses, strict=False):
        kin = any("/" in being for being in beings)
        if kin or (names_among(beings) and names_among(owners)) or beings == owners:
            about = owners_may_match(owners, beings)
            fitting = fitting or about
        parts[about].append(clause)
    if not owners or not fitting or not parts[False]:
        return [line]
    return [read_line(", ".join(part), line.language, line.raw) for part in parts.values()]


def is_about_user(ask: Ask, language: str) -> bool:
    """Whether a question is about the user, their people or their things."""
    if language not in LANGUAGES or wants_advice(ask, language):
        return False
    paths = find_owners(ask.text, language, USER, ASSISTANT).mentions
    return any(path == USER or path.startswith(f"{USER}/") for path in paths - _ANYBODY)


# Numbers and names


@clear_on_erasure
@lru_cache(maxsize=1_024)
def find_numbers(text: str, language: str) -> frozenset[str]:
    """The numbers of a text in digits, those in words among them; of a time of day its hour, too."""
    digits = {_plain_number(each.rstrip(".,:")) for each in numbers_in(text)} | set(_YEAR.findall(text))
    digits |= {str(number) for number in number_words(text, language)}
    digits |= {hour for each in digits if ":" in each for hour in _spoken_hours(each, language)}
    return frozenset(_WHOLE.sub("", each) if "." in each else each for each in digits)


def _plain_number(number: str) -> str:
    """A number without the marks between its thousands, and a point before its fraction."""
    if _THOUSANDS.fullmatch(number):
        return re.sub("[.,]", "", number)
    return number.replace(",", ".")


def _spoken_hours(clock: str, language: str) -> Iterable[str]:
    """An hour as it may be told: "half past six" for 18:30, which in German is "halb sieben"."""
    hour, _, minutes = clock.partition(":")
    yield hour
    if hour.isdigit():
        told = [int(hour), int(hour) + 1] if language == "de" and minutes == "30" else [int(hour)]
        yield from (str(number - NOON if number > NOON else number) for number in told)


def find_names(text: str, language: str) -> frozenset[str]:
    """The capitalised words of a text where no sentence begins, and those of a text of few words; accents apart."""
    few = len(text.split()) <= TERSE
    capitals = _CAPITAL.finditer(text)
    within = (match.group() for match in capitals if few or not _begins_sentence(text, match.start()))
    return _fold_words(within, language)


def _begins_sentence(text: str, at: int) -> bool:
    """Whether a sentence begins at a place in a text."""
    return bool(_SENTENCE.search(text, max(0, at - START_CHARS), at))


def capitalised_words(text: str, language: str) -> frozenset[str]:
    """The capitalised words of a text, where a sentence begins, too; without accents."""
    return _fold_words(_CAPITAL.findall(text), language)


def _fold_words(words: Iterable[str], language: str) -> frozenset[str]:
    function = words_of("function", language)
    return frozenset(fold_accents(lower) for word in words if (lower := word.lower()) not in function)


def find_units(text: str, language: str) -> frozenset[str]:
    """The words that numbers in digits are followed by ("720 euros"), or the character that counts."""
    if language in UNSPACED:
        return frozenset(map("".join, _COUNTER.findall(text)))
    function = words_of("function", language)
    return frozenset(
        unit for match in _UNIT.findall(text[:CHARS]) if (unit := match.lower()) not in function or len(unit) == 1
    )


# What excludes each other


@clear_on_erasure
@lru_cache(maxsize=1_024)
def find_values(text: str, language: str) -> Mapping[Sort, frozenset[str]]:
    """Which months, days and the like a text names, each by its place in the list."""
    text = text[:CHARS]
    return {
        sort: frozenset(str(i) for i, each in enumerate(_listed_patterns(sort, language)) if each.search(text))
        for sort in SORTS
    }


@cache
def _listed_patterns(sort: Sort, language: str) -> tuple[re.Pattern[str], ...]:
    known: str = load_table("remembered.json", __package__)[language][sort]
    return tuple(compile_words(each.replace("_", " "), language, re.IGNORECASE) for each in known.split())
