"""What the likelihood of a reply adds to the verdict: the same replies, judged with it and without."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from insula.stats import wilson
from insula.types import Assessment
from insula_bench.help.figures import Figures
from insula_bench.statistics import auroc_interval, ranked


class Pair(NamedTuple):
    """One reply: whether it is right, and what is made of it without its likelihood and with it."""

    right: bool
    without: Assessment
    weighed: Assessment


ARMS = ("without", "weighed")


def figures(found: Sequence[Pair]) -> Figures:
    """The AUROC of the score and the replies that do not pass, without the likelihood and with it."""
    right = [one.right for one in found]
    return {
        "n": len(found),
        "right": sum(right),
        "told": sum(one.weighed.parts.likelihood is not None for one in found),
        **{arm: _figures([getattr(one, arm) for one in found], right) for arm in ARMS},
    }


def _figures(judged: Sequence[Assessment], right: Sequence[bool]) -> Figures:
    scores = [one.score for one in judged]
    sides = {side: [not one.passed for one, held in zip(judged, right, strict=True) if held is side] for side in _SIDES}
    mixed = 0 < sum(right) < len(right)
    low, high = auroc_interval(scores, list(right)) if mixed else (0.0, 1.0)
    return {
        "auroc": round(ranked(np.asarray(scores, float), np.asarray(right, bool)), 4) if mixed else None,
        "interval": [round(low, 4), round(high, 4)],
        "doubted_right": _doubted(sides[True]),
        "doubted_wrong": _doubted(sides[False]),
    }


_SIDES = (True, False)


def _doubted(doubted: Sequence[bool]) -> Figures:
    low, high = wilson(sum(doubted), len(doubted)) if doubted else (0.0, 1.0)
    return {"n": len(doubted), "count": sum(doubted), "interval": [round(low, 4), round(high, 4)]}


def show(name: str, measured: Figures) -> None:
    """Print both side by side."""
    table = Table(f"{name}: {measured['right']} of {measured['n']} right", "AUROC", "95 %", box=None)
    table.add_column("doubted: right ones")
    table.add_column("wrong ones")
    for arm, label in zip(ARMS, ("without the likelihood", "with it"), strict=True):
        one = measured[arm]
        low, high = one["interval"]
        cells = [f"{side['count']} of {side['n']}" for side in (one["doubted_right"], one["doubted_wrong"])]
        table.add_row(label, str(one["auroc"]), f"{low} {high}", *cells)
    Console().print(table)
