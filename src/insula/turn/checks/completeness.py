"""Which questions and requests of a message a response leaves unanswered, and how far it is about each.

The evidence is lexical. What a reply shares with an ask tells much about a long reply (of MTRAG's references with
twenty or more content words 2 % share none, of replies to other questions 85 %) and nothing about a short one
("Lisbon."), where the kind alone must do: the two judgements are blended by length.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from insula.text.analysis import LANGUAGES, words_of
from insula.text.answers import AskKind, carries_answer, name_count, numbers_in, opens_with_verdict, says_yes
from insula.text.grammar import UNSPACED, load_grammar
from insula.text.questions import Ask, is_casual
from insula.turn.checks.artefacts import is_echo
from insula.turn.exchange import Exchange
from insula.turn.reply import BRIEF, ReplyText
from insula.types import Fault

ANSWERED = 0.5
"""From this coverage on an ask counts as answered."""
LONG = 10
"""From so many content words on a reply is judged by what it shares with the ask."""
NEUTRAL = 0.85
"""What a response is worth that cannot be compared with its message."""

_PRIOR = 0.5
_SECOND_HAND = 0.8
"""What a related word counts against the same word ("Mongolian" for "Mongolia")."""
_CHARACTER = 0.3
"""What a shared character counts."""
_WORD_ENOUGH = 0.8
"""What a brief reply of the right kind is worth, where it shares nothing with the ask."""
_WORD_TOO_LITTLE = 0.35
_FULL = 2
_UNSHAPED = 0.3
"""How much the words of a brief reply count towards a list, steps, reasons or code that it does not hold."""
_TRACE = 2
_LEFT_OVER = 0.6
_NOTHING_LEFT = 0.3
_PARTS = 2
_ALONE = 2

_EXPECT_MORE: frozenset[AskKind] = frozenset({"request", "how_to", "why", "list", "code"})
_NAMED: frozenset[AskKind] = frozenset({"place", "person", "name"})
_TOLD: frozenset[AskKind] = frozenset({"number", "time", *_NAMED})
"""Kinds of things of which it can be told whether a text holds one."""
_PICKED: frozenset[AskKind] = frozenset({"open", "choice"})
_UNANSWERED_BY_YES: frozenset[AskKind] = frozenset({*_TOLD, "list", "how_to", "why", "code"})
_UNCARRIED: dict[AskKind, float] = {
    "number": 0.35,
    "time": 0.45,
    "place": 0.6,
    "person": 0.6,
    "name": 0.45,
    "code": 0.45,
    "list": 0.6,
    "why": 0.75,
    "how_to": 0.75,
}
"""The most that a reply covers which holds nothing of the kind asked for; below `ANSWERED` where that settles it."""
_PART = re.compile(r"\n+|;|；|(?<=[.!?])\s+(?=\S)|(?<=[。！？])|(?:^|\s)\d[.)]\s")
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s", re.M)
_CLAUSE = re.compile(r"[.,;:!?、，。；]+(?:\s|$|(?<=[、，。；])|(?=[\u3040-\u9fff]))")
_AND = re.compile(r"\s(?:and|y|e|et|und|ed)\s")
_DATE = re.compile(r"\d{1,2}(?:st|nd|rd|th|\.|er|º)? (?:de |of )?[^\W\d]+ (?:de )?\d{4}|[A-Z]\w+ \d{1,2}, \d{4}")
_VALUE = re.compile(r"\d[\d.,:/]*")
_WORDS = re.compile(r"[^\W_]+")


class Coverage(NamedTuple):
    """How far a reply covers an ask."""

    topic: float
    """In [0, 1]: whether the reply is about it at all."""
    value: float
    """In [0, 1]: whether it also holds what was asked for."""


def check_completeness(turn: Exchange) -> Iterator[Fault]:
    """The questions and requests that nothing in the response answers, and a "Yes." where more was asked for."""
    for text in find_unanswered(turn):
        yield Fault(flag="incomplete", about=text, certain=False)
    if _is_yes_alone(turn):
        yield Fault(flag="incomplete", certain=False)


def find_unanswered(turn: Exchange) -> tuple[str, ...]:
    """The asks that nothing in the response answers, unless it says that it cannot, or asks back.

    A lone question is missed only where the response is about it and lacks what it asks for ("how many", "when"):
    that the words are far apart does not say that it is no answer.
    """
    asks = turn.asked.asks
    if is_echo(turn):
        return tuple(ask.text for ask in asks)
    if turn.declined or not asks:
        return ()
    covers = measure_coverage(turn)
    missed = [i for i in range(len(asks)) if covers[i].value < ANSWERED]
    if len(asks) == 1:
        lacking = asks[0].kind in _TOLD and covers[0].topic >= ANSWERED and "```" not in turn.response
        lacking = lacking and not turn.reply.words & words_of("first", turn.language)  # "I can't look that up"
        return (asks[0].text,) if missed and lacking else ()
    missed = [i for i in missed if not is_casual(asks[i], turn.asked.language)]
    if not missed and turn.comparable and _are_too_few(turn):
        missed = [max(range(len(asks)), key=lambda i: -covers[i].value)]
    return () if missed and _goes_through(turn, missed) else tuple(asks[i].text for i in missed)


def _are_too_few(turn: Exchange) -> bool:
    """Whether one sentence holds fewer values (a number, a name that the message does not hold) than were asked for."""
    kinds = {ask.kind for ask in turn.asked.asks} - {"yes_no"}
    if len(kinds) > 1 and turn.reply.size <= BRIEF and len([p for p in _CLAUSE.split(turn.response) if p.strip()]) == 1:
        return True
    told = [ask for ask in turn.asked.asks if ask.kind in _TOLD]
    if len(told) < _PARTS or len(told) < len(turn.asked.asks) or len(turn.reply.clauses) > 1:
        return False
    words = _WORDS.findall(turn.asked.text.lower())
    said = _DATE.sub("0", turn.response)
    held = len(_VALUE.findall(said)) + name_count(said, turn.language, words)
    return held < len(told)


def _is_yes_alone(turn: Exchange) -> bool:
    """Whether "Yes." is all the answer to what cannot be answered so."""
    asks, few = turn.asked.asks, len(turn.response.split()) <= _ALONE
    if not asks or not few or turn.declined or turn.reply.size > 1 or says_yes(turn.response, turn.language) is None:
        return False
    return all(_needs_more(ask, turn.asked.language) for ask in asks)


def _needs_more(ask: Ask, language: str) -> bool:
    """Whether an ask cannot be answered by yes or no: of a choice one that names no two ("which bus …")."""
    picked = ask.kind == "choice" and language in LANGUAGES
    opened = picked and load_grammar(language).question.match(ask.text.lstrip("¿ "))
    return ask.kind in _UNANSWERED_BY_YES or bool(opened)


def _goes_through(turn: Exchange, missed: Sequence[int]) -> bool:
    """Whether the response goes through as many parts as were asked for: "Bram Stoker, 1897." """
    asks, text = turn.asked.asks, turn.response
    if not turn.comparable:
        return False
    if sum(1 for part in _PART.split(text) if any(map(str.isalnum, part))) >= len(asks):
        return turn.reply.size <= LONG or bool(_ITEM.search(text))
    clauses = [part for each in _CLAUSE.split(text) if any(map(str.isalnum, each)) for part in _AND.split(each)]
    brief = turn.reply.size <= BRIEF * len(asks) and len(clauses) >= len(asks)
    kinds: set[AskKind] = {asks[i].kind for i in missed}
    told = all(carries_answer(kind, text, turn.language) for kind in kinds)
    return brief and told and kinds <= _TOLD | _PICKED


def measure_coverage(turn: Exchange) -> tuple[Coverage, ...]:
    """How far the response covers each topic of its message, in order."""
    asks, reply, names = turn.asked.topics, turn.reply, turn.asked.analysis.names
    if not turn.comparable:  # words cannot be compared, but a number can be missed
        return tuple(Coverage(NEUTRAL, NEUTRAL if _has_number(ask, reply) else _UNCARRIED["number"]) for ask in asks)
    if len(asks) == 1:
        return (_cover_ask(asks[0], asks[0].terms, reply, names),)
    own = [_own_terms(ask, asks) for ask in asks]
    coverages = [_cover_ask(ask, about, reply, names) for ask, about in zip(asks, own, strict=True)]
    pieces = reply.sentences if reply.size > LONG else reply.clauses
    left = [piece for piece in pieces if not any(piece.mentions_any(about) for about in own)]
    for i in (i for i, about in enumerate(own) if not reply.mentions_any(about)):
        enough = _is_left_for(i, asks, len(own[i]), reply, left)
        value = max(coverages[i].value, _LEFT_OVER) if enough else min(coverages[i].value, _NOTHING_LEFT)
        coverages[i] = Coverage(coverages[i].topic, value)
        left = left[1:] if enough and reply.size <= LONG else left
    return tuple(coverages)


def _has_number(ask: Ask, reply: ReplyText) -> bool:
    return (
        ask.kind != "number" or reply.language not in LANGUAGES or carries_answer("number", reply.text, reply.language)
    )


def _own_terms(ask: Ask, asks: Sequence[Ask]) -> tuple[str, ...]:
    """The terms that tell an ask from the others; all of its terms where none does."""
    others = {term for other in asks if other is not ask for term in other.terms}
    return tuple(term for term in ask.terms if term not in others) or ask.terms


def _cover_ask(ask: Ask, about: Sequence[str], reply: ReplyText, names: Collection[str]) -> Coverage:
    shared, total = _weigh_shared(about, reply, names)
    evidence = (shared + _PRIOR) / (total + 1)
    carried = carries_answer(ask.kind, reply.text, reply.language)
    brief = _of_brief(ask, reply, carried)
    brief += (1 - brief) * 0.6 * evidence
    topic = _blend_lengths(brief, _of_long(evidence), reply.size) if about else max(brief, _WORD_ENOUGH)
    return Coverage(topic, topic if carried else min(topic, _UNCARRIED.get(ask.kind, 1.0)))


def _weigh_shared(about: Sequence[str], reply: ReplyText, names: Collection[str]) -> tuple[float, float]:
    """The weight of the terms that the reply takes up, and of all of them; names and numbers count double."""
    shared = total = 0.0
    for term in dict.fromkeys(about):
        weight = 2.0 if term in names or (term.isdigit() and len(term) > 1) else 1.0
        total += weight
        if reply.has_term(term):
            shared += weight
        elif reply.has_related(term):
            shared += weight * _SECOND_HAND
        elif reply.has_character(term):
            shared += weight * _CHARACTER
    return shared, total


def _of_brief(ask: Ask, reply: ReplyText, carried: bool) -> float:
    if ask.kind not in _EXPECT_MORE:
        return _WORD_ENOUGH
    fullness = min(1.0, reply.size / _FULL) * (1.0 if carried else _UNSHAPED)
    return _WORD_TOO_LITTLE + (_WORD_ENOUGH - _WORD_TOO_LITTLE) * fullness


def _blend_lengths(of_brief: float, of_long: float, length: int) -> float:
    weight = min(1.0, max(0.0, (length - BRIEF) / (LONG - BRIEF)))
    return (1 - weight) * of_brief + weight * of_long


def _of_long(evidence: float) -> float:
    """Evidence of 1/8 (none of three words) is off topic, 1/4 (none of one) undecided, 5/8 (two of three) enough."""
    if evidence < 0.25:
        return max(0.1, 0.2 + (evidence - 0.125) * 3.2)
    if evidence < 0.625:
        return 0.6 + (evidence - 0.25) * 0.8
    return 0.9 + (evidence - 0.625) * 0.25


def _is_left_for(index: int, asks: Sequence[Ask], weight: int, reply: ReplyText, left: Sequence[ReplyText]) -> bool:
    """Whether the reply answers an ask none of whose own words it takes up, with sentences left by the other asks.

    In a brief reply something of its kind is enough ("Ulaanbaatar, 1.6 million."); in a long one it must stand in a
    sentence of its own, and an ask with several words of its own would have left a trace.
    """
    ask = asks[index]
    rank = sum(1 for other in asks[:index] if other.kind == ask.kind or {other.kind, ask.kind} <= _NAMED)
    if not weight:
        return ask.kind in _EXPECT_MORE or len(reply.sentences) >= len(asks)
    if reply.size > LONG:
        few = weight <= (_TRACE if ask.kind in _TOLD else 1)
        return few and any(carries_answer(ask.kind, each.text, each.language) for each in left)
    match ask.kind:
        case "number":
            return len(numbers_in(reply.text)) > rank
        case "place" | "person" | "name" if reply.language in UNSPACED:
            return len(reply.clauses) > rank
        case "place" | "person" | "name":
            return name_count(reply.text, reply.language, _ask_words(asks)) > rank
        case "time" | "why" | "how_to" | "list" | "code":
            return carries_answer(ask.kind, reply.text, reply.language) and (bool(left) or rank == 0)
        case "yes_no":
            return bool(left) or opens_with_verdict(reply.text, reply.language)
        case _:
            return bool(left)


def _ask_words(asks: Sequence[Ask]) -> list[str]:
    return [word for ask in asks for word in _WORDS.findall(ask.text.lower())]
