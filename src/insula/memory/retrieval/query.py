"""What is compared in recall: who claims what about whom, in a text as it is stored, and what a message asks of memory.

The answer to "Where does Ana live?" is a sentence about Ana, not one that merely shares words with the question. So a
text is encoded sentence by sentence as claims: the people that it is about, and the terms said of them.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from insula.language.owner import ASSISTANT, short_name
from insula.text.analysis import Analysis, Sentence, stem_word, words_of
from insula.text.answers import AskKind
from insula.text.grammar import compile_words
from insula.text.questions import find_asks, find_assertions
from insula.text.tables import load_table
from insula.types import MemoryKind


class EncodedClaim(NamedTuple):
    """The terms of one sentence and the people it is about, lower-case."""

    owners: frozenset[str]
    terms: tuple[str, ...]


class Encoding(NamedTuple):
    """A text as it is stored: its claims, the names in it, and whether it asserts anything."""

    claims: tuple[EncodedClaim, ...]
    names: frozenset[str]
    kind: MemoryKind
    """`semantic` where a sentence asserts something, else `episodic` (a question, a greeting)."""

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(term for claim in self.claims for term in claim.terms)

    def dump_claims(self) -> str:
        """One line per claim: owners, a tab, terms."""
        return "\n".join(f"{' '.join(sorted(claim.owners))}\t{' '.join(claim.terms)}" for claim in self.claims)


def load_terms(dumped: str) -> list[str]:
    """The terms of the claims that `Encoding.dump_claims` wrote, in order and with repeats."""
    return [term for line in dumped.split("\n") if line for term in line.partition("\t")[2].split(" ")]


def encode_claims(analysis: Analysis, speaker: str, listener: str) -> Encoding:
    """Encode what `speaker` said to `listener`."""
    claims = (
        attribute_sentence(sentence, analysis.language, speaker, listener)
        for sentence in analysis.sentences
        if sentence.terms
    )
    kind: MemoryKind = "semantic" if find_assertions(analysis) else "episodic"
    names = frozenset[str]().union(*(named_in(sentence) for sentence in analysis.sentences))
    return Encoding(tuple(claims), names, kind)


def attribute_sentence(sentence: Sentence, language: str, speaker: str, listener: str) -> EncodedClaim:
    """Whom one sentence is about.

    "I" is the speaker and "you" the listener; names are themselves, but where a sentence says "I" or "you" the name of
    the listener only calls them ("Ana, I moved."). A sentence without either is the speaker's own ("Moved to Lisbon
    last week.").
    """
    spoken = {short_name(person) for person in list_persons(sentence, language, speaker, listener)}
    addressed = {short_name(speaker), short_name(listener)} if spoken else set[str]()
    named = named_in(sentence) - addressed
    return EncodedClaim(frozenset(spoken | named or {short_name(speaker)}), sentence.terms)


def named_in(sentence: Sentence) -> set[str]:
    """The names in a sentence as they are written, lower-case: a stem ("carolin") is nobody's name."""
    return {word.text.lower() for word in sentence.words if word.capital and word.term in sentence.names}


def list_persons(sentence: Sentence, language: str, speaker: str, listener: str) -> Iterable[str]:
    """`speaker` where the first person is used, `listener` where the second is."""
    spoken = {word.text.lower() for word in sentence.words}
    if spoken & words_of("first", language) or _holds_pronoun(sentence.text, "first", language):
        yield speaker
    if spoken & words_of("second", language) or _holds_pronoun(sentence.text, "second", language):
        yield listener


def _holds_pronoun(text: str, person: str, language: str) -> bool:
    """Chinese and Japanese write no spaces, so their pronouns are looked for in the text."""
    return language in {"zh", "ja"} and any(pronoun in text for pronoun in words_of(person, language))


PRIOR_SIZE = 100
"""Pseudo-memories that damp rarity while there are few real ones."""

MEAN_LENGTH = 8.0
"""Terms of a memory while none is stored yet."""

NAME_WEIGHT = 1.5
"""A name says more about what is meant than another word of the same rarity."""

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DAY = re.compile(r"(?<![\d.:,])(?:[12]?\d|3[01])(?=日|(?:st|nd|rd|th|er|º|\.)?(?![\w:]))")
_WORD = re.compile(r"[^\W\d_]+")
_MONTH_SIGN = re.compile(r"(\d{1,2})月")
_AMBIGUOUS = frozenset({"may", "march"})
"""English months that are other words where they begin a text or are written small."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is indexed of one user: how many memories, their mean length, and where the cue's terms stand."""

    memories: int = 0
    mean_length: float = MEAN_LENGTH
    containing: Mapping[str, int] = field(default_factory=dict[str, int])
    """Term -> memories that hold it."""
    asserting: Mapping[str, int] = field(default_factory=dict[str, int])
    """Term -> semantic memories that hold it."""

    def term_rarity(self, term: str) -> float:
        """Inverse document frequency, smoothed: ln((N + 100) / (n + 1)), above zero."""
        count = self.containing.get(term, 0)
        return math.log((self.memories + PRIOR_SIZE) / (count + 1))


class When(NamedTuple):
    """The time that a message names, as far as it is named; `days` are of the month and only told beside one."""

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()


ANY_TIME = When()


@dataclass(frozen=True, slots=True)
class Cue:
    """The terms of a message with the forms each may have in memory, its names, and about whom it asks."""

    text: str
    language: str
    terms: tuple[str, ...]
    forms: Mapping[str, str]
    """Each term and its stems in the user's other languages -> the term."""
    names: frozenset[str]
    owners: frozenset[str]
    """The people asked about, lower-case: names, or where there are none "user" or "assistant"."""
    speakers: frozenset[str]
    """Those whose own words may hold the answer: the same, and whoever is addressed beside a name."""
    kinds: frozenset[AskKind]
    """What kinds of answer are asked for."""
    when: When = ANY_TIME


def build_cue(analysis: Analysis, speaker: str, listener: str, languages: frozenset[str] = frozenset()) -> Cue:
    """The cue of what `speaker` says to `listener`; `languages` are those the user has written in before."""
    terms = tuple(dict.fromkeys(analysis.terms))
    named: set[str] = set()
    spoken: set[str] = set()
    forms = {term: term for term in terms}
    for sentence in analysis.sentences:
        named.update(named_in(sentence))
        spoken.update(list_persons(sentence, analysis.language, speaker, listener))
        for word in sentence.words:
            if word.term:
                for language in languages:
                    forms.setdefault(stem_word(word.text.lower(), language), word.term)
    owned = frozenset(short_name(owner) for owner in named or spoken)  # "my sister Ana": Ana is asked about, not I
    said = frozenset(short_name(speaker) for speaker in named | spoken)
    if listener == ASSISTANT:  # "can you help me?" asks for nothing that it said
        said = said - {ASSISTANT} | ({ASSISTANT} if asks_what_was_said(analysis) else set[str]())
    return Cue(
        analysis.text,
        analysis.language,
        terms,
        forms,
        analysis.names,
        owned,
        said,
        frozenset(ask.kind for ask in find_asks(analysis)),
        named_time(analysis.text, analysis.language),
    )


def asks_what_was_said(asked: Analysis) -> bool:
    """Whether a message names what the assistant said, told or recommended before, in the words of `recounted.json`."""
    words = _recounted_patterns().get(asked.language)
    return words is not None and words.search(asked.text.lower().replace("’", "'")) is not None


@cache
def _recounted_patterns() -> dict[str, re.Pattern[str]]:
    phrases: dict[str, str] = load_table("recounted.json", __package__)
    return {language: compile_words(words, language) for language, words in phrases.items()}


def named_time(text: str, language: str) -> When:
    """The months, years and days of the month that a text names, in the languages of `months.json`."""
    years = frozenset(int(year) for year in _YEAR.findall(text))
    months = frozenset(_find_months(text, language))
    days = frozenset(int(day) for day in _DAY.findall(text)) if months else frozenset[int]()
    return When(months, years, days)


def _find_months(text: str, language: str) -> Iterator[int]:
    names = _month_names().get(language, {})
    for match in _WORD.finditer(text):
        word = match.group()
        plain = language != "en" or word.lower() not in _AMBIGUOUS or (word[0].isupper() and match.start())
        if plain and (number := names.get(word.lower())):
            yield number
    yield from (int(number) for number in _MONTH_SIGN.findall(text) if 1 <= int(number) <= 12)


@cache
def _month_names() -> dict[str, dict[str, int]]:
    months: dict[str, str] = load_table("months.json", __package__)
    return {
        language: {name: i for i, names in enumerate(line.split(), 1) for name in names.split("|")}
        for language, line in months.items()
    }


def weigh_terms(given: Cue, statistics: Statistics) -> dict[str, float]:
    """Each term's share of what the cue asks; the shares sum to 1."""
    raw = {term: statistics.term_rarity(term) * (NAME_WEIGHT if term in given.names else 1.0) for term in given.terms}
    total = sum(raw.values())
    return {term: weight / total for term, weight in raw.items()} if total else {}


def content_weights(given: Cue, statistics: Statistics) -> dict[str, float]:
    """The same for what is asked of a person: names aside, unless only names are asked."""
    shares = weigh_terms(given, statistics)
    rest = {term: share for term, share in shares.items() if term not in given.names} or shares
    total = sum(rest.values())
    return {term: share / total for term, share in rest.items()} if total else {}
