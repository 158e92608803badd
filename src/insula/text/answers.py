"""What a text must hold to answer a question of a kind, a number for "how many", a date for "when"; and how it speaks.

The words of each language stand in `answers.json`, numbers that are written as words in `numerals.json`. A wrong number
holds as much as a right one: nothing here knows what is true. That a text declines, hedges or is informal, or
that a user wants it said again, is told by the phrases of `manner.json`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Literal

from insula.text.analysis import LANGUAGES, words_of
from insula.text.grammar import UNSPACED, compile_words
from insula.text.tables import load_table

_WORD = re.compile(r"\w+")
_NUMERALS = re.compile("[一二两三四五六七八九十百]+")
_TENS = re.compile("[十百]")


def number_words(text: str, language: str) -> set[int]:
    """The numbers that stand in a text as words, but for one, which is an article as well."""
    if language not in LANGUAGES:
        return set()
    known = load_numerals(language)
    if language in UNSPACED:
        numbers = {_compose_number(run, known) for run in _NUMERALS.findall(text)}
    else:
        numbers = {known.get(word, 0) for word in _WORD.findall(text.lower())}
    return {value for value in numbers if value > 1}


def _compose_number(run: str, known: Mapping[str, int]) -> int:
    """The number that Chinese numerals in a row make ("二十三")."""
    if not _TENS.search(run):
        return known.get(run, 0) or known.get(run[:1], 0)
    hundreds, _, rest = run.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    value = 100 * (known.get(hundreds, 0) or 1) if "百" in run else 0
    return value + (10 * (known.get(tens, 0) or 1) if ten else 0) + known.get(ones, 0)


@cache
def load_numerals(language: str) -> dict[str, int]:
    """The number that each word of a language means."""
    pairs = (pair.split("=") for pair in load_table("numerals.json")[language].split())
    return {word: int(value) for word, value in pairs}


AskKind = Literal[
    "yes_no",
    "number",
    "person",
    "place",
    "time",
    "choice",
    "list",
    "how_to",
    "why",
    "code",
    "name",
    "open",
    "request",
]
"""What a question or request asks for; "open" and "request" ask for nothing in particular."""

COUNTED: frozenset[AskKind] = frozenset({"number", "time"})
NAMED: frozenset[AskKind] = frozenset({"place", "person", "name"})
VALUED: frozenset[AskKind] = COUNTED | NAMED
"""Kinds of things of which it can be told whether a text holds one."""
PICKED: frozenset[AskKind] = frozenset({"open", "choice"})
"""What may be answered by a value of any kind."""
SAID: frozenset[AskKind] = VALUED | PICKED
"""What is answered by a value that somebody once said."""
MAX_CHARS = 8_000
"""A text is searched up to here; an answer that comes later is not the answer of a reply."""

_CODE = re.compile(
    r"`|^(?: {4}|\t)\S|[{};]\s*$|^\s*(?:def|class|import|from|SELECT|#include|function|const|let|var)\b|\w\(\S*\)", re.M
)
_NUMBER = re.compile(r"[½¼¾⅓⅔∞π]|\d[\d.,:/]*")
_ROMAN = re.compile(
    r"(?<![\w'])(?=[IVXLC]{2}|[VX](?!\w))C{0,3}(?:X[LC]|L?X{0,3})(?:I[VX]|V?I{0,3})(?:e|è?me|\.|º|°)?(?!\w)"
)
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_ORDINAL = re.compile(r"^\s*\(?\d{1,2}[.)、]\s", re.M)
_DATE = re.compile(r"\d")
_CAPITALISED = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-Þ][\w'-]*")
_NAME_SPAN = re.compile(
    r"(?<!\w)[A-ZÀ-ÖØ-Þ][\w'-]*(?:\s(?:(?:d[aeiou]|de la|del|della|van|von|der|la|le|of|the)\s)?[A-ZÀ-ÖØ-Þ][\w'-]*)*"
)
_FEW = 3
_CLOCK = 6
"""A number in so few words may be an hour ("at nine")."""

_BRIEF_CHARS = 30
_OPENING = 200


def is_told(kind: AskKind) -> bool:
    """Whether `carries_answer` knows what could answer a question of this kind; of others it lets everything pass."""
    return kind in VALUED or kind == "code"


def carries_answer(kind: AskKind, text: str, language: str) -> bool:
    """Whether `text` holds something that could answer a question of this kind.

    Outside the known languages only numbers, dates in digits and code can be told; everything else is let pass.
    """
    text = text[:MAX_CHARS].replace("’", "'")
    if not any(map(str.isalnum, text)):
        return False
    match kind:
        case "code":
            return bool(_CODE.search(text))
        case "number":
            return _holds_number(text, language)
        case "time":
            return _holds_time(text, language)
        case "place" | "person":
            return _holds_name(text, language) or _says_word(language, kind, text)
        case "name":
            return _holds_name(text, language) or len(text.split()) <= _FEW
        case _:
            return True


def _holds_number(text: str, language: str) -> bool:
    if numbers_in(text) or _ROMAN.search(text):
        return True
    return language in LANGUAGES and (
        _says_word(language, "number", text) or (_is_brief(text) and _says_word(language, "brief", text))
    )


def _is_brief(text: str) -> bool:
    """Two or three words: there "one" is a number and no pronoun, "un" no article."""
    return len(text) <= _BRIEF_CHARS and len(text.split()) <= _FEW


def numbers_in(text: str) -> list[str]:
    """The numbers of a text in digits; not the year that something happened in, nor the number of a list item."""
    if not _NUMBER.search(text, 0, MAX_CHARS):  # as in most
        return []
    rest = _ORDINAL.sub("", text[:MAX_CHARS])
    several = len(rest.split()) > _FEW
    return [number for number in _NUMBER.findall(rest) if not (several and _YEAR.fullmatch(number.rstrip(".,:")))]


def _holds_time(text: str, language: str) -> bool:
    if _DATE.search(text) or _ROMAN.search(text) or _says_word(language, "time", text):
        return True
    return len(text.split()) <= _CLOCK and _says_word(language, "number", text)


def _holds_name(text: str, language: str) -> bool:
    """Whether a text may hold a name; where nothing has a capital, as in Chinese or in haste, it always may."""
    return text == text.lower() or next(_find_names(text, language), None) is not None


def names_in(text: str, language: str) -> set[str]:
    """The words of a text that could be names, in lower case: capitalised and no function words."""
    return {*_find_names(text, language)}


def _find_names(text: str, language: str) -> Iterator[str]:
    function = words_of("function", language)
    words = (match.group().lower() for match in _CAPITALISED.finditer(text, 0, MAX_CHARS))
    return (word for word in words if word not in function and word.partition("'")[0] not in function)


def name_count(text: str, language: str, but: Collection[str]) -> int:
    """How many things with a name a text holds ("Leonardo da Vinci" is one), without the lower-case words of `but`."""
    names = names_in(text, language) - frozenset(but)
    spans = (_CAPITALISED.findall(span.group()) for span in _NAME_SPAN.finditer(text[:MAX_CHARS]))
    return sum(1 for span in spans if any(word.lower() in names for word in span))


def says_yes(text: str, language: str) -> bool | None:
    """Whether a text opens with yes (true) or no (false); `None` where it does neither."""
    opening = text[:_OPENING].replace("’", "'").lstrip(' \n"“«„「¡')
    if _opens_with(language, "no", opening) and not _opens_with(language, "yes", opening):
        return False
    if _opens_with(language, "yes", opening) and not _opens_with(language, "no", opening):
        return True
    return None


def _opens_with(language: str, words_name: str, clause: str) -> bool:
    return language in LANGUAGES and bool(_word_pattern(language, words_name).match(clause.lstrip().lower()))


def _says_word(language: str, words_name: str, text: str) -> bool:
    """Whether a text says a word of a list; true where the language has no list."""
    return language not in LANGUAGES or bool(_word_pattern(language, words_name).search(text.lower()))


@cache
def _word_pattern(language: str, words_name: str) -> re.Pattern[str]:
    """A list of words, to be searched for in lower case: where case is ignored a search takes four times as long."""
    return compile_words(load_table("answers.json")[language][words_name], language)


MANNER_CHARS = 4_000
"""A text is read up to here: what it says of itself, it says early."""

_GLANCE = 120
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\U0001f1e6-\U0001f1ff]")
_LOUD = re.compile(r"[!！]{2,}|[?？][!！]|[!！][?？]")


def declines_answer(text: str, language: str) -> bool:
    """Whether a text says that it cannot, will not or does not know."""
    return _matches_manner("decline", text, language)


def apologises(text: str, language: str) -> bool:
    """Whether a text is sorry, or says that it found or understood nothing; in English where its language is none."""
    return _matches_manner("sorry", text, language if language in LANGUAGES else "en")


def says_untold(text: str, language: str) -> bool:
    """Whether a text says that one was never told."""
    return _matches_manner("untold", text, language)


def refuses_request(text: str, language: str) -> bool:
    """Whether a text turns the request itself down ("I cannot help with that"), and not merely what is not known."""
    return _matches_manner("refuse", text, language)


def is_harmful(text: str, language: str) -> bool:
    """Whether a message names what an assistant may well refuse to help with."""
    return _matches_manner("harm", text, language)


def opens_with_subject(text: str, language: str) -> bool:
    """Whether a text opens by speaking of a thing of its own, and of neither of two that were named before."""
    glance = text[:_GLANCE]
    return _matches_manner("subject", glance, language) and not _matches_manner("one_of", glance, language)


def hedges_answer(text: str, language: str) -> bool:
    """Whether a text already says that it is not certain."""
    return _matches_manner("hedge", text, language)


def wants_again(text: str, language: str) -> bool:
    """Whether a user asks for something to be said again."""
    return _matches_manner("again", text, language)


def is_informal(text: str) -> bool:
    """Whether a text uses emoji or doubled exclamation marks."""
    return bool(_EMOJI.search(text[:MANNER_CHARS]) or _LOUD.search(text[:MANNER_CHARS]))


def _matches_manner(manner: str, text: str, language: str) -> bool:
    plain = text[:MANNER_CHARS].replace("’", "'")
    return language in LANGUAGES and bool(_manner_pattern(manner, language).search(plain))


@cache
def _manner_pattern(manner: str, language: str) -> re.Pattern[str]:
    return compile_words(load_table("manner.json")[language][manner], language, re.IGNORECASE)
