"""What the page tells of all sessions together."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from insula.coding.replay.chapter import Chapter, LinkedMoment, make_anchor, make_chapter, measure_cost
from insula.coding.replay.model import Replayed, Totals

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
