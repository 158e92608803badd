"""Which questions and requests of a message a response leaves unanswered.

The evidence is lexical. What a reply shares with an ask tells much about a long reply (of MTRAG's references with
twenty or more content words 2 % share none, of replies to other questions 85 %) and nothing about a short one
("Lisbon."), which is taken to be about what was asked.
"""

import re
from collections.abc import Iterator, Sequence

from insula.text.analysis import LANGUAGES, words_of
from insula.text.answers import PICKED, VALUED, AskKind, carries_answer, name_count, says_yes
from insula.text.grammar import load_grammar
from insula.text.questions import Ask
from insula.turn.checks.artefacts import is_echo
from insula.turn.exchange import BRIEF, CLAUSE_END, Exchange
from insula.types import Fault

LONG = 10
"""From so many content words on a reply may go through parts that share no word with what was asked."""
_ALONE = 2
"""Words of a "Yes." """

_UNANSWERED_BY_YES: frozenset[AskKind] = frozenset({*VALUED, "list", "how_to", "why", "code"})
_PART = re.compile(r"\n+|;|；|(?<=[.!?])\s+(?=\S)|(?<=[。！？])|(?:^|\s)\d[.)]\s")
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s", re.M)
_AND = re.compile(r"\s(?:and|y|e|et|und|ed)\s")
_DATE = re.compile(r"\d{1,2}(?:st|nd|rd|th|\.|er|º)? (?:de |of )?[^\W\d]+ (?:de )?\d{4}|[A-Z]\w+ \d{1,2}, \d{4}")
_WORDS = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d[\d.,:/]*")


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
    missed = [ask for ask in _list_missed(turn) if ask in asks]
    return () if missed and _goes_through(turn, missed) else tuple(ask.text for ask in missed)


def _lacks_value(ask: Ask, turn: Exchange) -> bool:
    """Whether a response is about a question and lacks the number that it asks for ("I can't look that up")."""
    if carries_answer(ask.kind, turn.response, turn.language) or ask.kind not in VALUED or "```" in turn.response:
        return False
    return turn.reply.mentions_any(ask.terms) and not turn.reply.words & words_of("first", turn.language)


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
    if carried and all(ask.kind in VALUED for ask in asks) and _count_values(turn) >= len(asks):
        return True
    clauses = [part for each in CLAUSE_END.split(text) if any(map(str.isalnum, each)) for part in _AND.split(each)]
    brief = turn.reply.size <= BRIEF * len(asks) and len(clauses) >= len(asks)
    return brief and carried and kinds <= VALUED | PICKED


def _count_values(turn: Exchange) -> int:
    """How many numbers and names a response holds that the message does not."""
    said = _DATE.sub("0", turn.response)
    return len(_NUMBER.findall(said)) + name_count(said, turn.language, _WORDS.findall(turn.asked.text.lower()))
