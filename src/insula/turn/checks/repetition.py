"""Whether a response says once more what was said before, unasked, or runs in circles itself."""

import re
from collections.abc import Iterator

from insula.text.answers import wants_again
from insula.turn.exchange import CJK, Exchange
from insula.turn.similarity import NEAR_DUPLICATE, near_duplicate
from insula.turn.substance import self_repetition
from insula.types import Fault

LOOP = 0.5
"""From this share of repeated word triples on a response runs in circles."""
LEAST_REPEATS = 4
"""A response in which this share (1 in 4) of its pieces is new says one thing again and again."""
MAX_CHARS = 16_000

_LOOP_CHARS = 120
_COURTESY_CHARS = 120
_FEW_WORDS = 3
_FEW_CHARS = 24
_LOOPED = 0.6
_LOOP = re.compile(r"(.{2,24}?)\1{5,}", re.DOTALL)
_PIECES = re.compile(r"[.!?。！？\n,，、;；]+\s*")


def check_repetition(turn: Exchange) -> Iterator[Fault]:
    """What was said before, word for word or nearly, or one thing again and again."""
    text = turn.response
    circles = repeats_within(text) or (len(text) >= _LOOP_CHARS and self_repetition(text) >= LOOP)
    if circles or (near_duplicate(text, turn.recent) >= NEAR_DUPLICATE and not _may_repeat(turn)):
        yield Fault(flag="repetition")


def _may_repeat(turn: Exchange) -> bool:
    """A "Yes." or "You're welcome!" wears out by no use, and what is asked for again is said again."""
    text = turn.response.strip()
    if len(text.split()) <= _FEW_WORDS and len(text) + 2 * len(CJK.findall(text)) <= _FEW_CHARS:
        return True
    if turn.asked.small_talk and len(text) <= _COURTESY_CHARS:
        return True
    return wants_again(turn.asked.text, turn.asked.language)


def repeats_within(response: str) -> bool:
    """Whether one word, phrase or sentence makes up nearly all of a response, again and again."""
    text = response[:MAX_CHARS].lower()
    words = text.split()
    if len(words) >= 2 * LEAST_REPEATS and len(set(words)) * 2 * LEAST_REPEATS <= len(words):
        return True
    if any(map(_is_unspaced, text[:24])) and (loop := _LOOP.search(text)) is not None:
        return len(loop.group()) >= _LOOPED * len(text)
    pieces = [piece.strip() for piece in _PIECES.split(text) if piece.strip()]
    return len(pieces) >= LEAST_REPEATS and len(set(pieces)) * LEAST_REPEATS <= len(pieces)


def _is_unspaced(character: str) -> bool:
    return character >= "\u3040"
