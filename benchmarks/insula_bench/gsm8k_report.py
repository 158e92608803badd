"""The figures of `insula bench gsm8k` as tables, plots and a page."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula_bench import plots
from insula_bench.page import page

FIGURES, PAGE, ACCURACY = "figures.json", "report.html", "accuracy_tokens.png"

WIDTH = 160
"""Columns of a table where nobody looks on."""

Figures = dict[str, Any]
Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""A table: its head, and its rows."""


def write(figures: Figures, out: Path) -> None:
    """Write the figures, the plots and the page into the folder of the results."""
    pictures = _pictures(figures) if figures["arms"] and plots.missing() is None else {}
    try:
        (out / FIGURES).write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
        for name, picture in pictures.items():
            (out / name).write_bytes(picture)
        (out / PAGE).write_text(_page(figures, pictures), "utf-8")
    except OSError as error:
        raise InputError(
            f"The report cannot be written to {str(out)!r} ({error.strerror}); make room there."
        ) from error


def show(figures: Figures, out: Path) -> None:
    """Print the tables, and say where the page is."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False)
    console.print(rule(figures))
    for title, rows in tables(figures).items():
        console.print(f"\n{title}", style="bold")
        console.print(_table(rows))
    console.print(f"\n{out / PAGE}")
    if figures["arms"] and (why := plots.missing()):
        console.print(f"insula: {why}")


def rule(figures: Figures) -> str:
    """On what terms the methods were compared."""
    return (
        f"{figures['model']}, {figures['problems']} problems. Each method may spend {figures['tokens_per_problem']:,} "
        "tokens on a problem, input and output together; a reply from the common pool is charged as if it were asked "
        "for. What it abstained from, and what failed, counts as wrong."
    )


def tables(figures: Figures) -> dict[str, Rows]:
    """The tables by their titles."""
    endings = _endings(figures)
    return {
        "Methods": _methods(figures),
        **({"Why they ended": endings} if endings[1] else {}),
        "In pairs, on the same problems": _pairs(figures),
        "Does confidence tell right from wrong?": _confidence(figures),
    }


def _methods(figures: Figures) -> Rows:
    head = (
        "method",
        "right",
        "accuracy, 95 %",
        "answered",
        "attempts",
        "calls",
        "tokens",
        "seconds",
        "capped",
        "failed",
    )
    rows = [
        (
            name,
            f"{one['right']}/{one['n']}",
            f"{_percent(one['accuracy'])} {_range(one['interval'])}",
            str(one["n"] - one["abstained"] - one["unanswered"]),
            f"{one['attempts']:.2f}",
            f"{one['calls']:.2f}",
            f"{one['tokens']:,.0f}",
            f"{one['seconds']:.1f}",
            str(one["capped"]),
            str(one["failed"]),
        )
        for name, one in figures["arms"].items()
    ]
    return head, rows


def _endings(figures: Figures) -> Rows:
    counted = {name: one["endings"] for name, one in figures["arms"].items() if one.get("endings")}
    endings = list(dict.fromkeys(ending for one in counted.values() for ending in one))
    rows = [(name, *(str(one.get(ending, 0)) for ending in endings)) for name, one in counted.items()]
    return ("method", *endings), rows


def _pairs(figures: Figures) -> Rows:
    head = ("pair", "n", "only the first", "only the second", "difference, 95 %", "McNemar", "tokens, 95 %")
    rows = [
        (
            f"{one['one']} - {one['other']}",
            str(one["n"]),
            str(one["only_one"]),
            str(one["only_other"]),
            f"{_points(one['difference'])} [{_points(one['interval'][0])}, {_points(one['interval'][1])}]",
            "–" if one["p"] is None else f"p = {one['p']:.4f}",
            f"{one['tokens_difference']:+,.0f} [{one['tokens_interval'][0]:+,.0f}, {one['tokens_interval'][1]:+,.0f}]",
        )
        for one in figures["pairs"]
        if one["n"]
    ]
    return head, rows


def _confidence(figures: Figures) -> Rows:
    head = ("method", "confidence", "answers", "right", "AUROC, 95 %", "ECE", "mean", "right in the surer half")
    rows = [
        (
            name,
            kind,
            str(told["n"]),
            str(told["right"]),
            "–" if told["auroc"] is None else f"{told['auroc']:.3f} {_span(told['auroc_interval'])}",
            f"{told['ece']:.3f}",
            f"{told['mean']:.2f}",
            _percent(told["surer_half"]),
        )
        for name, kinds in figures["confidence"].items()
        for kind, told in kinds.items()
    ]
    return head, rows


def _pictures(figures: Figures) -> dict[str, bytes]:
    named = {ACCURACY: plots.accuracy_against_tokens(figures["arms"])}
    for name, kinds in figures["confidence"].items():
        if kinds:
            named[f"reliability_{name.replace('@', '_')}.png"] = plots.reliability(name, kinds)
    return named


def _page(figures: Figures, pictures: dict[str, bytes]) -> str:
    shown = {name: base64.b64encode(picture).decode() for name, picture in pictures.items()}
    return page("GSM8K", rule(figures), tables(figures), shown, plots.missing())


def _table(rows: Rows) -> Table:
    head, body = rows
    table = Table(box=None, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 else "right", no_wrap=True)
    for row in body:
        table.add_row(*row)
    return table


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _range(interval: list[float]) -> str:
    return f"[{interval[0] * 100:.1f}, {interval[1] * 100:.1f}]"


def _span(interval: list[float]) -> str:
    return f"[{interval[0]:.3f}, {interval[1]:.3f}]"


def _points(difference: float) -> str:
    return f"{difference * 100:+.1f}"
