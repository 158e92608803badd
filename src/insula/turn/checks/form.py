"""The faults of form: what the identity forbids, its tone, and a length that cannot be right."""

import re
from collections.abc import Iterator
from functools import lru_cache

from insula.text.answers import AskKind, carries_answer, is_informal
from insula.text.constraints import Kind
from insula.turn.exchange import CJK, Exchange
from insula.types import Fault

MIN_CHARS = 10
"""Shorter is suspicious where more is expected (seed 000: 10); a Chinese or Japanese character counts three."""
MAX_FORBIDDEN = 200_000
"""A response is searched for forbidden patterns up to here."""
LONGEST_FACT = 4_000
LONGEST_SMALL_TALK = 2_000
LONGEST = 24_000
LENGTHS_OF_MESSAGE = 4
"""A response is too long beyond these characters (to a plain question, to none, to any other), plus so many times the
length of the message."""

_FACTS: frozenset[AskKind] = frozenset({"yes_no", "number", "person", "place", "time", "choice", "name"})
_EXPECT_MORE: frozenset[AskKind] = frozenset({"how_to", "why", "list", "code"})
_SHORT: frozenset[Kind] = frozenset({"words", "characters", "brief"})
"""Demands that ask for a short answer, or have its length counted."""
_DONE: frozenset[AskKind] = frozenset({"how_to", "code"})
_COMMAND = re.compile(
    r"^(?:[a-z][\w.]+(?: [\w./~*]+)* -{1,2}[\w-]+(?: [\w./~*-]+)*|\$ .+|(?:[A-Z]\w*|[⌘⌥⇧⌃^]) ?[+-]? ?\S{1,5})$"
)
"""A command or the keys to press, and no word of the language: `df -h`, `Ctrl+Z`."""
_COMMA = re.compile(r"[,，、;；\n]")


def check_language(turn: Exchange) -> Iterator[Fault]:
    """Plainly another language than the one asked for or written in."""
    if turn.is_foreign:
        yield Fault(flag="wrong_language")


def check_identity(turn: Exchange) -> Iterator[Fault]:
    """What the identity forbids, and emoji or doubled exclamation marks where it speaks formally."""
    if any(pattern.search(turn.whole, 0, MAX_FORBIDDEN) for pattern in _compile_forbidden(turn.identity.forbidden)):
        yield Fault(flag="forbidden_pattern")
    if turn.identity.voice == "formal" and is_informal(turn.response):
        yield Fault(flag="off_tone", certain=False)


def check_length(turn: Exchange) -> Iterator[Fault]:
    """Too short where more is expected, or beyond what the message may need."""
    if _is_too_short(turn):
        yield Fault(flag="too_short", certain=False)
    if len(turn.whole) > _length_bound(turn):
        yield Fault(flag="too_long", certain=False)


@lru_cache(maxsize=64)
def _compile_forbidden(forbidden: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """The identity's patterns that compile; those that do not are reported where the identity is read."""
    patterns: list[re.Pattern[str]] = []
    for pattern in forbidden:
        try:
            patterns.append(re.compile(pattern, re.IGNORECASE))
        except re.error:
            continue
    return tuple(patterns)


def _is_too_short(turn: Exchange) -> bool:
    text = turn.response.strip()
    if len(text) + 2 * len(CJK.findall(text[:MIN_CHARS])) >= MIN_CHARS or turn.declined:
        return False
    if any(demand.kind in _SHORT for demand in turn.asked.demands):
        return False
    return any(ask.kind in _EXPECT_MORE and not _suffices_short(ask.kind, turn, text) for ask in turn.asked.asks)


def _suffices_short(kind: AskKind, turn: Exchange, text: str) -> bool:
    """Whether so short a response is all that was asked for: a command or an expression, or the items of a list."""
    if kind == "list":
        return len([part for part in _COMMA.split(text) if any(map(str.isalnum, part))]) > 1
    return kind in _DONE and (bool(_COMMAND.search(text)) or carries_answer("code", text, turn.language))


def _length_bound(turn: Exchange) -> int:
    """The upper bound of length, which grows with the message."""
    kinds = {ask.kind for ask in turn.asked.asks}
    bound = LONGEST if kinds - _FACTS else LONGEST_FACT if kinds else LONGEST_SMALL_TALK
    if not kinds and not turn.asked.small_talk:
        bound = LONGEST
    return bound + LENGTHS_OF_MESSAGE * len(turn.asked.text)
