"""Which lessons a message brings up, and which of them this session is told (K6, R9, P4).

What a user said in their own plain words is always told. Of the rest a share is withheld by lot from a session, so that
it can be seen whether they help; the lot falls on what would have been told, and what is withheld leaves its place
empty.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from insula.claims import Claimed, quote
from insula.guidance import MUTED, PINNED, SHOWN, WITHHELD, Evidence, live
from insula.memory.storage.rows import Kept
from insula.memory.wishes import is_wish
from insula.screening import screen
from insula.text import triggers
from insula.turn.lot import is_withheld
from insula.types import Arm

CHARS = 200
"""Characters of one lesson in a prompt."""
MOST = 3
"""Lessons that one turn is told."""
MOST_ALWAYS = 2
"""Of these, wishes that hold always."""
AT_ONCE = frozenset({"wish", "corrected", "stuck"})
"""First parts of the keys of lessons that stand from the night that makes them: a user's own preference, and what they
corrected, or found no answer to, in a second session."""
ONE_OF_A_KIND = frozenset({"language", "length"})
"""Of wishes of these categories the latest counts: nobody can keep to two."""


class Advice(NamedTuple):
    """A lesson that may be told."""

    id: int
    key: str
    text: str
    trigger: frozenset[str]
    """Empty: it holds always."""
    pinned: bool
    own: bool
    """Whether it is a person's own word, which no lot withholds."""
    rank: float
    latest: int
    """The last message that it cites."""


class Used(NamedTuple):
    """A lesson that a message brought up, and whether the model was told of it."""

    id: int
    arm: str
    text: str


def advised(kept: Iterable[Kept], now: float) -> tuple[Advice, ...]:
    """The lessons that may be told, what is pinned first, then a user's own wishes, the latest first.

    Active are those that a second session bore out, pinned ones, and a standing wish in the user's own plain words
    (R9). All are screened anew: what is on the list may have grown since they were learned.
    """
    about = (lesson for lesson in kept if not lesson.section and not is_wish(lesson))
    found = [advice for lesson in about if (advice := _advice(lesson, now))]
    found.sort(key=lambda one: (not one.pinned, not one.own, -one.latest if one.own else -one.rank, one.id))
    return tuple(_without_rivals(found))


def _advice(lesson: Kept, now: float) -> Advice | None:
    if lesson.mode == MUTED:
        return None
    evidence = (Evidence(session=s, at=at, arm=arm, happened=did) for s, arm, did, at in lesson.evidence)
    life = live(evidence, now, mode=lesson.mode)
    kind = lesson.key.partition("/")[0]
    at_once = lesson.author == "person" or kind in AT_ONCE
    text = screen(lesson.advice, CHARS)
    if text.reasons or not text.text or not (at_once or life.told):
        return None
    return Advice(
        id=lesson.id,
        key=lesson.key,
        text=text.text,
        trigger=frozenset(lesson.trigger),
        pinned=lesson.mode == PINNED,
        own=lesson.author == "person" or kind == "wish" or lesson.mode == PINNED,
        rank=life.rank,
        latest=max(lesson.citations, default=0),
    )


def _without_rivals(found: Sequence[Advice]) -> Iterable[Advice]:
    """Without the older of two wishes that hold always and cannot both be kept to."""
    taken: set[str] = set()
    for one in found:
        category = one.key.split("/")[1] if one.key.count("/") == 2 else ""
        if one.trigger or one.pinned or category not in ONE_OF_A_KIND:
            yield one
        elif category not in taken:
            taken.add(category)
            yield one


def triggered(advice: Iterable[Advice], terms: Collection[str]) -> tuple[Advice, ...]:
    """The lessons that a message with these terms brings up, at most `MOST`: pinned ones, wishes, the rest."""
    held = frozenset(terms)
    up = [one for one in advice if triggers.appears(one.trigger, held)]
    pinned = [one for one in up if one.pinned]
    always = [one for one in up if not one.trigger and not one.pinned]
    about = [one for one in up if one.trigger and not one.pinned]
    return (*pinned, *always[:MOST_ALWAYS], *about)[:MOST]


def drawn(advice: Iterable[Advice], session: int, share: float) -> tuple[Used, ...]:
    """Each lesson with its arm in a session; the draw comes out the same in every turn of it."""
    return tuple(Used(one.id, WITHHELD if _is_withheld(one, session, share) else SHOWN, one.text) for one in advice)


def _is_withheld(one: Advice, session: int, share: float) -> bool:
    if one.own or one.pinned:
        return False
    return is_withheld(f"{session} {one.key}", share)


def told(used: Iterable[Used]) -> list[Claimed]:
    """What the model is told."""
    return [quote("lesson", one.text) for one in used if one.arm == SHOWN]


def record(used: Iterable[Used]) -> list[Arm]:
    """What the ledger holds of it."""
    return [{"id": one.id, "arm": one.arm} for one in used]
