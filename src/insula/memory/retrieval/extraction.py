"""What a line holds by the facts that a model read in it: statements of the user's own words, and what may be shown.

Pure. A statement is the words that were quoted, with whose they are and what they answer before them where they leave
that out; what the model said the matter is helps to find them, and is never shown.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from insula.language.extract.answer import Meant
from insula.language.extract.check import End, ExtractedFact
from insula.language.facts import FactCandidate, find_fact_candidates, join_facts
from insula.language.owner import ASSISTANT, NOBODY, SOMEBODY, USER, find_owners, owners_may_match, short_name
from insula.language.statements import Mark, Modality, PredictedQuery, Statement, Utterance, classify_modality
from insula.text.analysis import LANGUAGES, Analysis, analyse_sentence, analyse_text, fold_accents

MEANT: dict[Meant, Modality] = {"holds": "fact", "past": "fact", "planned": "plan", "wished": "wish"}
"""How a statement is meant, as its reader says; of one that it is unsure of, the words tell."""


SAME_MATTER = 0.22
"""Cosine of what ends a line and of the line from which the two may be of one matter."""
_PAST: frozenset[Mark] = frozenset({"before"})


class LineContent(NamedTuple):
    """What a line holds."""

    line: str
    """What may be shown of it."""
    statements: tuple[Statement, ...]
    meanings: tuple[str, ...]
    """Of each statement, the text whose vector is its own."""
    queries: tuple[tuple[PredictedQuery, ...], ...]
    """Of each statement, the messages of later for which it is needed."""


def read_line(content: str, language: str, facts: Sequence[ExtractedFact], before: Sequence[Utterance]) -> LineContent:
    """What a line holds.

    Args:
        before: what was said before it, the last line last.
    """
    analysis = analyse_text(content, default=language)
    units = find_fact_candidates(analysis, before)
    units_by_fact = {fact: _find_unit(fact.span, units) for fact in facts}
    stated = [_make_statement(fact, unit, analysis) for fact, unit in units_by_fact.items()]
    kept = [(statement, fact) for statement, fact in zip(stated, units_by_fact, strict=True) if statement is not None]
    shown = dict.fromkeys(units_by_fact[fact] for _, fact in kept)
    ordered = sorted(shown, key=lambda unit: content.find(unit.shown))
    meanings = tuple(f"{fact.matter}: {fact.span}" if fact.matter else statement.text for statement, fact in kept)
    queries = tuple(fact.queries for _, fact in kept)
    return LineContent(
        join_facts(ordered, analysis.language), tuple(statement for statement, _ in kept), meanings, queries
    )


def _find_unit(span: str, units: Iterable[FactCandidate]) -> FactCandidate:
    """The sentence that holds a span; the span itself where it stands in a request, say."""
    plain = FactCandidate(span, span, span, own=True)
    return next((candidate for candidate in units if span in candidate.shown), plain)


def _make_statement(fact: ExtractedFact, unit: FactCandidate, whole: Analysis) -> Statement | None:
    """A fact as it is stored; None where nobody can tell whose it is."""
    language = whole.language
    subjects = subjects_of(fact.owner, fact.span, language)
    if not subjects:
        return None
    asked = unit.asked and f"{unit.asked} "
    owner = (
        f"{fact.owner}: "
        if fact.owner and fold_accents(fact.owner.casefold()) not in fold_accents(fact.span.casefold())
        else ""
    )
    text = f"{asked}{owner}{fact.span}"
    terms = frozenset(analyse_sentence(text, language).terms) | frozenset(analyse_sentence(fact.matter, language).terms)
    signs = _PAST if fact.meant == "past" else frozenset[Mark]()  # what it ends was read, too
    mentions = find_owners(fact.span, language, USER, ASSISTANT).mentions
    how = MEANT.get(fact.meant) or classify_modality(fact.span, language)
    return Statement(text, language, subjects, mentions | subjects, how, signs, terms)


def subjects_of(owner: str, span: str, language: str) -> frozenset[str]:
    """Whom a fact is about: nobody where the one who is named is spoken of in no way that is known.

    Where the words say "my sister" and no "I", it is hers, even if its reader said that it is the user's.
    """
    if not owner:
        said = find_owners(span, language, USER, ASSISTANT)
        theirs = frozenset(path for path in said.subjects if path.startswith(f"{USER}/"))
        return theirs if theirs and USER not in said.mentions else frozenset({USER})
    mentions = find_owners(owner, language, USER, ASSISTANT).mentions - {NOBODY, ASSISTANT}
    known = frozenset(path for path in mentions if not path.startswith(SOMEBODY))
    if known:
        return known
    if owner == owner.lower() != owner.upper():  # a name has a capital, or is written in letters that have none
        kind = fold_accents(owner.lower().split()[-1])
        return frozenset({USER if language in LANGUAGES else kind})  # "the boiler" is a thing of theirs
    name = fold_accents(short_name(owner))
    return frozenset({name}) if name else frozenset()


def is_over(end: End, language: str, old: Sequence[Statement], new: Iterable[Statement], near: float) -> bool:
    """Whether words end all that an earlier line says: they may be of the same one and the same matter, and no part of
    it still stands.

    Args:
        end: what ends it, and which words of the line are over.
        new: what the line states in which the words stand.
        near: the cosine of the words and of the nearest statement of the line; 0 without vectors.
    """
    plain = [statement for statement in old if statement.modality in {"fact", "plan"}]
    if not plain:
        return False
    terms = frozenset(analyse_sentence(end.words, language).terms)
    if near < SAME_MATTER and all(terms.isdisjoint(statement.terms) for statement in plain):
        return False
    by = frozenset[str]().union(
        *(statement.subjects for statement in new if _contains_words(statement.text, end.words))
    )
    by = by or find_owners(end.words, language, USER, ASSISTANT).subjects
    if not all(owners_may_match(by, statement.subjects) for statement in plain):
        return False
    whole = [
        statement
        for statement in plain
        if not any(statement is not other and statement.text in other.text for other in plain)
    ]
    return len(whole) == 1 or bool(end.part and all(_contains_words(statement.text, end.part) for statement in whole))


def _contains_words(text: str, words: str) -> bool:
    """Whether one of two texts stands in the other."""
    first, second = text.casefold(), words.casefold()
    return first in second or second in first
