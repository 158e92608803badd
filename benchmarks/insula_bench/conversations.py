"""`insula bench conversations`: told in one session, asked in the next. Is it found, and what was not told, unknown?

A conversation is a line of JSON: `told` (text, who, session, day), `ask`, `known`, and the `line` that answers. It is
right where what is known is shown to the model, and what is not is not called high.
"""

import asyncio
import json as jsonlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from insula.memory.retrieval.embedding import embedding_by_name
from insula.memory.storage.vectors import Embed
from insula.metacognition import Metacognition, Regulator
from insula.testing import FrozenClock, memory_store
from insula.types import Level

BEGIN = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINUTE = 60.0


class Outcome(NamedTuple):
    """How one conversation went."""

    known: bool
    level: Level
    shown: tuple[str, ...]
    """The lines before the model, in order."""
    line: str
    reasons: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether it is right; see the module."""
        if self.known:
            return any(self.line in one for one in self.shown)
        return self.level != "high"

    @property
    def first(self) -> bool:
        """Whether the line that answers stands first."""
        return self.right and any(self.line in one for one in self.shown[:1])


def run(data: str | None, held: bool, embed: str, show: bool, json: bool) -> int:
    """Ask all conversations of a set, and print the table."""
    conversations = read(data, held=held)
    outcomes = asyncio.run(asked(conversations, embedding_by_name(embed)))
    report = {by: table(conversations, outcomes, by) for by in ("kind", "lang")}
    report["all"] = {"all": figures(outcomes)}
    if json:
        print(jsonlib.dumps(report, indent=2, ensure_ascii=False))
        return 0
    console = Console()
    for by, rows in report.items():
        _print(console, by, rows)
    if show:
        _show(console, conversations, outcomes)
    return 0


def read(data: str | None, *, held: bool) -> list[dict[str, Any]]:
    """The conversations of a file, or of those that are shipped."""
    if data:
        text = Path(data).read_text("utf-8")
    else:
        text = (files("insula_bench") / f"conversations_{'held' if held else 'dev'}.jsonl").read_text("utf-8")
    return [jsonlib.loads(line) for line in text.splitlines() if line.strip()]


async def asked(
    conversations: Iterable[dict[str, Any]], embed: Embed | None, regulator: Callable[[], Regulator] = Regulator
) -> list[Outcome]:
    """How each goes, each in a memory of its own, and with a regulator of its own."""
    return [await ask(one, embed, regulator()) for one in conversations]


async def ask(one: dict[str, Any], embed: Embed | None, regulator: Regulator | None = None) -> Outcome:
    """Tell what is told, and ask in a session after it."""
    async with told(one, embed, regulator) as mind, mind.turn("user", "asked", one["ask"]) as turn:
        shown = [each for each in turn.recalled if each.memory.id in turn.shown]
        return Outcome(
            known=one["known"],
            level=turn.confidence.level,
            shown=tuple(each.memory.content for each in shown),
            line=one.get("line") or "",
            reasons=turn.confidence.reasons,
        )


@asynccontextmanager
async def told(
    one: dict[str, Any], embed: Embed | None, regulator: Regulator | None = None
) -> AsyncGenerator[Metacognition]:
    """A mind that was told what is told, each line in its session and on its day; it is the day after."""
    clock = FrozenClock(BEGIN)
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed, regulator=regulator)
        day = 0
        for line, reply in _exchanges(one["told"]):
            clock.advance(MINUTE + timedelta(days=line["day"] - day).total_seconds())
            day = line["day"]
            await _tell(mind, line, reply)
        clock.advance(timedelta(days=1).total_seconds())
        yield mind


def _exchanges(told: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Each line with the assistant's reply to it, where there is one in the same session."""
    at = 0
    while at < len(told):
        line = told[at]
        after = told[at + 1] if at + 1 < len(told) else None
        replied = (
            line["who"] == "user" and after and after["who"] == "assistant" and after["session"] == line["session"]
        )
        yield line, after["text"] if replied and after else None
        at += 2 if replied else 1


async def _tell(mind: Metacognition, line: dict[str, Any], reply: str | None) -> None:
    session = f"session {line['session']}"
    if line["who"] != "user":
        who = line["who"]
        await mind.observe("user", session, line["text"], speaker=who, provenance=who, listener="user")
        return
    async with mind.turn("user", session, line["text"]) as turn:
        if reply is not None:
            turn.finish(reply)


def figures(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many conversations are right, of those where it is known and where it is not."""
    known, unknown = [one for one in outcomes if one.known], [one for one in outcomes if not one.known]
    return {
        "known": len(known),
        "right": sum(one.right for one in known),
        "first": sum(one.first for one in known),
        "low_known": sum(one.level == "low" for one in known),
        "high_known": sum(one.level == "high" for one in known),
        "unknown": len(unknown),
        "low": sum(one.level == "low" for one in unknown),
        "high": sum(one.level == "high" for one in unknown),
    }


def table(conversations: Sequence[dict[str, Any]], outcomes: Sequence[Outcome], by: str) -> dict[str, dict[str, int]]:
    """The figures of each kind, or language."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one, outcome in zip(conversations, outcomes, strict=True):
        groups[one[by]].append(outcome)
    return {name: figures(groups[name]) for name in sorted(groups)}


def _print(console: Console, by: str, rows: dict[str, dict[str, int]]) -> None:
    found = Table(by, *(name.replace("_", " ") for name in figures([])))
    for name, row in rows.items():
        found.add_row(name, *(str(value) if value else "" for value in row.values()))
    console.print(found)


def _show(console: Console, conversations: Sequence[dict[str, Any]], outcomes: Sequence[Outcome]) -> None:
    for one, outcome in zip(conversations, outcomes, strict=True):
        if not outcome.right or (outcome.level == "high" and not outcome.known):
            told = " / ".join(line["text"] for line in one["told"])
            console.print(f"[bold]{one['id']}[/] {outcome.level} {told} → {one['ask']}", highlight=False)
            console.print(
                f"   {' | '.join(outcome.shown)} ({'; '.join(outcome.reasons[:2])})", highlight=False, markup=False
            )
