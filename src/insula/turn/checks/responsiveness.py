"""Whether a response addresses its message: it is no refusal of nothing, and about the same thing."""

import re
from collections.abc import Iterator

from insula.memory.storage.vectors import Embed, embed_normalised
from insula.text.answers import (
    PICKED,
    VALUED,
    AskKind,
    carries_answer,
    declines_answer,
    is_harmful,
    opens_with_subject,
    refuses_request,
    says_untold,
)
from insula.text.grammar import UNSPACED
from insula.text.questions import Ask, is_small_talk
from insula.turn.exchange import BRIEF, CLAUSE_END, REFUSAL_CHARS, Exchange
from insula.types import Fault

FOREIGN, RELATED = 0.04, 0.15
"""Cosines of the shipped embedding: below the first a response that shares no word is about something else, from the
second on it is about what was asked, however it begins (chosen on `triples_dev.jsonl` and our own table)."""
MEANT_CHARS = 400
"""So much of a text is embedded."""
_NAMED = 8
"""Content words of an answer that is little more than what was asked for."""
_EXPLAINED: frozenset[AskKind] = frozenset({"why", "request"})
_MADE: frozenset[AskKind] = frozenset({"request", "code"})
"""What is made need not mean what it was asked for with."""
_QUOTED = re.compile(r"[\"“„«「『][^\"“”„«»「」『』]{4,}[\"”“»」』][.。]?")


def check_refusal(turn: Exchange) -> Iterator[Fault]:
    """A harmless request that is turned down, and the refusal of nothing ("thanks!")."""
    text, language = turn.response[:REFUSAL_CHARS], turn.language
    if len(turn.response) > REFUSAL_CHARS:
        return
    if is_small_talk(turn.asked.analysis) and not turn.asked.asks:
        if declines_answer(text, language):
            yield Fault(flag="off_topic", certain=False)
        return
    asked, own = turn.asked.text, turn.asked.language
    refused = bool(turn.asked.asks) and refuses_request(text, language) and not says_untold(text, language)
    if refused and not is_harmful(asked, own):
        yield Fault(flag="declined", certain=False)


def is_apart(turn: Exchange) -> bool:
    """Whether a response of some length shares no word with what was asked."""
    if not turn.comparable or not turn.asked.asks or turn.declined or "```" in turn.response:
        return False
    if _QUOTED.fullmatch(turn.response.strip()) or turn.reply.size <= BRIEF:  # what was made, and nothing said of it
        return False
    if turn.recent and turn.shared:  # it goes on from what was said
        return False
    return not turn.reply.mentions_any({term for ask in turn.asked.asks for term in ask.terms})


def measure_nearness(turn: Exchange, embed: Embed | None) -> float | None:
    """How near response and message are in meaning, from -1 to 1; asked only where their words tell nothing."""
    if embed is None or not is_apart(turn):
        return None
    asked, said = (embed_normalised(embed, text[:MEANT_CHARS]) for text in (turn.asked.text, turn.response))
    return float(asked @ said) if asked.shape == said.shape else 0.0


def is_far(turn: Exchange, near: float | None) -> bool:
    """Whether a response seems to be about something else: by its words, and by its meaning where that is known."""
    far = is_apart(turn) and opens_with_subject(turn.response, turn.language)
    far = far and not any(_may_open_otherwise(turn, ask) for ask in turn.asked.asks)
    if near is None:
        return far
    return near < RELATED if far else near < FOREIGN and not any(ask.kind in _MADE for ask in turn.asked.asks)


def _may_open_otherwise(turn: Exchange, ask: Ask) -> bool:
    """Whether a right answer may share no word: an explanation, steps, or the very thing that was asked for."""
    if ask.kind in _EXPLAINED:
        return True
    first = CLAUSE_END.split(turn.response)[0].split()
    if ask.kind in PICKED and turn.language not in UNSPACED and len(first) <= BRIEF:  # "The Volga, 3,530 km."
        return True
    named = ask.kind in VALUED and turn.reply.size <= _NAMED
    return named and carries_answer(ask.kind, turn.response, turn.language)
