"""Plots of benchmarks, as PNG, by the matplotlib of the extra `bench`."""

import importlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

INK, PAPER, GREY = "#1b2733", "#ffffff", "#9aa5b1"
COLOURS = ("#0b7a75", "#d1495b", "#edae49", "#30638e", "#6d597a", "#3a5a40", "#8d6a9f", "#b56576")
DPI = 150
_MISSING = 'plots need matplotlib; for them, run: pip install "insula[bench]"'

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
    figure, axes = _figure(6.4, 4.2)
    for number, (name, arm) in enumerate(arms.items()):
        low, high = arm["interval"]
        errors = [[arm["accuracy"] - low], [high - arm["accuracy"]]]
        colour = COLOURS[number % len(COLOURS)]
        axes.errorbar(arm["tokens"], arm["accuracy"], yerr=errors, fmt="o", color=colour, capsize=3, label=name)
        axes.annotate(name, (arm["tokens"], arm["accuracy"]), (6, 4), textcoords="offset points", fontsize=8, color=INK)
    axes.set_xlabel("tokens per problem (mean)")
    axes.set_ylabel("accuracy, 95 % interval")
    axes.set_ylim(0, 1)
    axes.set_xlim(left=0)
    axes.margins(x=0.25)
    return _png(figure)


def reliability(title: str, kinds: Figures) -> bytes:
    """Share that is right against confidence, each kind of confidence as a line; the diagonal is calibrated."""
    figure, axes = _figure(4.6, 4.6)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    for number, (kind, told) in enumerate(kinds.items()):
        counts, means, shares = _columns(told["reliability"])
        area = "–" if told["auroc"] is None else f"{told['auroc']:.2f}"
        label = f"{kind}: AUROC {area}, ECE {told['ece']:.2f}"
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(means, shares, color=colour, linewidth=1.2, label=label)
        axes.scatter(means, shares, s=[12 + 4 * count for count in counts], color=colour, alpha=0.7, linewidths=0)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="confidence", ylabel="share right", title=title)
    axes.legend(fontsize=7, frameon=False, loc="upper left")
    return _png(figure)


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
