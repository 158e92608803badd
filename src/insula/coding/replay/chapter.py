"""What the page tells: each session as a chapter with its timeline and its moments, and all of them together."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from insula.coding.replay.model import Moment, Replayed, TimelinePoint, Totals
from insula.coding.replay.timeline import Timeline, draw_timeline
from insula.coding.replay.visible import show_safely
from insula.coding.step.senses import against_words, unmet

MOMENTS = 25
"""Of one session that are shown."""
NOTABLE = 3
"""Actions of one session of which something is said that is no moment."""
_DATE = re.compile(
    r"(?:[a-z]{1,10}-)?20\d\d-?\d\d-?\d\d(?:[T_ -]\d\d[-:]?\d\d(?:[-:]?\d\d)?(?![0-9A-Za-z]))?(?:[-_. ]|$)", re.ASCII
)
"""What an id may begin with that many others begin with, too."""
OF_WORDS = (against_words.NAME, unmet.NAME)
"""The senses that go by what the user said."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One session on the page."""

    id: str
    session: Replayed
    line: Timeline | None

    @property
    def troubles(self) -> Sequence[Moment]:
        """The moments that are shown, the worst first."""
        return self.session.moments[:MOMENTS]

    @property
    def notable(self) -> Sequence[TimelinePoint]:
        """Actions after which something would have been said that is part of no moment."""
        known = {moment.first for moment in self.troubles}
        told = [point for point in self.session.points if point.said and not point.rung and point.step not in known]
        return told[:NOTABLE]

    @property
    def finding(self) -> Moment | None:
        """What it is listed by: what went against the user's words, else what went worst."""
        of_words = (moment for moment in self.troubles if moment.sense in OF_WORDS)
        return next(of_words, next(iter(self.troubles), None))

    @property
    def name(self) -> str:
        """What a person would call the session."""
        return show_safely(
            self.session.project, 40
        ) or f"session {show_safely(shorten_id(self.session.id), 8)}".removesuffix("…")

    def make_place_id(self, number: int) -> str:
        """The id of the place where the moment of that number is told of."""
        return f"{self.id}-moment-{number}"


def shorten_id(session: str) -> str:
    """The part of an id that tells sessions apart: many begin with the word for one, and with their day and time."""
    return session[date.end() :] or session if (date := _DATE.match(session)) else session


def make_anchor(session: Replayed) -> str:
    """An id that no text of the session can shape, and that is the same on the next page."""
    key = f"{session.host}\0{session.path}\0{session.id}".encode("utf-8", "replace")
    return f"session-{hashlib.sha256(key).hexdigest()[:10]}"


@dataclass(frozen=True, slots=True)
class Overview:
    """The values that the template shows."""

    totals: Totals
    chapters: tuple[Chapter, ...]
    """What cost most while stuck comes first."""
    left_out: int
    """Sessions that are counted and have no chapter."""
    places: dict[Moment, str]
    """Where a moment is told of; those of sessions without a chapter are nowhere."""


def make_overview(sessions: Sequence[Replayed], totals: Totals) -> Overview:
    """Everything on the page, from what was found in each session and in all of them."""
    ranked = sorted(sessions, key=lambda session: (session.stuck_tokens, session.tokens), reverse=True)
    shown: dict[str, Replayed] = {}
    for session in ranked:
        if session.tool_uses or session.moments:
            shown.setdefault(make_anchor(session), session)
    chapters = tuple(
        Chapter(anchor, session, draw_timeline(session) if session.points else None)
        for anchor, session in shown.items()
    )
    return Overview(
        totals=totals,
        chapters=chapters,
        left_out=max(0, totals.sessions - len(chapters)),
        places={
            moment: chapter.make_place_id(number)
            for chapter in chapters
            for number, moment in enumerate(chapter.troubles)
        },
    )
