"""`insula bench load`: what the server holds: many sessions, many listeners, and how fast it says how it stands.

The real `insula serve` in a process of its own, on loopback, with a model behind HTTP that takes 50 ms. What a turn
takes in the server is measured from outside: what a client waits, less those 50 ms.
"""

import asyncio
import json as jsonlib
import math
import tempfile
from collections.abc import Awaitable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from insula.cli.common import DATABASE
from insula_bench import load_phases as phases
from insula_bench import load_years
from insula_bench.load_phases import Figures, Stage
from insula_bench.load_processes import HERE, Running, running, serving
from insula_bench.load_sessions import people

GOAL_SHARE = 0.6
"""Of a bare route's throughput that the status route is to have (issue 6)."""
GOAL_RATIO = 2.0
"""By which p95 may grow where a fifth of the questions are about common words (issue 21)."""
TICK_SECONDS = 0.5

T = TypeVar("T")


def run(sessions: int, seconds: float, json: bool, store: str = "") -> int:
    """Measure, print, and return the exit code: 1 where a turn failed, or a turn or a signal was lost."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = Path(folder)
        asyncio.run(load_years.talked(store or home / DATABASE))
        model = stack.enter_context(running([HERE, "model"], home))
        server = stack.enter_context(serving(home, model.port, store))
        bare = stack.enter_context(running([HERE, "bare"], home))
        stage = Stage(server, model, home, people(server.port, sessions), seconds, store)
        figures = asyncio.run(measure(stage, bare))
    print(jsonlib.dumps(figures, indent=2)) if json else show(figures)
    heard = figures["listeners"]
    return int(
        any(
            (
                figures["talk"]["failed"],
                figures["common"]["failed"],
                figures["lost"],
                heard["failed"],
                heard["wrong"],
                heard["gone"],
            )
        )
    )


async def measure(stage: Stage, bare: Running) -> Figures:
    """All figures of a server."""
    with Progress(
        *(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=1 / TICK_SECONDS,
    ) as progress:
        try:
            return {
                "sessions": len(stage.sessions),
                "talk": await _shown(progress, "sessions talk", stage.seconds * 1.1, phases.talk(stage)),
                "common": await _shown(progress, "common words", stage.seconds * 2.3, phases.common(stage)),
                "listeners": await _shown(progress, "listeners hear", stage.seconds, phases.listen(stage)),
                "status": await _shown(progress, "how it stands", stage.seconds / 2, phases.status(stage, bare)),
                "rates": await _shown(progress, "the rate is raised", None, phases.rates(stage)),
                "lost": await _shown(progress, "transcripts are read", None, phases.lost(stage)),
            }
        finally:
            for one in stage.sessions:
                one.close()


async def _shown(progress: Progress, what: str, seconds: float | None, work: Awaitable[T]) -> T:
    """What becomes of some work, with a bar while it is done."""
    task = progress.add_task(what, total=seconds)
    ticking = asyncio.create_task(_ticked(progress, task))
    try:
        return await work
    finally:
        ticking.cancel()
        progress.remove_task(task)


async def _ticked(progress: Progress, task: Any) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        progress.advance(task, TICK_SECONDS)


def show(figures: Figures) -> None:
    """Print the figures for a person."""
    console = Console()
    console.print(_turns(figures))
    talk, heard, status, rates = (figures[name] for name in ("talk", "listeners", "status", "rates"))
    memory, growth = heard["rss_mb"], heard["rss_mb_a_minute"]
    console.print(_common(figures["common"]))
    console.print(
        f"acknowledged turns that are missing: {figures['lost']}; failed: {talk['failed']} of {talk['turns']:,} at "
        f"{talk['a_second']:.1f} a second",
        f"p95 up to {phases.GOAL_MS:.0f} ms: {_held(figures)}; the highest rate that it keeps up with: "
        f"{rates['kept_up']:.0f} a second",
        f"{heard['listeners']} listeners: {heard['told']:,} signals told, {heard['wrong']} listeners told wrongly, "
        f"{heard['gone']} gone; resident memory {memory['before']:.1f} MB before, {memory['start']:.1f} to "
        f"{memory['end']:.1f} MB with them ({growth['slope']:+.2f} MB a minute, "
        f"{growth['low']:+.2f} to {growth['high']:+.2f})",
        f"status: {status['status']['a_second']:,.0f} a second, {status['share']:.0%} of a bare route's "
        f"{status['bare']['a_second']:,.0f} (goal: {GOAL_SHARE:.0%}); by CPU {status['share_by_cpu']:.0%}",
        sep="\n",
    )


def _common(found: Figures) -> str:
    """What questions about common words cost those who have talked for years."""
    without, asked = (found[name].get("p95") for name in ("without", "with"))
    ratio = "–" if found["ratio"] is None else f"{found['ratio']:.2f}"
    return (
        f"a fifth of the questions about common words, {load_years.LINES:,} memories a user: p95 {_ms(asked)} with "
        f"them, {_ms(without)} without: {ratio} times (goal: {GOAL_RATIO:.0f})"
    )


def _held(figures: Figures) -> str:
    """The rates at which answers were quick enough: of the 60 s for the goal, and of the steps after them."""
    talk, held = figures["talk"], figures["rates"]["held"]
    quick = not talk["failed"] and talk["server_ms"].get("p95", math.inf) <= phases.GOAL_MS
    goal = f"{'held' if quick else 'not held'} at {talk['a_second']:.0f} a second"
    return f"{goal}; of the steps behind it, up to {held:.0f}" if held else f"{goal}; by no step behind it"


def _turns(figures: Figures) -> Table:
    names = ("turns", "a second", "median", "p95", "p99", "quietest p95", "added p95", "CPU a turn", "load")
    table = Table(*names, box=None, header_style="dim")
    rows = [("for the goal", figures["talk"]), ("with listeners", figures["listeners"])]
    rows += [(f"at {one['rate']:.0f}{_verdict(one)}", one) for one in figures["rates"]["tried"]]
    for name, found in rows:
        outside, quietest = found["server_ms"], found["server_p95_ms_by_window"].get("lowest")
        times = [*map(outside.get, ("median", "p95", "p99")), quietest, found["added_ms"].get("p95")]
        cpu = found["cpu_ms_a_turn"]["server"]
        table.add_row(name, f"{found['a_second']:.1f}", *map(_ms, [*times, cpu]), f"{found['load_average']:.1f}")
    return table


def _verdict(found: Figures) -> str:
    if found["held"]:
        return ""
    return " (kept up)" if found["kept_up"] else " (fell behind)"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} ms"
