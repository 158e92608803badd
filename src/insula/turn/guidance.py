"""What was learned or asked for that a message brings up, and which of it a session is told (K4, K6, R3, R5, R9, P4).

Of lessons and insights a share is withheld by lot from a session, so that it can be seen whether they help; what is
withheld leaves its place empty. What a person wrote or pinned no lot withholds.

Preferences are told in the words that the user used. What the message itself wishes otherwise is not told beside it,
not even for this answer alone. Those for a topic come with the topic.
"""

from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from insula.claims import Claimed, quote_claim, say_claim
from insula.guidance import MUTED, PINNED, SHOWN, WITHHELD
from insula.language.preferences import CONTENT, Preference
from insula.memory.storage.rows import StoredGuidance, Understood
from insula.memory.wishes import is_of_one_topic, is_told, is_wish, part_told, preference_words, relate_preferences
from insula.screening import screen_text
from insula.text import triggers
from insula.text.analysis import analyse_text
from insula.types import Arm

MOST_LESSONS, LESSON_CHARS = 3, 200
"""Lessons that one turn is told, and characters of each."""
MOST_INSIGHTS, INSIGHT_CHARS = 2, 240
SHARED = 2
"""Content words that a message and an insight must have in common, at least."""
AT_ONCE = frozenset({"corrected", "stuck"})
"""First parts of the keys of lessons that are told from the night that makes them: what the user corrected, or found no
answer to, in a second session."""
_LOTS = 16**8


class ActiveLesson(NamedTuple):
    """A lesson that may be told."""

    id: int
    key: str
    text: str
    trigger: frozenset[str]
    pinned: bool
    own: bool
    """Whether it is a person's own word, which no lot withholds."""
    rank: float
    latest: int
    """The last message that it cites."""


class ActiveInsight(NamedTuple):
    """Something understood that may be told: derived text, which never raises confidence."""

    id: int
    text: str
    terms: frozenset[str]
    rank: float


class UsedGuidance(NamedTuple):
    """What a message brought up, and whether the model was told of it."""

    id: int
    arm: str
    text: str


def find_lessons(kept: Iterable[StoredGuidance], now: float) -> tuple[ActiveLesson, ...]:
    """The lessons that may be told: what is pinned first, then a person's own, the latest first.

    All are screened anew: what is on the list may have grown since they were learned.
    """
    lessons = [
        lesson
        for stored in kept
        if not stored.section and not is_wish(stored) and (lesson := _read_lesson(stored, now))
    ]
    order = sorted(
        lessons,
        key=lambda known: (not known.pinned, not known.own, -known.latest if known.own else -known.rank, known.id),
    )
    return tuple(order)


def _read_lesson(kept: StoredGuidance, now: float) -> ActiveLesson | None:
    life = kept.assess(now)
    at_once = kept.author == "person" or kept.key.partition("/")[0] in AT_ONCE
    text = screen_text(kept.advice, LESSON_CHARS)
    if kept.mode == MUTED or text.reasons or not text.text or not (at_once or life.is_told):
        return None
    return ActiveLesson(
        id=kept.id,
        key=kept.key,
        text=text.text,
        trigger=frozenset(kept.trigger),
        pinned=kept.mode == PINNED,
        own=kept.author == "person" or kept.mode == PINNED,
        rank=life.rank,
        latest=max(kept.citations, default=0),
    )


def find_insights(understood: Iterable[Understood], untold: str) -> tuple[ActiveInsight, ...]:
    """The insights that may be told, screened anew.

    Args:
        untold: how those begin that say what is there and not what to make of it.
    """
    insights: list[ActiveInsight] = []
    for insight in understood:
        text = screen_text(insight.content, INSIGHT_CHARS)
        if text.text and not text.reasons and not insight.content.startswith(untold):
            insights.append(
                ActiveInsight(insight.id, text.text, frozenset(analyse_text(text.text).terms), insight.importance)
            )
    return tuple(insights)


def bring_up_lessons(
    known: Iterable[ActiveLesson], terms: Collection[str], session: int, share: float
) -> tuple[UsedGuidance, ...]:
    """The lessons that a message with these terms brings up, each with its arm, the same in every turn of a session."""
    up = [lesson for lesson in known if triggers.trigger_appears(lesson.trigger, terms)][:MOST_LESSONS]
    return tuple(
        UsedGuidance(lesson.id, SHOWN if lesson.own else draw_arm(f"{session} {lesson.key}", share), lesson.text)
        for lesson in up
    )


def bring_up_insights(
    known: Iterable[ActiveInsight], terms: Collection[str], session: int, share: float
) -> tuple[UsedGuidance, ...]:
    """The insights that a message with these terms brings up, the most fitting first, each with its arm."""
    held = frozenset(terms)
    fitting = [(len(insight.terms & held), insight) for insight in known]
    order = sorted((pair for pair in fitting if pair[0] >= SHARED), key=lambda pair: (-pair[0], -pair[1].rank))
    up = [insight for _, insight in order[:MOST_INSIGHTS]]
    return tuple(
        UsedGuidance(insight.id, draw_arm(f"{session} insight/{insight.id}", share), insight.text) for insight in up
    )


def draw_arm(key: str, share: float) -> str:
    """Whether something is told or withheld, by lot, so that it can be seen what it is worth (law 7).

    Args:
        key: of the session and of what may be told; its lot is the same each time.
        share: that is withheld.
    """
    return WITHHELD if int(sha256(key.encode()).hexdigest()[:8], 16) < share * _LOTS else SHOWN


def told_lessons(used: Iterable[UsedGuidance]) -> list[Claimed]:
    """What the model is told of lessons."""
    return [quote_claim("lesson", guidance.text) for guidance in used if guidance.arm == SHOWN]


def told_insights(used: Iterable[UsedGuidance]) -> list[Claimed]:
    """What the model is told of insights."""
    return [say_claim("insight", text=guidance.text) for guidance in used if guidance.arm == SHOWN]


def record_arms(used: Iterable[UsedGuidance]) -> list[Arm]:
    """What the ledger holds of it."""
    return [{"id": guidance.id, "arm": guidance.arm} for guidance in used]


PREFERENCE_CHARS = 200
"""Characters of one wish in a prompt."""
NEAREST = 6
"""Wishes that are told right before the message."""
MOST_PREFERENCES = 12
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
    text = screen_text(preference_words(stored), PREFERENCE_CHARS)
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
    tasks: Collection[str] = (),
    payload: bool = False,
) -> tuple[ActivePreference, ...]:
    """The wishes of a turn, what matters most first: those for its topic, then as they stand.

    Args:
        known: all that may be told.
        heard: what the message itself wishes; it wins at once.
        tasks: the keys of the preferences that are limited to such tasks as are asked for.
        payload: a program reads the answer: no wish of its form is told.
    """
    held = frozenset(terms)
    up = [
        preference
        for preference in known
        if (preference.key in tasks or triggers.trigger_appears(preference.trigger, held))
        and not _is_overruled(preference, heard)
    ]
    if payload:
        up = [preference for preference in up if preference.part.partition(".")[0] in CONTENT]
    if len(up) == 1 and len(known) == 1 and any(wish.lifts and not wish.part for wish in heard):
        up = []
    return tuple(sorted(up, key=lambda preference: (not preference.pinned, not preference.trigger)))[:MOST_PREFERENCES]


def _is_overruled(preference: ActivePreference, heard: Sequence[Preference]) -> bool:
    """Whether the message itself says something about what a preference is about."""
    about = (wish for wish in heard if is_of_one_topic(wish, preference.trigger))
    return any(relate_preferences(wish, preference.part, preference.text) != "unrelated" for wish in about)
