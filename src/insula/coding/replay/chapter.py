"""What the page tells: each session as a chapter with its timeline and its moments, and all of them together."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from insula.coding.replay.model import Moment, Replayed, TimelinePoint, Totals
from insula.coding.replay.telling import describe_moment, dump_bars, introduce_moment
from insula.coding.replay.timeline import (
    UNIT,
    StuckBand,
    Timeline,
    TimelineBar,
    draw_bands,
    draw_bars,
    draw_timeline,
    make_bars,
    measure_width,
)
from insula.coding.replay.visible import show_safely
from insula.coding.step.senses import against_words, unmet

SPARKS, SPARK = 60, 22
"""Bars and height of a session's timeline in small."""
MOMENTS = 25
"""Of one session that are shown."""
TOLD = 3
"""Actions of one session of which something is said that is no moment."""
DATA = 70_000
"""Bytes of what the page knows of one timeline: fifty of them leave it below 5 MB."""
_DATE = re.compile(
    r"(?:[a-z]{1,10}-)?20\d\d-?\d\d-?\d\d(?:[T_ -]\d\d[-:]?\d\d(?:[-:]?\d\d)?(?![0-9A-Za-z]))?(?:[-_. ]|$)", re.ASCII
)
"""What an id may begin with that many others begin with, too."""
OF_WORDS = (against_words.NAME, unmet.NAME)
"""The senses that go by what the user said."""
FEWEST = 60
"""Bars below which no timeline is made coarser, whatever it takes."""


@dataclass(frozen=True, slots=True)
class LinkedMoment:
    """A moment, and the id of its place on the page."""

    moment: Moment
    id: str

    @property
    def feeling(self) -> str:
        """What the sense felt, and how often."""
        return describe_moment(self.moment)

    @property
    def introduction(self) -> str:
        """The same, up to where it is said what it began with."""
        return introduce_moment(self.moment)


@dataclass(frozen=True, slots=True)
class Chapter:
    """One session on the page."""

    id: str
    session: Replayed
    stuck: int
    stuck_seconds: float
    troubles: tuple[LinkedMoment, ...]
    notable: tuple[TimelinePoint, ...]
    line: Timeline | None = None
    data: str = ""
    spark: "Spark | None" = None
    start: int = 0
    """The bar that is told of first."""

    @property
    def finding(self) -> LinkedMoment | None:
        """What it is listed by: what went against the user's words, else what went worst."""
        of_words = (trouble for trouble in self.troubles if trouble.moment.sense in OF_WORDS)
        return next(of_words, next(iter(self.troubles), None))

    @property
    def name(self) -> str:
        """What a person would call the session."""
        return show_safely(
            self.session.project, 40
        ) or f"session {show_safely(shorten_id(self.session.id), 8)}".removesuffix("…")

    def make_place_id(self, step: int) -> str:
        """The id of the place where an action is told of."""
        return f"{self.id}-step-{step}"


@dataclass(frozen=True, slots=True)
class Spark:
    """A timeline in small."""

    width: int
    bands: tuple[StuckBand, ...]
    calls: str
    failed: str


def measure_cost(session: Replayed) -> tuple[int, int]:
    """By which sessions are sorted: tokens while stuck, all tokens."""
    return count_stuck(session), session.tokens


def count_stuck(session: Replayed) -> int:
    """Tokens from the first sign of trouble to the next progress; moments of several agents may overlap."""
    return min(sum(moment.tokens for moment in session.moments), max(session.tokens, 0))


def shorten_id(session: str) -> str:
    """The part of an id that tells sessions apart: many begin with the word for one, and with their day and time."""
    return session[date.end() :] or session if (date := _DATE.match(session)) else session


def make_anchor(session: Replayed) -> str:
    """An id that no text of the session can shape, and that is the same on the next page."""
    key = f"{session.host}\0{session.path}\0{session.id}".encode("utf-8", "replace")
    return f"session-{hashlib.sha256(key).hexdigest()[:10]}"


def make_chapter(session: Replayed, name: str, limit: int) -> Chapter:
    """All that the page tells of a session.

    Args:
        limit: bars that its timeline may have.
    """
    troubles = _list_troubles(session, name)
    made = Chapter(
        id=name,
        session=session,
        stuck=count_stuck(session),
        stuck_seconds=sum(moment.seconds for moment in session.moments),
        troubles=troubles,
        notable=_list_notable(session),
    )
    return _draw_chapter(made, limit) if session.points else made


def _draw_chapter(made: Chapter, limit: int) -> Chapter:
    session = made.session
    line, data = _make_line(session, limit)
    small = make_bars(session.points, SPARKS)
    return replace(
        made,
        line=line,
        data=data,
        spark=Spark(
            SPARKS * UNIT if len(small) > SPARKS // 2 else measure_width(small),
            draw_bands(small, session.moments),
            draw_bars(small, 0, SPARK),
            draw_bars(small, 0, SPARK, failed=True),
        ),
        start=_find_start(line.bars, session),
    )


def _make_line(session: Replayed, limit: int) -> tuple[Timeline, str]:
    line = draw_timeline(session.points, session.moments, session.user_steps, limit)
    data = dump_bars(line.bars)
    while len(data.encode()) > DATA and limit > FEWEST:
        limit //= 2
        line = draw_timeline(session.points, session.moments, session.user_steps, limit)
        data = dump_bars(line.bars)
    return line, data


def _find_start(row: Sequence[TimelineBar], session: Replayed) -> int:
    """The beginning of the worst moment, else the action with the most tokens."""
    if session.moments:
        first = session.moments[0].first
        return next((at for at, bar in enumerate(row) if bar.points[-1].step >= first), 0)
    return max(range(len(row)), key=lambda at: row[at].tokens)


def _list_troubles(session: Replayed, name: str) -> tuple[LinkedMoment, ...]:
    """Two moments that begin with one action share its place, and an id stands on a page once."""
    troubles: list[LinkedMoment] = []
    seen: set[int] = set()
    for moment in session.moments[:MOMENTS]:
        troubles.append(LinkedMoment(moment, "" if moment.first in seen else f"{name}-step-{moment.first}"))
        seen.add(moment.first)
    return tuple(troubles)


def _list_notable(session: Replayed) -> tuple[TimelinePoint, ...]:
    known = {moment.first for moment in session.moments[:MOMENTS]}
    return tuple(
        [point for point in session.points if point.step not in known and point.said and not point.rung][:TOLD]
    )


CHAPTERS = 50
"""Sessions that are shown with their timeline."""
FURTHER = 300
"""Sessions after those that are shown as a line."""
BARS = 15_000
"""Bars of all timelines together, which keeps the page below 5 MB."""
LIMITS = (800, 600, 400, 300, 200, 120)
"""Bars of one timeline."""


@dataclass(frozen=True, slots=True)
class Worst:
    """A moment, and where it is told of; nowhere if its session is not on the page."""

    trouble: LinkedMoment
    chapter: Chapter | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The values that the template shows, in its order."""

    totals: Totals
    chapters: tuple[Chapter, ...]
    further: tuple[Replayed, ...]
    left_out: int
    """Sessions that are not even a line: so many that did nothing, or came after the last line."""
    worst: tuple[Worst, ...]
    complete: bool
    """Whether all moments are known; else the next five are of the sessions that went worst."""
    looked: int
    tokens: int
    moments: int
    stuck: int
    stuck_seconds: float


def make_overview(sessions: Sequence[Replayed], totals: Totals) -> Overview:
    """Everything on the page, from what was found in each session and in all of them."""
    shown, further, left_out = _choose_shown(sessions, totals)
    chapters = _make_chapters(shown)
    complete = _is_complete(sessions, totals)
    return Overview(
        totals=totals,
        chapters=chapters,
        further=further,
        left_out=left_out + max(0, totals.sessions - len(sessions)),
        worst=_list_worst(totals, chapters),
        complete=complete,
        looked=len(sessions),
        tokens=totals.tokens if complete else sum(session.tokens for session in sessions),
        moments=sum(len(session.moments) for session in sessions),
        stuck=sum(measure_cost(session)[0] for session in sessions),
        stuck_seconds=sum(moment.seconds for session in sessions for moment in session.moments),
    )


def _is_complete(sessions: Sequence[Replayed], totals: Totals) -> bool:
    """Sessions are kept by their worst moment: where one without any was kept, none with one was dropped."""
    return totals.sessions <= len(sessions) or any(not session.moments for session in sessions)


def _choose_shown(sessions: Sequence[Replayed], totals: Totals) -> tuple[list[Replayed], tuple[Replayed, ...], int]:
    """Those of the worst moments always have a chapter; then comes what cost most."""
    linked = {moment.session for moment in totals.worst}
    ranked = sorted(
        (session for session in sessions if session.tool_uses or session.moments), key=measure_cost, reverse=True
    )
    first = sorted(ranked, key=lambda session: session.id not in linked)[:CHAPTERS]
    taken = {id(session) for session in first}
    rest = [session for session in ranked if id(session) not in taken]
    shown = sorted(first, key=measure_cost, reverse=True)
    return shown, tuple(rest[:FURTHER]), len(sessions) - len(shown) - len(rest[:FURTHER])


def _make_chapters(shown: Sequence[Replayed]) -> tuple[Chapter, ...]:
    limit = choose_limit([len(session.points) for session in shown])
    ids: Counter[str] = Counter()
    made: list[Chapter] = []
    for session in shown:
        name = make_anchor(session)
        ids[name] += 1
        made.append(make_chapter(session, name if ids[name] == 1 else f"{name}x{ids[name]}", limit))
    return tuple(made)


def choose_limit(sizes: Sequence[int]) -> int:
    """The most bars per timeline with which all of them have room on the page."""
    return next((limit for limit in LIMITS if sum(min(size, limit) for size in sizes) <= BARS), LIMITS[-1])


def _list_worst(totals: Totals, chapters: Iterable[Chapter]) -> tuple[Worst, ...]:
    places = {
        (made.session.id, trouble.moment.first): (made, trouble)
        for made in reversed(tuple(chapters))
        for trouble in reversed(made.troubles)
    }
    worst: list[Worst] = []
    for moment in totals.worst:
        made, _ = places.get((moment.session, moment.first), (None, None))
        worst.append(Worst(LinkedMoment(moment, made.make_place_id(moment.first) if made else ""), made))
    return tuple(worst)
