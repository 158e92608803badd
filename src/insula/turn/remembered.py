"""A line of memory as the monitor reads it: its words, numbers and names, and whom each clause is about.

Beside them stands what can be compared in two texts without understanding either: numbers, days, months, and pairs of
words that exclude each other. The words of each language stand in `remembered.json`.

Whether a question asks for what only its user can have told is read by its words here, since an answer is judged
without vectors, too; what may stand before the model is decided by meaning (`gate.py`). The form is strict. It asks
what was told before ("Do you remember where I live?"), or it asks for a name, an age, a birthday, a home, a job or the
like of the user or of somebody of theirs, and names nothing else ("How old is my sister?"; not "How old should …", "How
old is my sister in dog years?"). Advice, how and why are never of it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from insula.caches import clear_on_erasure
from insula.language.owner import ASSISTANT, USER, find_owners, load_lexicon, names_among, owners_may_match
from insula.text.analysis import LANGUAGES, content_words, detect_language, fold_accents, term_of, words_of
from insula.text.answers import SAID, AskKind, number_words, numbers_in
from insula.text.grammar import UNSPACED, compile_words
from insula.text.questions import Ask
from insula.text.tables import load_table

_WORDS = "aim.json"
_WHO: frozenset[AskKind] = frozenset({"person", "name", "number"})
"""Of somebody alone these ask what one must have been told: "Who is my dentist?", "How many sisters do I have?"."""
_WORD = re.compile(r"\w+")


def asks_only_user(ask: Ask, language: str) -> bool:
    """Whether a question asks for what only its user can have told; see the module."""
    if language not in LANGUAGES or wants_advice(ask, language):
        return False
    text = ask.text.replace("’", "'")
    if not _is_of_user(text, language):
        return False
    return _matches_phrase("remember", text, language) or (ask.kind in SAID and _names_slots_alone(ask, text, language))


def wants_advice(ask: Ask, language: str) -> bool:
    """Whether a question asks for advice or help, which no memory holds."""
    return language in LANGUAGES and _matches_phrase("advice", ask.text.replace("’", "'"), language)


def _is_of_user(text: str, language: str) -> bool:
    """Whether a question speaks of the user, or of somebody who is called theirs: not of any dog, but of my dog."""
    of = find_owners(text, language, USER, ASSISTANT).mentions - _ANYBODY
    if USER in of or language in UNSPACED:
        return any(path == USER or path.startswith(f"{USER}/") for path in of)
    own = load_lexicon(language).words["first_own"]
    return any(path.startswith(f"{USER}/") for path in of) and any(
        fold_accents(word) in own for word in _WORD.findall(text)
    )


def _names_slots_alone(ask: Ask, text: str, language: str) -> bool:
    """Whether a question names people, animals and slots, and nothing else."""
    known, beings = slot_words(language), _being_words(language)
    if language in UNSPACED:
        left = re.sub("|".join(map(re.escape, sorted(known | beings, key=len, reverse=True))), " ", text)
        other, held = [term for term in ask.terms if term in left], any(slot in text for slot in known)
    else:
        terms = frozenset(ask.terms)
        # Stems differ with and without accents ("cão"), and the table has none.
        named = {
            term_of(word, language)
            for word in _WORD.findall(text)
            if fold_accents(word.lower()) in load_lexicon(language).beings
        }
        other, held = terms - known - beings - named, not known.isdisjoint(terms)
    return not other and (held or ask.kind in _WHO)


@cache
def slot_words(language: str) -> frozenset[str]:
    """What a value of somebody's is called: a name, an age, a home; by its stem where words stand apart."""
    words = load_table(_WORDS, __package__)[language]["slots"].split()
    return frozenset(
        words if language in UNSPACED else (term_of(fold_accents(word), language) or word for word in words)
    )


@cache
def _being_words(language: str) -> frozenset[str]:
    words = load_lexicon(language).beings
    return frozenset(words if language in UNSPACED else (term_of(word, language) or word for word in words))


def _matches_phrase(phrases_name: str, text: str, language: str) -> bool:
    return bool(_compile_phrase(phrases_name, language).search(text))


@cache
def _compile_phrase(what: str, language: str) -> re.Pattern[str]:
    return compile_words(load_table(_WORDS, __package__)[language][what], language, re.IGNORECASE)


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
