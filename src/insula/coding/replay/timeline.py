"""The timeline of a session as shapes for an SVG: one bar per action, or per few where there are very many.

Across, every bar is as wide as any other: time would squeeze an hour of work beside a night of waiting. The drawing is
stretched to the width of the page, so it holds only shapes that bear that: rectangles, and no text.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from insula.coding.replay.model import Moment, Replayed, TimelinePoint

BARS = 400
"""The most bars of a timeline: fifty timelines leave the page below 5 MB."""
UNIT = 8
"""Width of a bar with the gap after it."""
DENSE = 250
"""From so many bars on there is no gap: it would be narrower than a pixel."""
ROOM = 48
"""A session of fewer actions leaves the rest of the width empty, so that its bars do not become beams."""
FLOOR, DECADES = 10, 4
"""The height is the logarithm of the tokens, from ten to a hundred thousand."""

TOP, BASE = 16, 96
"""Of the bars; above them is the user's lane."""
STUCK, INSULA = 100, 122
"""The lanes below: top of where it was stuck, foot of what would have been said."""

Bar = Sequence[TimelinePoint]
"""An action, or several in a row."""


@dataclass(frozen=True, slots=True)
class TimelineBox:
    """A rectangle that the page says something about."""

    x: int
    y: int
    width: int
    height: int
    moment: Moment | None = None
    """Of a stretch that went wrong."""
    point: TimelinePoint | None = None
    """Of a text: the action after which it would have been said."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the template draws: paths, and boxes of which something is said."""

    first: int
    last: int
    """Steps of the first and the last action."""
    each: int
    """Actions per bar."""
    width: int
    calls: str
    failed: str
    user: str
    felt: str
    stuck: tuple[TimelineBox, ...]
    texts: tuple[TimelineBox, ...]


def draw_timeline(session: Replayed) -> Timeline:
    """The timeline of a session that has actions."""
    points = sorted(session.points, key=lambda point: point.step)
    each = math.ceil(len(points) / BARS)
    bars = [points[at : at + each] for at in range(0, len(points), each)]
    wide = UNIT if len(bars) > DENSE else UNIT - 2
    return Timeline(
        first=points[0].step,
        last=points[-1].step,
        each=each,
        width=max(ROOM, len(bars)) * UNIT,
        calls=_draw_lane(wide, BASE, map(_measure_height, bars)),
        failed=_draw_lane(wide, BASE, (_measure_height(bar) * _share_failed(bar) for bar in bars)),
        user="".join(
            _draw_box(_find_bar(bars, step) * UNIT, 4, 2, BASE - 4) for step in sorted(set(session.user_steps))
        ),
        felt=_draw_lane(wide, INSULA, (3 * any(point.sense for point in bar) for bar in bars)),
        stuck=tuple(_draw_moment(bars, moment) for moment in session.moments),
        texts=tuple(_draw_text(at, wide, bar) for at, bar in enumerate(bars) if any(point.said for point in bar)),
    )


def _measure_height(bar: Bar) -> float:
    """Never nothing: an action that brought no token was one all the same."""
    tokens = sum(point.tokens for point in bar)
    decades = math.log10(max(tokens, FLOOR) / FLOOR)
    return max(2.0, (BASE - TOP) * min(decades, DECADES) / DECADES)


def _share_failed(bar: Bar) -> float:
    return sum(not point.ok for point in bar) / len(bar)


def _find_bar(bars: Sequence[Bar], step: int) -> int:
    """The bar in which a step lies."""
    return bisect_left(bars, step, key=lambda bar: bar[-1].step)


def _draw_moment(bars: Sequence[Bar], moment: Moment) -> TimelineBox:
    start, end = _find_bar(bars, moment.first), bisect_right(bars, moment.last, key=lambda bar: bar[0].step)
    return TimelineBox(start * UNIT, TOP, max(1, end - start) * UNIT, BASE - TOP, moment=moment)


def _draw_text(at: int, wide: int, bar: Bar) -> TimelineBox:
    """The loudest text of a bar, as high as its rung; what is no part of the ladder is as high as awareness."""
    point = max(bar, key=lambda point: (bool(point.said), point.rung))
    high = 3 + 3 * max(1, point.rung)
    return TimelineBox(at * UNIT, INSULA - high, wide, high, point=point)


def _draw_lane(wide: int, base: int, heights: Iterable[float]) -> str:
    whole = map(math.ceil, heights)
    return "".join(_draw_box(at * UNIT, base - high, wide, high) for at, high in enumerate(whole) if high)


def _draw_box(x: int, y: int, wide: int, high: int) -> str:
    return f"M{x} {y}h{wide}v{high}h-{wide}z"
