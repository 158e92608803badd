"""The register of claims at the terminal: what is said, how often, and how often it is right."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from insula.replay.claims import Entry
from insula.server.page.views.says import grouped

COLUMNS = ("claim", "what it says", "yours", "measured", "right", "")


def print_register(console: Console, entries: Sequence[Entry]) -> None:
    """What is said unasked, by where it stands, per 1,000 messages or calls; how much more there is, in a line."""
    groups = grouped(entries)
    for group in (one for one in groups if one.counted):
        console.print(Text(f"\n{group.title}, per 1,000", style="bold"))
        table = Table(*COLUMNS, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.columns[0].no_wrap = True
        for row in group.rows:
            cells = (row.id, row.asserts, row.yours, row.measured, row.right, "on" if row.on else "off")
            table.add_row(*map(Text, cells), style="" if row.on else "dim")
        console.print(table)
    others = sum(len(one.rows) for one in groups if not one.counted)
    more = f"A night and /why say {others} things more; --json has all. " if others else ""
    console.print(Text(f"\n{more}`claims` in insula.toml switches one on, `insula on SENSE` a sense.", style="dim"))
