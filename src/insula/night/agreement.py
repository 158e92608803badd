"""Whether two pieces of advice say the same, or the opposite, and whether a wording keeps one.

Advice is compared by its stems, each with a sign: a word that negates turns the sign of what follows in its clause,
and opposites ("short", "long") are one word with two signs. This sees "always" against "never" and "A, not B" against
"B, not A". It sees no meaning: "large" in the place of "big" is another word, as "python" in that of "yaml" is.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from insula.caches import clear_on_erasure
from insula.text.analysis import LANGUAGES, Sentence, analyse_sentence, detect_language, term_of
from insula.text.grammar import UNSPACED
from insula.text.tables import load_table

SAME = 0.85
"""Share of the content words of two pieces of advice that both must have to say the same (Jaccard): a word changed in
ten is often another subject."""
WITHIN = 0.75
"""The same where one only says more: all words of the other stand in it."""
OPPOSITE = 0.6
"""The same for the opposite: one side often says it in fewer words."""
SWAPPED = 0.8
"""The same where the words alone have changed places around a negation."""
KEPT = 0.5
"""Share of the content words of what is reworded that the wording must keep."""
_SURE = 0.5
"""Probability from which a language is believed of so short a text; else it is taken for English."""


class AdviceClaim(NamedTuple):
    """What a piece of advice says, as far as words tell."""

    terms: frozenset[str]
    signed: frozenset[tuple[str, bool]]
    """Each term with whether it is affirmed."""
    negative: bool
    """Whether an odd number of negations stands in it."""
    marks: frozenset[str]
    """Names and numbers: a text with another one is about something else."""
    language: str
    """Empty where it could not be told."""


class _Polarity(NamedTuple):
    negation: re.Pattern[str]
    """Groups: `not`; `again`, which after another is none ("no … nunca"); `end` of its reach."""
    opposites: dict[str, tuple[str, bool]]
    """Term -> the term of its first opposite, and whether it is on that side."""


@clear_on_erasure
@lru_cache(maxsize=8_192)
def read_claim(text: str, default: str = "en") -> AdviceClaim:
    """What `text` says, read in its own language or in `default` where that cannot be told."""
    told = detect_language(text, "", least=_SURE)
    told = told if told in LANGUAGES else ""
    language = told or default
    signed: list[tuple[str, bool]] = []
    sentences: list[Sentence] = []
    turns = 0
    for clause, affirmed, negations in _split_clauses(text, language):
        part = analyse_sentence(clause, language)
        sentences.append(part)
        turns += negations
        for term in part.terms:
            base, side = _load_polarity(language).opposites.get(term, (term, True))
            turns += not side
            signed.append((base, affirmed == side))
    terms = frozenset(term for term, _ in signed)
    names = analyse_sentence(text, language).names & frozenset(term for part in sentences for term in part.terms)
    numbers = frozenset(term for term in terms if any(map(str.isdigit, term)))
    return AdviceClaim(terms, frozenset(signed), turns % 2 == 1, names | numbers, told)


def _split_clauses(text: str, language: str) -> Iterable[tuple[str, bool, int]]:
    """The parts of a text, whether each is affirmed, and the negations right before it."""
    start, affirmed = 0, True
    for match in _load_polarity(language).negation.finditer(text):
        turns = match["not"] is not None or (match["again"] is not None and affirmed)
        yield text[start : match.start()], affirmed, turns
        affirmed = affirmed != turns or match["end"] is not None
        start = match.end()
    yield text[start:], affirmed, 0


@cache
def _load_polarity(language: str) -> _Polarity:
    data = load_table("polarity.json", __package__)[language]
    edge = "" if language in UNSPACED else r"\b"
    after = "" if language == "fr" else edge  # "n'oublie" is two words
    pattern = (
        rf"(?P<again>{edge}(?:{data.get('again', '(?!)')}){edge})|(?P<not>{edge}(?:{data['not']}){after})"
        rf"|(?P<end>[,;:.!?，；：。！？—]|{edge}(?:{data['pause']}){edge})"
    )
    opposites: dict[str, tuple[str, bool]] = {}
    for line in data["opposites"]:
        first, second = ([term_of(word, language) for word in side.split()] for side in line.split("|"))
        opposites.update(dict.fromkeys(first, (first[0], True)) | dict.fromkeys(second, (first[0], False)))
    return _Polarity(re.compile(pattern, re.IGNORECASE), opposites)


def _read_pair(advice: str, other: str) -> tuple[AdviceClaim, AdviceClaim]:
    """Two claims in one language: a text too short to tell its own is read in that of the other."""
    a, b = read_claim(advice), read_claim(other)
    return (
        (a, b)
        if a.language == b.language
        else (read_claim(advice, b.language or "en"), read_claim(other, a.language or "en"))
    )


def says_same(advice: str, other: str) -> bool:
    """Whether two pieces of advice say the same."""
    a, b = _read_pair(advice, other)
    if not a.terms or not b.terms:
        return advice.casefold() == other.casefold()
    shared = a.terms & b.terms
    agreed = frozenset(term for term, _ in a.signed & b.signed)
    if a.negative != b.negative or a.marks != b.marks or shared != agreed:
        return False
    return _term_overlap(a, b) >= (WITHIN if shared in (a.terms, b.terms) else SAME)


def says_opposite(advice: str, other: str) -> bool:
    """Whether one piece of advice says the opposite of the other."""
    a, b = _read_pair(advice, other)
    overlap = _term_overlap(a, b)
    if overlap < OPPOSITE or min(len(a.terms), len(b.terms)) < 2:
        return False
    if not (a.marks <= b.terms and b.marks <= a.terms):
        return _only_numbers_differ(a, b)
    return a.negative != b.negative or (overlap >= SWAPPED and _is_swapped(a, b))


def _only_numbers_differ(a: AdviceClaim, b: AdviceClaim) -> bool:
    """ "Use 2 spaces" against "use 4 spaces"."""
    differ = a.terms ^ b.terms
    return len(differ) == 2 and differ <= a.marks | b.marks and all(any(map(str.isdigit, term)) for term in differ)


def _is_swapped(a: AdviceClaim, b: AdviceClaim) -> bool:
    """Whether one affirms what the other denies, and the other way round."""
    ours, theirs = a.signed - b.signed, b.signed - a.signed
    turned = {affirmed for term, affirmed in ours if (term, not affirmed) in theirs}
    return len(turned) == 2


def _term_overlap(a: AdviceClaim, b: AdviceClaim) -> float:
    return len(a.terms & b.terms) / max(1, len(a.terms | b.terms))


def keeps_advice(wording: str, advice: str) -> bool:
    """Whether a wording still says `advice`: half of its content words, its names and numbers, the sense of each."""
    new, old = _read_pair(wording, advice)
    if new.negative != old.negative or not new.marks >= old.marks:
        return False
    turned = {term for term, _ in new.signed ^ old.signed} & new.terms & old.terms
    return not turned and len(new.terms & old.terms) >= KEPT * len(old.terms)
