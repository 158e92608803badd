"""The timeline of a session as paths for an SVG: one bar per action, or per few where there are very many.

Across, every bar is as wide as any other: time would squeeze an hour of work beside a night of waiting. The drawing is
stretched to the width of the page, so it holds only shapes that bear that: rectangles, and no text.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from insula.coding.replay.model import Moment, TimelinePoint

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
HEIGHT = 124


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """An action, or several in a row."""

    points: tuple[TimelinePoint, ...]

    @property
    def tokens(self) -> int:
        """Of all its actions."""
        return sum(point.tokens for point in self.points)

    @property
    def failed_share(self) -> float:
        """Share of its actions that failed."""
        return sum(not point.ok for point in self.points) / len(self.points)

    @property
    def face(self) -> TimelinePoint:
        """The action that there is most to say about."""
        return max(self.points, key=lambda point: (bool(point.said), point.rung, not point.ok, point.tokens))


@dataclass(frozen=True, slots=True)
class StuckBand:
    """A moment on the timeline."""

    x: int
    width: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the template draws."""

    bars: tuple[TimelineBar, ...]
    each: int
    """Actions per bar."""
    width: int
    bands: tuple[StuckBand, ...]
    calls: str
    failed: str
    user: str
    felt: str
    said: str


def make_bars(points: Sequence[TimelinePoint], limit: int) -> tuple[TimelineBar, ...]:
    """The actions in order, so many to a bar that there are no more bars than the limit."""
    ordered = sorted(points, key=lambda point: point.step)
    each = max(1, math.ceil(len(ordered) / limit))
    return tuple(TimelineBar(tuple(ordered[at : at + each])) for at in range(0, len(ordered), each))


def draw_timeline(
    points: Sequence[TimelinePoint], moments: Iterable[Moment], user_steps: Iterable[int], limit: int
) -> Timeline:
    """The timeline of a session.

    Args:
        limit: bars that it may have.
    """
    row = make_bars(points, limit)
    return Timeline(
        bars=row,
        each=len(row[0].points) if row else 1,
        width=measure_width(row),
        bands=draw_bands(row, moments),
        calls=draw_bars(row, TOP, BASE),
        failed=draw_bars(row, TOP, BASE, failed=True),
        user="".join(_draw_box(_find_bar(row, step) * UNIT, 4, 2, BASE - 4) for step in sorted(set(user_steps))),
        felt=_draw_lane(row, [(INSULA - 3, 3 if any(p.sense for p in bar.points) else 0) for bar in row]),
        said=_draw_lane(row, [(INSULA - high, high) for high in map(_measure_loudness, row)]),
    )


def measure_width(row: Sequence[TimelineBar]) -> int:
    """Of the drawing, in its own units."""
    return max(ROOM, len(row)) * UNIT


def draw_bars(row: Sequence[TimelineBar], top: int, base: int, *, failed: bool = False) -> str:
    """A path of one bar each, as high as the logarithm of its tokens.

    Args:
        top: where a bar of a hundred thousand tokens ends.
        failed: draw of each only the share of its actions that failed.
    """
    heights = [_measure_height(bar.tokens, base - top) * (bar.failed_share if failed else 1) for bar in row]
    return _draw_lane(row, [(base - math.ceil(high), math.ceil(high)) for high in heights])


def draw_bands(row: Sequence[TimelineBar], moments: Iterable[Moment]) -> tuple[StuckBand, ...]:
    """Where the moments lie, from left to right."""
    bands: list[StuckBand] = []
    for moment in sorted(moments, key=lambda moment: moment.first):
        start, end = _find_bar(row, moment.first), bisect_right(row, moment.last, key=lambda bar: bar.points[0].step)
        bands.append(StuckBand(start * UNIT, max(1, end - start) * UNIT, moment.first, moment.last))
    return tuple(bands)


def _find_bar(row: Sequence[TimelineBar], step: int) -> int:
    """The bar in which a step lies."""
    return bisect_left(row, step, key=lambda bar: bar.points[-1].step)


def _measure_height(tokens: int, room: int) -> float:
    """Never nothing: an action that brought no token was one all the same."""
    decades = math.log10(max(tokens, FLOOR) / FLOOR)
    return max(2.0, room * min(decades, DECADES) / DECADES)


def _measure_loudness(bar: TimelineBar) -> int:
    """A text is as high as its rung; what is no part of the ladder is as high as awareness."""
    return max((3 + 3 * max(1, point.rung) for point in bar.points if point.said), default=0)


def _draw_lane(row: Sequence[TimelineBar], boxes: Iterable[tuple[int, int]]) -> str:
    wide = UNIT if len(row) > DENSE else UNIT - 2
    return "".join(_draw_box(at * UNIT, top, wide, high) for at, (top, high) in enumerate(boxes) if high)


def _draw_box(x: int, y: int, wide: int, high: int) -> str:
    return f"M{x} {y}h{wide}v{high}h-{wide}z"
