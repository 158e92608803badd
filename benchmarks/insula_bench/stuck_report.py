"""The figures of `insula bench stuck` as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

from insula_bench import moments_report

Figures = dict[str, Any]
_SHARES = ("precision", "recall", "specificity")
_RATES = ("runs", "calls", "texts_per_1000", "rungs_per_1000", "chars_per_1000")
_DETECTORS = ("insula", "openhands", "hermes", "hermes main")


def show(figures: Figures) -> None:
    """Print one table per set, one of the healthy runs and one of the micro-cases."""
    console = Console()
    for name, one in figures["sets"].items():
        base = _percent(one["base_rate"])
        console.print(f"[bold]{name}[/], step {one['k']}: {one['n']} runs alive; in {base}, {one['positive']}")
        console.print(_detectors(one))
        console.print(_by_step(one))
    for name, one in figures["labelled"].items():
        console.print(_near(name, one))
    console.print(_healthy(figures["healthy"]))
    console.print("the call at which each warns")
    console.print(_micro(figures["micro"]))
    if "moments" in figures:
        moments_report.show(figures["moments"], console)


def _detectors(one: Figures) -> Table:
    table = _table("detector", "flagged", *_SHARES)
    texts = {f"text, {name}": score for name, score in one["texts"].items()}
    rows = {"insula": one, **one["per_sense"], **texts, **one["baselines"]}
    rows |= {f"{name}, block": score["block"] for name, score in one["baselines"].items() if "block" in score}
    for name, score in rows.items():
        table.add_row(name, str(score["flagged"]), *(_share(score, key) for key in _SHARES))
    return table


def _by_step(one: Figures) -> Table:
    table = _table("step", "alive", "base rate", "precision", "recall", "Hermes main", "recall")
    for k, at in one["by_k"].items():
        theirs = at["baselines"]["hermes_main"]
        shares = (at["base_rate"], at["precision"], at["recall"], theirs["precision"], theirs["recall"])
        table.add_row(str(k), str(at["n"]), *map(_percent, shares))
    return table


def _near(name: str, one: Figures) -> Table:
    title = f"{name}: {one['with_readings']} of {one['chats']} chats have a reading"
    table = _table(title, f"share of {one['marks']} marks", "by chance", "p")
    for distance, within in one["within"].items():
        values = (_percent(within["share"]), _percent(within["chance"]), str(within["p"] or "–"))
        table.add_row(f"a reading within {distance} messages", *values)
    return table


def _healthy(one: Figures) -> Table:
    table = _table("healthy", *(key.replace("_", " ") for key in _RATES), "texts per sense")
    for name, rates in {"all": one, **one["per_set"]}.items():
        senses = ", ".join(f"{sense} {rate}" for sense, rate in rates["per_sense"].items())
        table.add_row(name, *(str(rates[key]) for key in _RATES), senses)
    return table


def _micro(one: Figures) -> Table:
    table = _table("micro-case", "stuck", *_DETECTORS)
    for row in one["cases"]:
        table.add_row(row["case"], "yes" if row["stuck"] else "no", *(str(row[key] or "–") for key in _DETECTORS))
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="dim")
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name)
    return table


def _share(score: Figures, key: str) -> str:
    low, high = score["intervals"][key]
    return f"{_percent(score[key])} [{_percent(low)}, {_percent(high)}]" if score[key] is not None else "–"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"
