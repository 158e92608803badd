"""Which of a user's standing wishes a turn is told, in the words that the user used (K4, R5).

What the message itself wishes otherwise is not told beside it, not even for this answer alone. Wishes for a topic come
with the topic; of all there are at most `NEAREST` before the message, and the rest stands further off.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from insula.guidance import MUTED, PINNED
from insula.memory.storage.rows import Kept
from insula.memory.wishes import is_wish, stands, words
from insula.screening import screen
from insula.text import triggers
from insula.text.relations import relation, suspended
from insula.text.slots import slots
from insula.text.wishing import Wish

CHARS = 200
"""Characters of one wish in a prompt."""
NEAREST = 6
"""Wishes that are told right before the message."""
MOST = 12
"""Wishes that a turn is told in all."""
_MEANT = frozenset({"temperature", "system", "currency", "clock", "language", "spelling"})
"""Slots that change what an answer says; all others change its form, and would break what a program reads."""
_ENDS = frozenset({"refines", "contradicts", "lifts"})


class Standing(NamedTuple):
    """A wish that may be told."""

    id: int
    key: str
    text: str
    trigger: frozenset[str]
    pinned: bool
    latest: int
    """The last message that it cites."""


def standing(kept: Iterable[Kept]) -> tuple[Standing, ...]:
    """The wishes that may be told, pinned ones first, then the latest; screened anew."""
    found = [wish for one in kept if is_wish(one) and stands(one) and (wish := _standing(one))]
    return tuple(sorted(found, key=lambda one: (not one.pinned, -one.latest, -one.id)))


def _standing(one: Kept) -> Standing | None:
    text = screen(words(one), CHARS)
    if one.mode == MUTED or text.reasons or not text.text:
        return None
    latest = max(one.citations, default=0)
    return Standing(one.id, one.key, text.text, frozenset(one.trigger), one.mode == PINNED, latest)


def told(
    known: Sequence[Standing], terms: Collection[str], heard: Sequence[Wish] = (), *, payload: bool = False
) -> tuple[Standing, ...]:
    """The wishes of a turn, what matters most first: those for its topic, then as they stand.

    Args:
        known: all that may be told.
        terms: of the message.
        heard: what the message itself wishes; it wins at once.
        payload: a program reads the answer: no wish of its form is told.
    """
    held = frozenset(terms)
    up = [one for one in known if triggers.appears(one.trigger, held) and not _overruled(one, heard)]
    if payload:
        up = [one for one in up if (names := {slot.name for slot in slots(one.text)}) and names <= _MEANT]
    if len(up) == 1 and any(wish.force == "pointing" for wish in heard):
        up = []
    return tuple(sorted(up, key=lambda one: (not one.pinned, not one.trigger)))[:MOST]


def _overruled(one: Standing, heard: Sequence[Wish]) -> bool:
    return any(suspended(wish, one.text) or relation(wish, one.text) in _ENDS for wish in heard)
