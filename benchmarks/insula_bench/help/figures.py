"""From outcomes to a table: each arm alone, arms in pairs, and both by kind."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from insula.stats import wilson
from insula_bench.help.asking import Reply
from insula_bench.statistics import mean_interval

Figures = dict[str, Any]


class Outcome(NamedTuple):
    """What became of one item in one arm."""

    item: str
    arm: str
    tags: tuple[str, ...]
    """Source, kind and language, or what else a part tells apart."""
    marks: Mapping[str, bool]
    """Mark -> whether it holds; a mark that cannot hold for the item is left out."""
    reply: Reply


def compared(outcomes: Sequence[Outcome], marks: Sequence[str], *, base: str) -> Figures:
    """The figures of all arms, and of `base` against each other one, in pairs."""
    arms = list(dict.fromkeys(one.arm for one in outcomes))
    sources = list(dict.fromkeys(one.tags[0] for one in outcomes))
    return {
        source: {
            "arms": {arm: _alone([one for one in mine if one.arm == arm], marks) for arm in arms},
            "pairs": {arm: _pair(mine, marks, base, arm) for arm in arms if arm != base and base in arms},
            "by": {arm: _by([one for one in mine if one.arm == arm], marks) for arm in arms},
        }
        for source in sources
        for mine in [[one for one in outcomes if one.tags[0] == source]]
    }


def _alone(outcomes: Sequence[Outcome], marks: Sequence[str]) -> Figures:
    return {
        "n": len(outcomes),
        **{mark: _share(one.marks[mark] for one in outcomes if mark in one.marks) for mark in marks},
        "tokens": round(fmean(one.reply["tokens"] for one in outcomes), 1) if outcomes else None,
        "ms": round(median(one.reply["ms"] for one in outcomes)) if outcomes else None,
        "errors": sum(bool(one.reply["error"]) for one in outcomes),
    }


def _share(held: Iterable[bool]) -> Figures | None:
    values = list(held)
    if not values:
        return None
    low, high = wilson(sum(values), len(values))
    return {
        "n": len(values),
        "count": sum(values),
        "share": round(fmean(values), 4),
        "interval": [round(low, 4), round(high, 4)],
    }


def _pair(outcomes: Sequence[Outcome], marks: Sequence[str], base: str, other: str) -> Figures:
    """`base` less `other` on the items that both have."""
    ours = {one.item: one.marks for one in outcomes if one.arm == base}
    theirs = {one.item: one.marks for one in outcomes if one.arm == other}
    found: Figures = {}
    for mark in marks:
        items = [item for item in ours if item in theirs and mark in ours[item] and mark in theirs[item]]
        gaps = [float(ours[item][mark]) - float(theirs[item][mark]) for item in items]
        if gaps:
            found[mark] = {
                "n": len(gaps),
                "difference": round(fmean(gaps), 4),
                "interval": [round(end, 4) for end in mean_interval(gaps)],
            }
    return found


def _by(outcomes: Sequence[Outcome], marks: Sequence[str]) -> Figures:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        for tag in one.tags[1:]:
            groups.setdefault(tag, []).append(one)
    return {
        tag: {mark: share for mark in marks if (share := _share(one.marks[mark] for one in mine if mark in one.marks))}
        for tag, mine in groups.items()
    }


def show(figures: Figures, marks: Sequence[str], base: str) -> None:
    """Print the tables as a person reads them: losses of `base` first."""
    console = Console()
    for source, figure in figures.items():
        for line in _losses(figure["pairs"], base):
            console.print(f"[red]loss[/red]  {line}")
        table = Table(source, "n", *(mark.replace("_", " ") for mark in marks), "tokens", "ms", box=None)
        for arm, one in figure["arms"].items():
            table.add_row(arm, str(one["n"]), *(_cell(one[mark]) for mark in marks), str(one["tokens"]), str(one["ms"]))
        console.print(table)
        for arm, pair in figure["pairs"].items():
            told = ", ".join(f"{mark.replace('_', ' ')} {_gap(one)}" for mark, one in pair.items())
            console.print(f"  {base} − {arm}: {told}")


BETTER_LOW = frozenset({"made_up", "refused", "next_day"})
"""Marks of which less is better."""


def _losses(pairs: Figures, base: str) -> Iterable[str]:
    for arm, pair in pairs.items():
        for mark, one in pair.items():
            low, high = one["interval"]
            if (low > 0) if mark in BETTER_LOW else (high < 0):
                yield f"{base} is worse than {arm}: {mark.replace('_', ' ')} {_gap(one)}"


def _cell(one: Figures | None) -> str:
    if one is None:
        return "–"
    low, high = one["interval"]
    return f"{one['share']:.1%} [{low:.1%}, {high:.1%}]"


def _gap(one: Figures) -> str:
    low, high = one["interval"]
    return f"{one['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"
