"""What of a model's answer the user's own words bear out; without a model, and the rest is refused with its reason.

A span stands, word for word, in what the user said themselves: never in what the assistant said, in a quotation, or in
what was pasted. Whose fact it is stands there too, or earlier in the conversation, or it is the user. What ends
something is said later than that. Nothing that reads like an order, and no secret, is kept.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from insula.language.extract.answer import EVERY_ANSWER, SPEAKER, Answer, Ended, Meant, Preferred, Stated
from insula.language.extract.request import ExtractionLine, Known
from insula.language.statements import PredictedQuery, QueryKind
from insula.redaction import is_redacted, kinds
from insula.screening import screen_text
from insula.text.analysis import analyse_sentence, analyse_text, fold_accents
from insula.text.pasted import QUOTED
from insula.text.wording import flatten_words

MOST_BY_LINE = 3
"""Facts that one line may end; one that ends more was misunderstood."""
QUERY_CHARS = 120
MOST_QUERIES: Mapping[QueryKind, int] = {"question": 3, "request": 2, "task": 3}
"""Queries that are kept of one statement, or preference."""
HALF, FEW = 0.5, 3
"""An answer that ends more than half of all that is known, and more than a few, understood nothing."""
SPEAKERS = frozenset({SPEAKER, "user", "the user"})
HOLDS: frozenset[Meant] = frozenset({"holds", "past"})
_APOSTROPHES = "'’‘ʼ`´"
_ENDS = " \t\n.,;:!。、，；！…"
_ASKS = ("?", "？")


class ExtractedFact(NamedTuple):
    """A fact that the user's own words state."""

    line: int
    """Id of the line."""
    span: str
    """The words, as they stand there."""
    owner: str
    """Whose it is, as it is written; empty for the user."""
    matter: str
    meant: Meant
    queries: tuple[PredictedQuery, ...] = ()
    """Messages of later for which it is needed."""


class End(NamedTuple):
    """That words of the user's end an earlier fact."""

    line: int
    words: str
    known: str
    """What ended, by its name among what is known; empty where it stands in an earlier line."""
    earlier: int
    """Id of that line; 0 for what is known."""
    part: str
    """The words of it that are over; empty where the name alone was given."""


class ExtractedPreference(NamedTuple):
    """What the user's own words ask of answers to come."""

    line: int
    span: str
    scope: str
    """What it is limited to, as it is written; empty for every answer."""
    queries: tuple[PredictedQuery, ...] = ()
    """Messages of later to which it applies."""


class Checked(NamedTuple):
    """What may be kept of an answer, and how many entries may not, by the reason."""

    facts: tuple[ExtractedFact, ...]
    ends: tuple[End, ...]
    preferences: tuple[ExtractedPreference, ...]
    refused: Mapping[str, int]
    silent: frozenset[int]
    """Ids of the lines of which the answer says nothing at all."""


def check_answer(
    answer: Answer, numbered: Mapping[int, ExtractionLine], lines: Sequence[ExtractionLine], known: Sequence[Known] = ()
) -> Checked:
    """What of an answer may be kept.

    Args:
        numbered: the lines that were asked about, by the numbers that they had.
    """
    refused: Counter[str] = Counter()
    facts = [_check_fact(stated, numbered, lines, known) for stated in answer.statements]
    ends = [_check_end(ended, numbered, known, answer.statements) for ended in answer.ended]
    wishes = [_check_preference(preferred, numbered) for preferred in answer.preferences]
    refused.update(result for result in (*facts, *ends, *wishes) if isinstance(result, str))
    over = tuple(dict.fromkeys(end for end in ends if isinstance(end, End)))
    sure = tuple(_keep_sure(over, len(known) + len(numbered)))
    refused["ends too much"] += len(over) - len(sure)
    spoken = {entry.line for entry in (*answer.statements, *answer.ended, *answer.preferences)}
    return Checked(
        tuple(dict.fromkeys(fact for fact in facts if isinstance(fact, ExtractedFact))),
        sure,
        tuple(dict.fromkeys(preference for preference in wishes if isinstance(preference, ExtractedPreference))),
        +refused,
        frozenset(line.id for number, line in numbered.items() if number not in spoken),
    )


def _check_fact(
    stated: Stated, numbered: Mapping[int, ExtractionLine], lines: Sequence[ExtractionLine], known: Sequence[Known]
) -> ExtractedFact | str:
    """A statement as it may be kept, or why it may not."""
    line = numbered.get(stated.line)
    if line is None:
        return "unknown line"
    span = own_span(line.own, stated.span)
    if why := _explain_unfit(span, stated.span):
        return why
    if stated.span.rstrip().endswith(_ASKS):
        return "asks"
    owner = "" if stated.owner.strip().casefold() in SPEAKERS else " ".join(stated.owner.split())
    if owner and not is_named(owner, _near_texts(line, lines, known)):
        return "owner not named"
    queries = (*_keep_queries("question", stated.questions), *_keep_queries("request", stated.requests))
    return ExtractedFact(line.id, span, owner, " ".join(stated.matter.split()), stated.modality, queries)


def _keep_queries(kind: QueryKind, texts: Iterable[str]) -> Iterator[PredictedQuery]:
    """The queries that may be kept: short ones, without a secret, that do not read like an order to a model."""
    plain = (" ".join(text.split()) for text in texts)
    fit = (text for text in plain if text and len(text) <= QUERY_CHARS and not (is_redacted(text) or kinds(text)))
    safe = (text for text in fit if not screen_text(text, QUERY_CHARS).reasons)
    yield from (PredictedQuery(kind, text) for text in islice(dict.fromkeys(safe), MOST_QUERIES[kind]))


def _check_end(
    ended: Ended, numbered: Mapping[int, ExtractionLine], known: Sequence[Known], statements: Sequence[Stated]
) -> End | str:
    line = numbered.get(ended.line)
    if line is None:
        return "unknown line"
    words = own_span(line.own, ended.words)
    if why := _explain_unfit(words, ended.words):
        return why
    meant = {each.modality for each in statements if each.line == ended.line and _texts_overlap(each.span, ended.words)}
    was: set[Meant] = {each.modality for each in statements if _texts_overlap(each.span, ended.statement)}
    plans = (each for each in known if each.is_plan)
    was |= {"planned" for each in plans if each.id == ended.statement.strip() or own_span(each.text, ended.statement)}
    if meant and meant.isdisjoint(HOLDS) and was.isdisjoint(meant):
        return "is no end yet"  # but a plan ends a plan
    if any(each.id == ended.statement.strip() for each in known):
        return End(line.id, words, ended.statement.strip(), 0, "")
    before = [each for number, each in numbered.items() if number < ended.line]
    for each in reversed(before):
        if part := own_span(each.own, ended.statement):
            return End(line.id, words, "", each.id, part)
    matching = next(((each, part) for each in known if (part := own_span(each.text, ended.statement))), None)
    return End(line.id, words, matching[0].id, 0, matching[1]) if matching else "ends nothing known"


def _check_preference(preferred: Preferred, numbered: Mapping[int, ExtractionLine]) -> ExtractedPreference | str:
    line = numbered.get(preferred.line)
    if line is None:
        return "unknown line"
    span = own_span(line.own, preferred.span)
    if why := _explain_unfit(span, preferred.span):
        return why
    scope = "" if preferred.scope.strip(_ENDS).casefold() in EVERY_ANSWER else " ".join(preferred.scope.split())
    if scope and not is_named(scope, [line.own], HALF):
        return "scope not named"
    queries = tuple(_keep_queries("task", preferred.requests)) if scope else ()
    return ExtractedPreference(line.id, span, scope, queries)


def own_span(own: str, span: str) -> str:
    """The words of a span as they stand in what the user said; empty where they do not stand there."""
    wanted = span.strip(_ENDS).split()
    if not wanted:
        return ""
    pattern = r"\s+".join(re.escape(word) for word in wanted)
    plain = re.sub(f"[{_APOSTROPHES}]", f"[{_APOSTROPHES}]", pattern)
    for match in re.finditer(plain, own, re.IGNORECASE):
        if _is_whole(own, match):
            return match[0]
    return ""


def _is_whole(own: str, match: re.Match[str]) -> bool:
    """Whether a match begins and ends between words, as far as words have edges."""
    edges = (own[max(0, match.start() - 1) : match.start() + 1], own[match.end() - 1 : match.end() + 1])
    return not any(len(edge) == 2 and all(char.isalnum() and char < "\u3040" for char in edge) for edge in edges)


def _explain_unfit(span: str, quoted: str) -> str:
    """Why words may not be kept; empty where they may."""
    if not span or QUOTED in span:
        return "not the user's words"
    if is_redacted(span) or kinds(span):
        return "secret"
    return "order" if screen_text(quoted, len(quoted)).reasons else ""


def _near_texts(line: ExtractionLine, lines: Sequence[ExtractionLine], known: Sequence[Known]) -> Iterator[str]:
    here = [before for before in lines if before.session == line.session and before.id <= line.id]
    yield from (line.content for line in reversed(here))
    yield from (known_memory.text for known_memory in known)


def is_named(who: str, texts: Iterable[str], least: float = 1.0) -> bool:
    """Whether somebody, or something, is named in one of some texts: such a share of its words, in whatever form."""
    plain = fold_accents(who.casefold())
    for text in texts:
        if plain in fold_accents(text.casefold()):
            return True
        said = analyse_text(text)
        wanted = frozenset(analyse_sentence(who, said.language).terms)
        if wanted and len(wanted.intersection(said.terms)) >= least * len(wanted):
            return True
    return False


def _texts_overlap(text: str, other: str) -> bool:
    first, second = flatten_words(text).strip(_ENDS), flatten_words(other).strip(_ENDS)
    return bool(first and second) and (first in second or second in first)


def _keep_sure(ends: Sequence[End], everything: int) -> Iterator[End]:
    if len(ends) > max(FEW, HALF * everything):
        return
    by_line = Counter(end.line for end in ends)
    yield from (end for end in ends if by_line[end.line] <= MOST_BY_LINE)
