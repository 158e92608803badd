"""The figures of labelled moments as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

Figures = dict[str, Any]


def show(one: Figures, console: Console) -> None:
    """Print what was found, beside the rules of others, by kind and by sense, and the rules in the users' own words."""
    counts = one["counts"]
    console.print(
        f"[bold]interactive[/]: {counts['moments']} labelled moments, {counts['true']} of them true; "
        f"{one['texts']} texts fell into moments that are true or false"
    )
    console.print(_detectors(one))
    console.print(
        f"{one['median_lead_calls']} calls before the end of the moment, {one['median_calls_after_knowable']} after it "
        f"could be known (medians); {one['per_1000_healthy']} texts per 1,000 of {counts['healthy_calls']} healthy "
        f"calls; {one['person']['announced']} of {one['person']['events']} events of the user's were announced"
    )
    console.print(_by_kind(one))
    console.print(_taught(one))


def _detectors(one: Figures) -> Table:
    table = _table("detector", "texts", "precision per text", "recall")
    for name, ours in (("insula, all senses", one), ("insula, by default", one["by_default"])):
        shares = (_with_interval(ours, key) for key in ("precision_per_text", "recall"))
        table.add_row(name, str(ours["texts"]), *shares)
    for name, theirs in one["baselines"].items():
        shares = (_percent(theirs[key]) for key in ("precision_per_text", "recall"))
        table.add_row(name.replace("_", " "), str(theirs["texts"]), *shares)
    for name, texts in one["by_sense"].items():
        table.add_row(f"  {name}", str(texts["texts"]), f"{texts['right']} right", "")
    return table


def _by_kind(one: Figures) -> Table:
    table = _table("kind", "moments", "true", "recall")
    for kind, figures in one["by_kind"].items():
        table.add_row(
            kind.replace("_", " "), str(figures["moments"]), str(figures["true"]), _percent(figures["recall"])
        )
    return table


def _taught(one: Figures) -> Table:
    table = _table(
        f"taught: {_percent(one['taught'])} of {len(one['taught_pairs'])}", "the rule in the user's own words"
    )
    for pair in one["taught_pairs"]:
        about = f" (of {pair['about']})" if pair["about"] else ""
        table.add_row(pair["teaches"], f"{pair['rule']}{about}" if pair["rule"] else "–")
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="dim")
    for name in (first, *others):
        table.add_column(name)
    return table


def _with_interval(one: Figures, key: str) -> str:
    low, high = one["intervals"][key]
    return f"{_percent(one[key])} [{_percent(low)}, {_percent(high)}]" if one[key] is not None else "–"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"
