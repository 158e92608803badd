"""The session over time: figures to be drawn and read, snapshots, and what was adapted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from insula.coding.replay import figures
from insula.memory.storage.rows import LedgerEntry
from insula.operations.adaptations import CAUSES, describe_duration
from insula.server.page.views import words
from insula.session.adaptation import Cause
from insula.session.conditions import describe_slowdown
from insula.session.ring import Ring
from insula.session.snapshot import Performance, Snapshot
from insula.types import Controls
from insula.value import is_object


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPoint:
    """One value of a chart."""

    at: float
    """Seconds since the epoch."""
    label: str
    value: float
    text: str
    short: str
    """The label where there is little room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A line over time, and the same as a table."""

    id: str
    title: str
    about: str
    points: tuple[ChartPoint, ...]
    top: float | None = None
    """The highest value that there can be."""
    marks: tuple[float, ...] = ()
    """Values at which something changes."""

    @property
    def summary(self) -> str:
        """The last value and the middle one."""
        if not self.points:
            return "nothing yet"
        middle = sorted(self.points, key=lambda point: point.value)[len(self.points) // 2]
        return f"last {self.points[-1].text}, middle {middle.text}"


def make_charts(turns: Iterable[LedgerEntry], snapshots: Sequence[Snapshot]) -> list[Chart]:
    """Quality, confidence, latency and utilisation.

    Args:
        turns: the user's `meta:turn` signals, newest first.
        snapshots: of the service, oldest first.
    """
    rows = list(turns)[::-1]
    return [
        Chart(
            id="quality",
            title="How good",
            about="The check of each answer. Below 50 % it is flagged as poor.",
            points=_make_points(rows, lambda data: _read_score(data, "assessment"), words.format_percent),
            top=1.0,
            marks=(0.5, 0.7),
        ),
        Chart(
            id="confidence",
            title="How sure",
            about="How likely memory held what was asked, estimated before each answer.",
            points=_make_points(rows, lambda data: _read_score(data, "confidence"), words.format_percent),
            top=1.0,
        ),
        Chart(
            id="latency",
            title="How slow",
            about="The time that the model took for each answer.",
            points=_make_points(rows, _read_seconds, lambda value: describe_duration(1_000 * value)),
        ),
        Chart(
            id="utilisation",
            title="How full working memory is",
            about="Of the conversation at that moment. From 85 % on, fewer memories are used and stored.",
            points=tuple(
                ChartPoint(
                    at=snapshot.ts,
                    label=f"turn {snapshot.turn_counter}, {figures.format_time(snapshot.ts)}",
                    value=snapshot.stm_utilization,
                    text=words.format_percent(snapshot.stm_utilization),
                    short=f"turn {snapshot.turn_counter}",
                )
                for snapshot in snapshots
                if snapshot.stm_utilization is not None
            ),
            top=1.0,
            marks=(0.85,),
        ),
    ]


def _make_points(
    rows: Sequence[LedgerEntry], value: Callable[[Mapping[str, Any]], float | None], text: Callable[[float], str]
) -> tuple[ChartPoint, ...]:
    same_day = len({figures.format_day(row.at) for row in rows}) == 1
    known = [(row, number) for row in rows if (number := value(row.data)) is not None]
    return tuple(
        ChartPoint(
            at=row.at,
            label=f"{figures.format_time(row.at)}, turn {row.turn}",
            value=number,
            text=text(number),
            short=figures.format_clock(row.at)[:5] if same_day else figures.format_day(row.at).rpartition(" ")[0],
        )
        for row, number in known
    )


def _read_seconds(data: Mapping[str, Any]) -> float | None:
    return _as_number(data.get("seconds"))


def _read_score(data: Mapping[str, Any], name: str) -> float | None:
    part = data.get(name)
    return _as_number(part.get("score")) if is_object(part) else None


def _as_number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def describe_now(performance: Performance, ring: Ring, recent: Sequence[LedgerEntry], normal: Controls) -> str:
    """How the service stands, in two sentences.

    Args:
        recent: the records of the user's last turns, the latest first.
        normal: what a turn may use where nothing is amiss.
    """
    slow, used = performance.slowdown, ring.last.stm_utilization if ring.last else None
    parts = [
        describe_slowdown(slow) if slow is not None else "",
        f"working memory is {words.format_percent(used)} full" if used is not None else "",
    ]
    said = " and ".join(part for part in parts if part)
    state = f"{said[0].upper()}{said[1:]}." if said else "There is too little to say whether the model is slow."
    return f"{state} {_describe_limit(ring, recent, normal)}"


def _describe_limit(ring: Ring, recent: Sequence[LedgerEntry], normal: Controls) -> str:
    """What the user's last answer could use: other users' conversations may be under another load."""
    allowed = recent[0].data.get("controls") if recent else None
    limit = _as_number(allowed.get("max_context_items")) if is_object(allowed) else None
    if limit is None or limit >= normal.max_context_items:
        return f"Up to {normal.max_context_items} memories go into an answer, as usual."
    moves: list[Cause] = [
        adaptation.reason
        for adaptation in ring.adaptations
        if adaptation.lever == "max_context_items" and adaptation.reason != "stable"
    ]
    why = f"Because {CAUSES.get(moves[-1], moves[-1])}, up" if moves else "Up"
    return f"{why} to {limit:.0f} memories went into your last answer instead of {normal.max_context_items}."
