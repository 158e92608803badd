"""Which questions and requests of a message a response leaves unanswered, and how far it is about each.

The evidence is lexical. What a reply shares with an ask tells much about a long reply (of MTRAG's references with
twenty or more content words 2 % share none, of replies to other questions 85 %) and nothing about a short one
("Lisbon."), which is taken to be about what was asked.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from insula.text.analysis import LANGUAGES, words_of
from insula.text.answers import AskKind, carries_answer, name_count, says_yes
from insula.text.grammar import load_grammar
from insula.text.questions import Ask, is_casual
from insula.turn.checks.artefacts import is_echo
from insula.turn.exchange import Exchange
from insula.turn.reply import BRIEF, ReplyText
from insula.types import Fault

ANSWERED = 0.5
"""From this coverage on a reply is about an ask."""
LONG = 10
"""From so many content words on a reply may go through parts that share no word with what was asked."""
NEUTRAL = 0.85
"""What a response is worth that cannot be compared with its message."""
_WORD_ENOUGH = 0.8
"""What a brief reply is worth, or one to an ask that holds no word of its own."""
_PRIOR, _SLOPE = 0.5, 2.2
"""One shared word of two, and this prior, make a reply one that is about the ask."""
_SECOND_HAND, _CHARACTER = 0.8, 0.3
"""What a related word ("Mongolian" for "Mongolia") and a shared character count against the same word."""
_ALONE = 2
"""Words of a "Yes." """

_NAMED: frozenset[AskKind] = frozenset({"place", "person", "name"})
_TOLD: frozenset[AskKind] = frozenset({"number", "time", *_NAMED})
"""Kinds of things of which it can be told whether a text holds one."""
_PICKED: frozenset[AskKind] = frozenset({"open", "choice"})
_UNANSWERED_BY_YES: frozenset[AskKind] = frozenset({*_TOLD, "list", "how_to", "why", "code"})
_PART = re.compile(r"\n+|;|；|(?<=[.!?])\s+(?=\S)|(?<=[。！？])|(?:^|\s)\d[.)]\s")
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s", re.M)
_CLAUSE = re.compile(r"[.,;:!?、，。；]+(?:\s|$|(?<=[、，。；])|(?=[\u3040-\u9fff]))")
_AND = re.compile(r"\s(?:and|y|e|et|und|ed)\s")
_DATE = re.compile(r"\d{1,2}(?:st|nd|rd|th|\.|er|º)? (?:de |of )?[^\W\d]+ (?:de )?\d{4}|[A-Z]\w+ \d{1,2}, \d{4}")
_VALUE = re.compile(r"\d[\d.,:/]*")
_WORDS = re.compile(r"[^\W_]+")


def check_completeness(turn: Exchange) -> Iterator[Fault]:
    """The questions and requests that nothing in the response answers, and a "Yes." where more was asked for."""
    for text in find_unanswered(turn):
        yield Fault(flag="incomplete", about=text, certain=False)
    if _is_yes_alone(turn):
        yield Fault(flag="incomplete", certain=False)


def find_unanswered(turn: Exchange) -> tuple[str, ...]:
    """The asks that nothing in the response answers, unless it says that it cannot, or asks back.

    A lone question is missed only where the response is about it and lacks the number that it asks for: that the words
    are far apart does not say that it is no answer.
    """
    asks = turn.asked.asks
    if is_echo(turn):
        return tuple(ask.text for ask in asks)
    if turn.declined or not asks:
        return ()
    if len(asks) == 1:
        return (asks[0].text,) if _lacks_value(asks[0], turn) else ()
    verdict = turn.reply.size <= 1 and says_yes(turn.response, turn.language) is not None
    if verdict and any(ask.kind == "yes_no" for ask in asks):  # "Yes or no?" asks nothing else
        asks = tuple(ask for ask in asks if ask.kind in _UNANSWERED_BY_YES)
    missed = [ask for ask in _list_missed(turn) if ask in asks and not is_casual(ask, turn.asked.language)]
    if not missed and turn.comparable and _are_too_few(turn):
        covers = measure_coverage(turn)
        missed = [turn.asked.asks[covers.index(min(covers))]]
    return () if missed and _goes_through(turn, missed) else tuple(ask.text for ask in missed)


def _lacks_value(ask: Ask, turn: Exchange) -> bool:
    """Whether a response is about a question and lacks the number that it asks for ("I can't look that up")."""
    if carries_answer(ask.kind, turn.response, turn.language) or ask.kind not in _TOLD or "```" in turn.response:
        return False
    return measure_coverage(turn)[0] >= ANSWERED and not turn.reply.words & words_of("first", turn.language)


def _list_missed(turn: Exchange) -> Iterator[Ask]:
    """The asks of several none of whose words the response takes up, and for which no part of it is left."""
    if not turn.comparable:
        yield from (ask for ask in turn.asked.asks if not carries_answer(ask.kind, turn.response, turn.language))
        return
    asks, reply = turn.asked.asks, turn.reply
    pieces = reply.sentences if reply.size > LONG else reply.clauses
    left = sum(1 for piece in pieces if not any(piece.mentions_any(ask.terms) for ask in asks))
    for ask in asks:
        mentioned = reply.mentions_any(ask.terms)
        if not (mentioned or left) or not carries_answer(ask.kind, reply.text, reply.language):
            yield ask
        elif not mentioned:
            left -= reply.size <= LONG


def _are_too_few(turn: Exchange) -> bool:
    """Whether one sentence holds fewer values (a number, a name that the message does not hold) than were asked for."""
    kinds = {ask.kind for ask in turn.asked.asks} - {"yes_no"}
    if len(kinds) > 1 and turn.reply.size <= BRIEF and len([p for p in _CLAUSE.split(turn.response) if p.strip()]) == 1:
        return True
    told = [ask for ask in turn.asked.asks if ask.kind in _TOLD]
    if len(told) < 2 or len(told) < len(turn.asked.asks) or len(turn.reply.clauses) > 1:
        return False
    return _count_values(turn) < len(told)


def _count_values(turn: Exchange) -> int:
    """How many numbers and names a response holds that the message does not."""
    said = _DATE.sub("0", turn.response)
    return len(_VALUE.findall(said)) + name_count(said, turn.language, _WORDS.findall(turn.asked.text.lower()))


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


def _goes_through(turn: Exchange, missed: Sequence[Ask]) -> bool:
    """Whether the response goes through as many parts as were asked for: "Bram Stoker, 1897." """
    asks, text = turn.asked.asks, turn.response
    if not turn.comparable:
        return False
    if sum(1 for part in _PART.split(text) if any(map(str.isalnum, part))) >= len(asks):
        return turn.reply.size <= LONG or bool(_ITEM.search(text))
    kinds: set[AskKind] = {ask.kind for ask in missed}
    carried = all(carries_answer(kind, text, turn.language) for kind in kinds)
    if carried and all(ask.kind in _TOLD for ask in asks) and _count_values(turn) >= len(asks):
        return True
    clauses = [part for each in _CLAUSE.split(text) if any(map(str.isalnum, each)) for part in _AND.split(each)]
    brief = turn.reply.size <= BRIEF * len(asks) and len(clauses) >= len(asks)
    return brief and carried and kinds <= _TOLD | _PICKED


def measure_coverage(turn: Exchange) -> tuple[float, ...]:
    """How far the response is about each topic of its message, in [0, 1], in order."""
    if not turn.comparable:
        return (NEUTRAL,) * len(turn.asked.asks)
    return tuple(_cover_ask(ask, turn.reply, turn.asked.analysis.names) for ask in turn.asked.asks)


def _cover_ask(ask: Ask, reply: ReplyText, names: Collection[str]) -> float:
    if reply.size <= BRIEF or not ask.terms:
        return _WORD_ENOUGH
    shared, total = _weigh_shared(ask.terms, reply, names)
    return min(1.0, _SLOPE * (shared + _PRIOR) / (total + 1))


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
