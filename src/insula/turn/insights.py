"""What nights understood, recalled into the turn that it fits: derived text, which is told and never raises confidence.

As with lessons, a share is withheld by lot from a session, so that it can be seen what they are worth (law 7).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from insula.claims import Claimed, say
from insula.guidance import SHOWN, WITHHELD
from insula.memory.storage.rows import Understood
from insula.screening import screen
from insula.text.analysis import analyse
from insula.turn.lot import is_withheld

MOST = 2
"""Insights that one turn is told."""
SHARED = 2
"""Content words that the message and an insight must have in common, at least."""
CHARS = 240


class Insight(NamedTuple):
    """Something understood that may be told."""

    id: int
    text: str
    terms: frozenset[str]
    rank: float


class Recalled(NamedTuple):
    """An insight that a message brought up, and whether the model was told of it."""

    id: int
    arm: str
    text: str


def known(understood: Iterable[Understood], forms: Sequence[str]) -> tuple[Insight, ...]:
    """The insights that may be told, screened anew.

    Args:
        understood: what nights understood.
        forms: how those begin that say what recurs and not what to make of it.
    """
    found: list[Insight] = []
    for one in understood:
        text = screen(one.content, CHARS)
        if text.text and not text.reasons and not one.content.startswith(tuple(forms)):
            found.append(Insight(one.id, text.text, frozenset(analyse(text.text).terms), one.importance))
    return tuple(found)


def recalled(insights: Iterable[Insight], terms: Collection[str], session: int, share: float) -> tuple[Recalled, ...]:
    """The insights that a message with these terms brings up, the most fitting first, each with its arm."""
    held = frozenset(terms)
    fitting = [(len(one.terms & held), one) for one in insights]
    fitting = sorted((pair for pair in fitting if pair[0] >= SHARED), key=lambda pair: (-pair[0], -pair[1].rank))
    return tuple(
        Recalled(one.id, WITHHELD if is_withheld(f"{session} insight/{one.id}", share) else SHOWN, one.text)
        for _, one in fitting[:MOST]
    )


def told(found: Iterable[Recalled]) -> list[Claimed]:
    """What the model is told."""
    return [say("insight", text=one.text) for one in found if one.arm == SHOWN]
