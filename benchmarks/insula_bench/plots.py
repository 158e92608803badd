"""Plots of benchmarks, as PNG, by the matplotlib of the extra `bench`."""

import importlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

PAPER, GREY = "#ffffff", "#9aa5b1"
COLOURS = ("#0b7a75", "#d1495b", "#edae49", "#30638e", "#6d597a", "#3a5a40", "#8d6a9f", "#b56576")
MARKERS = "osD^vPX*p"
"""Beside the colours, for eyes and printers that do not tell these apart; one more, so that pairs repeat late."""
DPI = 150
LINE_HEIGHT = 0.17
"""Inches of a line of the legend."""
SMALLEST_DOT, ALL_DOTS = 10, 300
"""Points² of a dot without answers, and of what the dots of a line have more together."""
_MISSING = "plots need matplotlib; for them, run: pip install matplotlib"

Figures = Mapping[str, Any]


def missing() -> str | None:
    """Why there are no plots; None where they can be made."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        return _MISSING
    return None


def accuracy_against_tokens(arms: Figures) -> bytes:
    """Each method as a point, with the interval of its accuracy."""
    figure, axes = _figure(6.4, 3.9 + LINE_HEIGHT * len(arms))
    for number, (name, arm) in enumerate(arms.items()):
        low, high = arm["interval"]
        errors = [[max(0.0, arm["accuracy"] - low)], [max(0.0, high - arm["accuracy"])]]
        marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
        label = f"{name}: {arm['accuracy'] * 100:.1f} %, {arm['tokens']:,.0f} tokens"
        axes.errorbar(
            arm["tokens"], arm["accuracy"], yerr=errors, fmt=marker, color=colour, capsize=3, alpha=0.85, label=label
        )
    axes.set(xlabel="tokens per problem (mean)", ylabel="accuracy, 95 % interval", ylim=(0, 1.03))
    axes.set_yticks([n / 5 for n in range(6)], [f"{20 * n} %" for n in range(6)])
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.margins(x=0.15)
    axes.set_xlim(left=0)
    _legend(figure)
    return _png(figure)


def reliability(title: str, kinds: Figures) -> bytes:
    """Share that is right against confidence, each kind of confidence as a line; a dot's area is how often it is so."""
    figure, axes = _figure(4.6, 4.7 + LINE_HEIGHT * len(kinds))
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", label="calibrated")
    for number, (kind, told) in enumerate(kinds.items()):
        counts, means, shares = _columns(told["reliability"])
        area = "–" if told["auroc"] is None else f"{told['auroc']:.2f}"
        label = f"{kind}: AUROC {area}, ECE {told['ece']:.2f}"
        colour, total = COLOURS[number % len(COLOURS)], sum(counts) or 1
        areas = [SMALLEST_DOT + ALL_DOTS * count / total for count in counts]
        axes.plot(means, shares, color=colour, linewidth=1.2, alpha=0.6, label=label)
        axes.scatter(means, shares, s=areas, color=colour, alpha=0.7, linewidths=0, clip_on=False)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="confidence", ylabel="share right", title=title)
    _legend(figure)
    return _png(figure)


def _legend(figure: Any) -> None:
    """Below the axes, where no point can lie under it."""
    figure.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=1)


def _columns(rows: Sequence[Sequence[float]]) -> tuple[list[float], list[float], list[float]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _figure(width: float, height: float) -> tuple[Any, Any]:
    matplotlib = importlib.import_module("matplotlib.figure")  # without pyplot, which would look for a screen
    figure = matplotlib.Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)
    axes = figure.subplots()
    axes.grid(color=GREY, alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _png(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return file.getvalue()
