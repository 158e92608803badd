"""The timeline of a session as shapes for an SVG: one bar per action, or per few where there are very many.

Across, every bar is as wide as any other: time would squeeze an hour of work beside a night of waiting. The drawing is
stretched to the width of the page, so it holds only shapes that bear that: rectangles, and no text.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from insula.coding.replay.model import Moment, Replayed, TimelinePoint

BARS = 400
"""The most bars of a timeline: fifty timelines leave the page below 5 MB."""
UNIT, BAR = 8, 7
"""Width of a bar with the gap after it, and without."""
ROOM = 48
"""A session of fewer actions leaves the rest of the width empty, so that its bars do not become beams."""
FLOOR, DECADES = 10, 4
"""The height is the logarithm of the tokens, from ten to a hundred thousand."""
TOP, BASE, FOOT = 16, 96, 122
"""Of the bars, between the lane of the user's messages and that of what would be said, at the foot."""


class TimelineBox(NamedTuple):
    """A rectangle that the page says something about: a stretch that went wrong, or a text after an action."""

    x: int
    y: int
    width: int
    height: int
    of: Moment | TimelinePoint


class Timeline(NamedTuple):
    """What the template draws: paths, and boxes of which something is said."""

    each: int
    """Actions per bar."""
    width: int
    calls: str
    failed: str
    user: str
    stuck: Sequence[TimelineBox]
    texts: Sequence[TimelineBox]


def draw_timeline(session: Replayed) -> Timeline:
    """The timeline of a session that has actions."""
    points = sorted(session.points, key=lambda point: point.step)
    each = math.ceil(len(points) / BARS)
    bars = [points[at : at + each] for at in range(0, len(points), each)]
    lasts, heights = [bar[-1].step for bar in bars], list(map(_measure_height, bars))
    failed = (height * sum(not point.ok for point in bar) / len(bar) for height, bar in zip(heights, bars, strict=True))
    return Timeline(
        each=each,
        width=max(ROOM, len(bars)) * UNIT,
        calls=_draw_lane(heights),
        failed=_draw_lane(failed),
        user="".join(_draw_box(bisect_left(lasts, step) * UNIT, 4, 2, BASE - 4) for step in session.user_steps),
        stuck=[_draw_moment(bars, lasts, moment) for moment in session.moments],
        texts=[_draw_text(at, bar) for at, bar in enumerate(bars) if any(point.said for point in bar)],
    )


def _measure_height(bar: Sequence[TimelinePoint]) -> float:
    """Never nothing: an action that brought no token was one all the same."""
    tokens = sum(point.tokens for point in bar)
    decades = math.log10(max(tokens, FLOOR) / FLOOR)
    return max(2.0, (BASE - TOP) * min(decades, DECADES) / DECADES)


def _draw_moment(bars: Sequence[Sequence[TimelinePoint]], lasts: Sequence[int], moment: Moment) -> TimelineBox:
    start, end = bisect_left(lasts, moment.first), bisect_right(bars, moment.last, key=lambda bar: bar[0].step)
    return TimelineBox(start * UNIT, TOP, max(1, end - start) * UNIT, BASE + 4 - TOP, moment)


def _draw_text(at: int, bar: Sequence[TimelinePoint]) -> TimelineBox:
    """The loudest text of a bar, as high as its rung; what is no part of the ladder is as high as awareness."""
    point = max(bar, key=lambda point: (bool(point.said), point.rung))
    high = 3 + 3 * max(1, point.rung)
    return TimelineBox(at * UNIT, FOOT - high, BAR, high, point)


def _draw_lane(heights: Iterable[float]) -> str:
    whole = map(math.ceil, heights)
    return "".join(_draw_box(at * UNIT, BASE - high, BAR, high) for at, high in enumerate(whole) if high)


def _draw_box(x: int, y: int, wide: int, high: int) -> str:
    return f"M{x} {y}h{wide}v{high}h-{wide}z"
