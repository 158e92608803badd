"""Which of a user's standing wishes a turn is told, in the words that the user used (K4, R5).

What the message itself wishes otherwise is not told beside it, not even for this answer alone. Wishes for a topic come
with the topic; of all there are at most `NEAREST` before the message, and the rest stands further off.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from insula.guidance import MUTED, PINNED
from insula.language.preferences import CONTENT, Preference
from insula.memory.storage.rows import StoredGuidance
from insula.memory.wishes import is_of_one_topic, is_told, is_wish, part_told, preference_words, relate_preferences
from insula.screening import screen_text
from insula.text import triggers

CHARS = 200
"""Characters of one wish in a prompt."""
NEAREST = 6
"""Wishes that are told right before the message."""
MOST = 12
"""Wishes that a turn is told in all."""


class ActivePreference(NamedTuple):
    """A wish that may be told."""

    id: int
    key: str
    text: str
    part: str
    """What of an answer it is about, such as "length.short"; empty where that is not known."""
    trigger: frozenset[str]
    pinned: bool
    latest: int
    """The last message that it cites."""


def active_preferences(kept: Iterable[StoredGuidance]) -> tuple[ActivePreference, ...]:
    """The wishes that may be told, pinned ones first, then the latest; screened anew."""
    preferences = [
        wish for stored in kept if is_wish(stored) and is_told(stored) and (wish := _read_preference(stored))
    ]
    return tuple(
        sorted(preferences, key=lambda preference: (not preference.pinned, -preference.latest, -preference.id))
    )


def _read_preference(stored: StoredGuidance) -> ActivePreference | None:
    text = screen_text(preference_words(stored), CHARS)
    if stored.mode == MUTED or text.reasons or not text.text:
        return None
    latest = max(stored.citations, default=0)
    return ActivePreference(
        stored.id,
        stored.key,
        text.text,
        part_told(stored.key),
        frozenset(stored.trigger),
        stored.mode == PINNED,
        latest,
    )


def select_preferences(
    known: Sequence[ActivePreference],
    terms: Collection[str],
    heard: Sequence[Preference] = (),
    *,
    payload: bool = False,
) -> tuple[ActivePreference, ...]:
    """The wishes of a turn, what matters most first: those for its topic, then as they stand.

    Args:
        known: all that may be told.
        heard: what the message itself wishes; it wins at once.
        payload: a program reads the answer: no wish of its form is told.
    """
    held = frozenset(terms)
    up = [
        preference
        for preference in known
        if triggers.trigger_appears(preference.trigger, held) and not _is_overruled(preference, heard)
    ]
    if payload:
        up = [preference for preference in up if preference.part.partition(".")[0] in CONTENT]
    if len(up) == 1 and len(known) == 1 and any(wish.lifts and not wish.part for wish in heard):
        up = []
    return tuple(sorted(up, key=lambda preference: (not preference.pinned, not preference.trigger)))[:MOST]


def _is_overruled(preference: ActivePreference, heard: Sequence[Preference]) -> bool:
    """Whether the message itself says something about what a preference is about."""
    about = (wish for wish in heard if is_of_one_topic(wish, preference.trigger))
    return any(relate_preferences(wish, preference.part, preference.text) != "unrelated" for wish in about)
