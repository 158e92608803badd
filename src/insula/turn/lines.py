"""A line of memory as the monitor reads it: its words, its numbers and names, and whom each clause is about."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from insula.memory.encoding import ASSISTANT, USER
from insula.memory.subject import fits, people, whose
from insula.text.analysis import LANGUAGES, content_words, detect, fold, term_of, words_of
from insula.text.answers import numbers_in
from insula.text.constraint_phrases import number_words
from insula.text.coverage import Reply
from insula.text.grammar import UNSPACED

LINE_CHARS = 400
"""So much of a line is read."""
NOON = 12
TERSE = 3
"""In so few words a name may begin the text."""

_DATED = re.compile(r"\s*[(（](?P<date>[^()（）]{4,40}\d{4}|\d{4}[^()（）]{0,24})[)）]\s*$")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CAPITAL = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-Þ][\w'’-]*")
_START_CHARS = 40
"""So much before a word tells whether a sentence begins with it."""
_SENTENCE = re.compile(r"(?:^|[.!?:]\s+|\n\s*)[\"“«„(]*$")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_WHOLE = re.compile(r"\.0+$")
_UNIT = re.compile(r"\d ?([^\W\d_]{1,12}|[€$£%])")
_CLAUSE = re.compile(r"(?:[;!?。；：！？，、]|[.,:](?!\d))+")
_PUNCTUATION = re.compile(r"[^\w\s]+")
_QUOTED = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』\n]{4,200})[\"“”»」』]")
_JOINED = re.compile(r"[\s:,.]+")


def may_be_of(clauses: Iterable[frozenset[str]], owners: frozenset[str]) -> bool:
    """Whether one of some clauses may be about some beings."""
    return any(not clause or fits(owners, clause) for clause in clauses)


def undated(text: str) -> str:
    """A line without the bullet and the date that it stands with before a model."""
    return _DATED.sub("", text.strip().removeprefix("- ").strip())


class Line(NamedTuple):
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
        return may_be_of(self.clauses, owners)


@lru_cache(maxsize=512)
def line(text: str, language: str, raw: str = "") -> Line:
    """A line of memory, read once; its date is no value of its own. `raw` is the whole of which it is a part."""
    whole = text if raw else undated(text)
    plain = whole[:LINE_CHARS]
    own = _language_of(plain, language)
    clauses = [whose(each, own, USER, ASSISTANT) for each in _CLAUSE.split(plain) if any(map(str.isalnum, each))]
    subjects = frozenset[str]().union(*(each.subjects & each.mentions for each in clauses))
    of = tuple(each.subjects | each.mentions if each.mentions else frozenset[str]() for each in clauses)
    return Line(plain, raw or whole, content_words(plain, own), numbers(plain, own), subjects, of, own)


class Stretch(NamedTuple):
    """Clauses of a line that are about the same people."""

    text: str
    clauses: tuple[frozenset[str], ...]


def by_person(one: Line) -> list[Stretch]:
    """A line in stretches that are each about the same people ("My sister paints, my brother sings")."""
    if len(set(one.clauses) - {frozenset[str]()}) < 2:
        return [Stretch(one.text, one.clauses)]
    clauses = [each.strip() for each in _CLAUSE.split(one.text) if any(map(str.isalnum, each))]
    found: list[Stretch] = []
    last: frozenset[str] = frozenset()
    for clause, of in zip(clauses, one.clauses, strict=False):
        if found and (not of or of == last):
            found[-1] = Stretch(f"{found[-1].text}, {clause}", (*found[-1].clauses, of))
        else:
            found, last = [*found, Stretch(clause, (of,))], of
    return found


def _language_of(text: str, likely: str) -> str:
    """The language of a line: the likely one where a function word of it speaks for it, else what it is found to be."""
    if likely not in UNSPACED and text.isascii():
        words = text.lower().split()
        if sum(1 for word in words if word in words_of("function", likely)) * 4 >= len(words):
            return likely
    found = detect(text, likely)
    return found if found in LANGUAGES else likely


@lru_cache(maxsize=512)
def numbers(text: str, language: str) -> frozenset[str]:
    """The numbers of a text in digits, those in words among them."""
    found = {_plain(each.rstrip(".,:")) for each in numbers_in(text)} | set(_YEAR.findall(text))
    if language in LANGUAGES:
        found |= {str(value) for value in number_words(text, language)}
    found |= {hour for each in found if ":" in each for hour in _hours(each, language)}
    return frozenset(_WHOLE.sub("", each) if "." in each else each for each in found)


def _plain(number: str) -> str:
    """A number without the marks between its thousands, and a point before its fraction."""
    if _THOUSANDS.fullmatch(number):
        return re.sub("[.,]", "", number)
    return number.replace(",", ".")


def _hours(clock: str, language: str) -> Iterable[str]:
    """An hour as it may be told: "half past six" for 18:30, which in German is "halb sieben"."""
    hour, _, minutes = clock.partition(":")
    yield hour
    if hour.isdigit():
        told = [int(hour), int(hour) + 1] if language == "de" and minutes == "30" else [int(hour)]
        yield from (str(one - NOON if one > NOON else one) for one in told)


def names(text: str, language: str) -> frozenset[str]:
    """The capitalised words of a text where no sentence begins, and those of a text of few words; accents apart."""
    few = len(text.split()) <= TERSE
    function = words_of("function", language)
    return frozenset(
        fold(match.group().lower())
        for match in _CAPITAL.finditer(text)
        if (few or _is_within(text, match.start())) and match.group().lower() not in function
    )


def _is_within(text: str, at: int) -> bool:
    """Whether a place in a text is within a sentence and not where one begins."""
    return not _SENTENCE.search(text, max(0, at - _START_CHARS), at)


def capitals(text: str, language: str) -> frozenset[str]:
    """The capitalised words of a text, where a sentence begins, too; without accents."""
    function = words_of("function", language)
    found = (match.group().lower() for match in _CAPITAL.finditer(text))
    return frozenset(fold(word) for word in found if word not in function)


def people_of(one: Line) -> frozenset[str]:
    """The people whom a line is about, each word of "my sister's son"."""
    return frozenset(part for path in one.subjects for part in path.split("/"))


def shared(asked: frozenset[str], one: Line, language: str) -> int:
    """How many of some words stand in a line, in whatever form."""
    held = {term_of(word, language) or word for word in one.words}
    return sum(1 for word in asked if (term_of(word, language) or word) in held)


def beside_quotations(reply: Reply, lines: Iterable[Line]) -> Reply | None:
    """What a response says beside the lines that it quotes; None where it quotes none."""
    quoted = [bare(text) for text in _QUOTED.findall(reply.text)]
    held = [bare(one.text) for one in lines] if any(quoted) else []
    if not any(text and text in one for text in quoted for one in held):
        return None
    return Reply(_QUOTED.sub(" ", reply.text), reply.language)


def bare(text: str) -> str:
    """A text in lower case, without its punctuation."""
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())


def units(text: str) -> frozenset[str]:
    """The words that numbers in digits are followed by ("720 euros")."""
    return frozenset(match.lower() for match in _UNIT.findall(text[:LINE_CHARS]))


@lru_cache(maxsize=512)
def exact(text: str, language: str) -> frozenset[str]:
    """The words of a text as they are written, in lower case; of an unspaced one the people in it."""
    if language in UNSPACED:
        return frozenset(word for word in people(language).beings if word in text)
    words = _JOINED.split(re.sub(r"[^\w\s'’-]", " ", text.lower()))
    return frozenset(fold(word) for word in words if word)
