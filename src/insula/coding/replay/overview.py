"""What the page tells of all sessions together."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from insula.coding.replay.chapter import Chapter, Trouble, make_anchor, make_chapter, measure_cost
from insula.coding.replay.model import FAILURE, HUGE, REREAD, STALE_EDIT, WASTE, Failure, Point, Replayed, Totals
from insula.coding.step.action import EDIT, EXECUTE, OTHER, READ, SEARCH

CHAPTERS = 50
"""Sessions that are shown with their timeline."""
FURTHER = 300
"""Sessions after those that are shown as a line."""
BARS = 15_000
"""Bars of all timelines together, which keeps the page below 5 MB."""
LIMITS = (800, 600, 400, 300, 200, 120)
"""Bars of one timeline."""
LONGEST = 5
"""Biggest outputs and longest stretches that are shown."""
DAYS = 60
"""Buckets of a pattern's history: days as long as they are enough, then several days each."""

WASTES = {
    REREAD: "a file read again that had not changed since",
    FAILURE: "failures like the one before them",
    STALE_EDIT: "edits whose old text was not there",
    HUGE: "the part of an output beyond what a step can use",
}
KINDS = {READ: "reading", SEARCH: "searching", EDIT: "editing", EXECUTE: "commands", OTHER: "other tools"}


@dataclass(frozen=True, slots=True)
class Share:
    """A part of all tokens."""

    name: str
    about: str
    tokens: int
    calls: int
    part: float
    """Of the largest one, for the length of its bar."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A day, or several."""

    label: str
    sessions: int
    happened: int


@dataclass(frozen=True, slots=True)
class History:
    """A failure pattern over time."""

    failure: Failure
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class Worst:
    """A moment, and where it is told of; nowhere if its session is not on the page."""

    trouble: Trouble
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
    waste: tuple[Share, ...]
    kinds: tuple[Share, ...]
    biggest: tuple[tuple[Chapter, Point], ...]
    stretches: tuple[Chapter, ...]
    histories: tuple[History, ...]
    never: tuple[str, ...]
    """Patterns that had their opportunity and never happened."""


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
        waste=_list_wastes(totals),
        kinds=_list_kinds(chapters),
        biggest=_list_biggest(chapters),
        stretches=_list_stretches(chapters),
        histories=_list_histories(totals),
        never=tuple(failure.pattern for failure in totals.failures if not failure.happened),
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
    found: list[Worst] = []
    for moment in totals.worst:
        made, _ = places.get((moment.session, moment.first), (None, None))
        found.append(Worst(Trouble(moment, made.place(moment.first) if made else ""), made))
    return tuple(found)


def _list_wastes(totals: Totals) -> tuple[Share, ...]:
    names = [*WASTE, *sorted(set(totals.waste) - set(WASTE))]
    largest = max([*totals.waste.values(), 1])
    shares = [
        Share(name, WASTES.get(name, ""), totals.waste[name], totals.wasted_calls[name], totals.waste[name] / largest)
        for name in names
    ]
    return tuple(sorted(shares, key=lambda share: share.tokens, reverse=True))


def _list_kinds(chapters: Iterable[Chapter]) -> tuple[Share, ...]:
    """Of the actions that timelines were kept of."""
    spent, calls = Counter[str](), Counter[str]()
    for made in chapters:
        for point in made.session.points:
            kind = point.kind if point.kind in KINDS else OTHER
            spent[kind] += point.tokens
            calls[kind] += 1
    largest = max([*spent.values(), 1])
    return tuple(
        Share(KINDS[kind], "", spent[kind], calls[kind], spent[kind] / largest) for kind, _ in spent.most_common()
    )


def _list_biggest(chapters: Iterable[Chapter]) -> tuple[tuple[Chapter, Point], ...]:
    """Of those that have a place to lead to."""
    every = [(made, point) for made in chapters for point in made.placed]
    return tuple(sorted(every, key=lambda pair: pair[1].tokens, reverse=True)[:LONGEST])


def _list_stretches(chapters: Iterable[Chapter]) -> tuple[Chapter, ...]:
    found = [(made.stretch.steps, made) for made in chapters if made.stretch]
    return tuple(made for _, made in sorted(found, key=lambda pair: pair[0], reverse=True)[:LONGEST])


def _list_histories(totals: Totals) -> tuple[History, ...]:
    return tuple(
        History(failure, make_buckets(totals, failure.pattern)) for failure in totals.failures if failure.happened
    )


def make_buckets(totals: Totals, pattern: str) -> tuple[Bucket, ...]:
    """How often a pattern happened: day by day, or several days together, those without a session among them."""
    days = {text: day for text in totals.sessions_by_day if (day := _parse_date(text))}
    if not days:
        return ()
    first, last = min(days.values()), max(days.values())
    each = -(-((last - first).days + 1) // DAYS)
    sessions, happened = Counter[int](), Counter[int]()
    for text, day in days.items():
        place = (day - first).days // each
        sessions[place] += totals.sessions_by_day[text]
        happened[place] += totals.days.get(text, Counter[str]())[pattern]
    places = range((last - first).days // each + 1)
    return tuple(Bucket(_label_bucket(first + timedelta(at * each), each), sessions[at], happened[at]) for at in places)


def _label_bucket(day: date, each: int) -> str:
    name = f"{day.day} {day:%b %Y}"
    return name if each == 1 else f"{each} days from {name}"


def _parse_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
