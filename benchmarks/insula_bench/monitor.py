"""`insula bench monitor`: whether the self-monitor agrees with people, and sees what the user and the language say."""

import json as jsonlib
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from insula.errors import InputError
from insula.text.analysis import warm_up
from insula_bench.monitor_dialogues import dialogues
from insula_bench.monitor_languages import languages
from insula_bench.monitor_talks import heard
from insula_bench.monitor_users import corrections, dissatisfaction

Figures = dict[str, Any]

PARTS: dict[str, Callable[[Path], Figures]] = {
    "dialogue_quality": dialogues,
    "language_confusion": languages,
    "saif_corrections": corrections,
    "user_satisfaction_uss": dissatisfaction,
    "locomo": heard,
}
"""What is measured on each folder."""


def run(data: str, json: bool) -> int:
    """Measure everything, print it, and return the exit code.

    Raises:
        InputError: `data` is no folder, or holds none of the sets.
    """
    figures = measure(Path(data))
    print(jsonlib.dumps(figures, indent=2)) if json else show(figures)
    return 0


def measure(data: Path) -> Figures:
    """The figures of each set that stands under `data`; what is missing is left out.

    Raises:
        InputError: none of them does.
    """
    found = {name: part for name, part in PARTS.items() if (data / name).is_dir()}
    if not found:
        raise InputError(f"{str(data)!r} holds none of the sets; give a folder that holds {' or '.join(PARTS)}.")
    warm_up()
    figures: Figures = {}
    for name, part in found.items():
        print(f"insula: reading {name}", file=sys.stderr)
        figures |= part(data / name)
    times = [one for name in list(figures) if name.startswith("us_of_") for one in figures.pop(name)]
    if times:
        figures["us_per_call"] = round(statistics.median(times))
        figures["us_p95"] = round(statistics.quantiles(times, n=20)[-1])
    return figures


def show(figures: Figures) -> None:
    """Print the figures as a person reads them."""
    console = Console()
    if "sets" in figures:
        _show_sets(console, figures)
    for name in ("language_f1", "correction_auroc", "dissatisfaction_auroc"):
        if name in figures:
            low, high = figures[f"{name}_interval"]
            console.print(f"{name.replace('_', ' ')}: [bold]{figures[name]}[/] \\[{low}, {high}]")
    if one := figures.get("heard"):
        low, high = one["interval"]
        console.print(
            f"of {one['turns']} turns of real conversation {one['told']} were told what fell short: {one['share']:.2%} "
            f"\\[{low:.2%}, {high:.2%}], {one['tokens_a_turn']} tokens a turn"
        )
    if "us_per_call" in figures:
        console.print(f"CPU per assessment: {figures['us_per_call']} µs (median), {figures['us_p95']} µs (p95)")


def _show_sets(console: Console, figures: Figures) -> None:
    first = next(iter(figures["sets"].values()))
    table = Table(
        "set", "n", "insula", "95 %", "fitted", *first["baselines"], "published", box=None, header_style="dim"
    )
    for name, one in figures["sets"].items():
        low, high = one["interval"]
        published = ", ".join(f"{metric} {value}" for metric, value in one["published"].items())
        baselines = map(str, one["baselines"].values())
        table.add_row(
            name, str(one["n"]), str(one["spearman"]), f"{low} {high}", str(one["fitted"]), *baselines, published
        )
    console.print(table)
    low, high = figures["mean_spearman_interval"]
    console.print(
        f"mean: [bold]{figures['mean_spearman']}[/] \\[{low}, {high}], fitted on the other sets "
        f"{figures['mean_fitted_spearman']}, best single feature ({figures['best_baseline']}) "
        f"{figures['mean_baseline_spearman']}"
    )
