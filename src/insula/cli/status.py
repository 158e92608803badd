"""`insula status`: how the agent is doing, in words that need no manual."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from insula import settings
from insula.claims import DEFAULT, Place, switch_claims
from insula.cli.common import is_memory, model_understands, with_store
from insula.cli.lines import print_console, print_json
from insula.cli.options import Json, User
from insula.cli.worth import DAYS, print_worth, summarize_worth
from insula.coding.hosts import places
from insula.coding.replay.claims import ClaimEntry, list_entries, read_register
from insula.coding.replay.worth import HookWorth, measure_worth
from insula.memory.storage import unread
from insula.memory.storage.rows import Place as StoredPlace
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition, Regulator
from insula.night.cycle import END, is_due
from insula.operations.adaptations import describe_adaptations, describe_duration
from insula.operations.facts import FACTS
from insula.operations.memories import count_memories
from insula.operations.nights import READING
from insula.session.conditions import MINIMUM, describe_slowdown
from insula.session.snapshot import Performance, Snapshot
from insula.settings import Settings
from insula.text.wording import count_noun

STATUSES = {"stored": "kept", "skipped": "not kept, because the store could not be written"}
SHOWN = 8
"""Adaptations that are shown, the last ones."""
COLUMNS = ("claim", "what it says", "yours", "measured", "right", "")
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
UNCOUNTED = "–"
PLACES: Mapping[Place, str] = {
    "request": "Before a model",
    "reply": "In or under a reply",
    "why": "To who asks why",
    "night": "What a night says",
    "call": "Beside a call of a coding agent",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredData:
    """What is stored of a user, and how their nights stand."""

    sessions: int
    messages: int
    long_term: int
    facts: int
    signals: int
    last_night: float | None
    """When it ended, in seconds since the epoch."""
    night_due: bool
    understanding: str
    """When the model reads what was said: `off`, `night` or `idle`."""
    understanding_tokens: int
    """What that took in the last day."""


def status(
    user: User = "me",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Every figure, and every claim.")] = False,
    json: Json = False,
) -> None:
    """How it is doing, what it changed about itself, and what it holds of you."""
    hooks = _hooks_worth()
    if hooks is not None and not json and not is_memory():
        return print_console(lambda console: _show_hooks(console, hooks, verbose))
    regulator, held, said = read_status(user)
    if json:
        record = _status_record(regulator, user, held)
        told = {"coding_agents": asdict(hooks) | {"tokens": hooks.cost}} if hooks else {}
        return print_json(record | told | {"claims": [entry.to_json() for entry in said]})
    if hooks is not None and held is None:
        return print_console(lambda console: _show_hooks(console, hooks, verbose))
    return print_console(lambda console: _print_status(console, regulator, user, held, hooks, said, verbose=verbose))


def _show_hooks(console: Console, hooks: HookWorth, verbose: bool) -> None:
    """Where nobody talks, only coding agents are watched."""
    print_worth(hooks, console)
    if verbose:
        _print_register(console, [entry for entry in list_entries(DEFAULT, {}, hooks) if entry.claim.place == "call"])


def _hooks_worth() -> HookWorth | None:
    """What the hooks of coding agents were worth; None where they have seen no session."""
    if not (places.find_home() / "sessions").is_dir():
        return None
    worth = measure_worth(str(places.find_home()), DAYS, time.time())
    return worth if worth.sessions else None


def _print_status(
    console: Console,
    regulator: Regulator,
    user: str,
    held: StoredData | None,
    hooks: HookWorth | None,
    said: Sequence[ClaimEntry],
    *,
    verbose: bool,
) -> None:
    zone, now = settings.load_settings().zone_of(user), time.time()
    if regulator.ring.last is not None:
        console.print("as of the last snapshot", style="dim")
    for title, rows in (
        ("How it is doing", _service_rows(regulator, now, verbose)),
        ("What it changed about itself, latest first", _adaptation_rows(regulator, zone, now, verbose)),
        (f"What it holds of {user}", describe_held(held, now)),
    ):
        console.print(Text(f"\n{title}", style="bold"))
        console.print(_make_table(rows))
    if hooks is not None:
        console.print(Text("\nNotes to coding agents (insula worth)", style="bold"))
        for line in summarize_worth(hooks):
            console.print(Text(f"  {line}"), soft_wrap=True)
    if verbose:
        return _print_register(console, said)
    return console.print(
        Text("\nEvery figure, and how often what it says is right: insula status --verbose", style="dim")
    )


def _print_register(console: Console, entries: Sequence[ClaimEntry]) -> None:
    """What is said unasked, by where it stands, per 1,000 messages or calls; how much more there is, in a line."""
    others = 0
    for place, title in PLACES.items():
        here = [entry for entry in entries if entry.claim.place == place]
        rows = [(entry.on, _claim_cells(entry)) for entry in here]
        if not any({*cells[2:5]} != {UNCOUNTED} for _, cells in rows):
            others += len(rows)
            continue
        console.print(Text(f"\n{title}, per 1,000", style="bold"))
        table = Table(*COLUMNS, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.columns[0].no_wrap = True
        for on, cells in rows:
            table.add_row(*map(Text, cells), style="" if on else "dim")
        console.print(table)
    more = f"A night and /why say {others} things more; --json has all. " if others else ""
    console.print(Text(f"\n{more}`claims` in insula.toml switches one on, `insula on SENSE` a sense.", style="dim"))


def _claim_cells(entry: ClaimEntry) -> tuple[str, ...]:
    """A claim with its figures in words, in the order of `COLUMNS`."""
    on = "on" if entry.on else "off"
    return entry.claim.id, entry.claim.asserts, format_yours(entry), format_measured(entry), format_right(entry), on


def format_yours(entry: ClaimEntry) -> str:
    """How often it was made to the user per 1,000, of how many, and how often they called it wrong."""
    if (rate := entry.your_rate) is None or entry.yours is None:
        return UNCOUNTED
    wrong = f", {entry.yours.wrong} wrong" if entry.yours.wrong else ""
    return f"{round(rate, 1):g} ({entry.yours.made} of {entry.yours.of}{wrong})"


def format_measured(entry: ClaimEntry) -> str:
    """How often it is made in ordinary life per 1,000, and how often wrongly."""
    figures = entry.claim.measured
    if figures is None or figures.per_1000 is None:
        return UNCOUNTED
    wrong = f", wrong {figures.wrong_per_1000:g}" if figures.wrong_per_1000 is not None else ""
    return f"{figures.per_1000:g}{wrong}"


def format_right(entry: ClaimEntry) -> str:
    """In which share of judged cases it is right, with the interval."""
    figures = entry.claim.measured
    if (share := entry.precision) is None or figures is None:
        return UNCOUNTED
    of, low, high = (round(100 * value) for value in share)
    return f"{of} % [{low}, {high}] of {figures.of}"


def _make_table(rows: Iterator[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column()
    for name, said in rows:
        table.add_row(Text(name), Text(said.replace("\N{NO-BREAK SPACE}", " ")))
    return table


def _service_rows(regulator: Regulator, now: float, verbose: bool) -> Iterator[tuple[str, str]]:
    """How fast it is; how it looks at itself only where asked for."""
    last = regulator.ring.last
    yield "speed", _describe_speed(last)
    if last is not None and last.last_user_turn_status not in (None, "stored"):
        yield "last message", STATUSES[last.last_user_turn_status]
    if not verbose:
        return
    if last is not None:
        yield from _figure_rows(last)
        yield "snapshot", f"the last one at turn {last.turn_counter}, {_format_ago(last.ts, now)}"
    else:
        yield "snapshot", f"none yet: {count_noun(regulator.turns, 'turn')} so far"
    schedule = regulator.ring.schedule
    yield "next", f"at turn {schedule.due}; one every {schedule.interval} turns now"


def _describe_speed(last: Snapshot | None) -> str:
    """How long turns take, and how the model's part of it compares with what is usual, as a person would say it."""
    now = last.performance if last else Performance()
    said = [
        *([f"19 of 20 turns take {describe_duration(now.latency_p95_ms)} or less"] if now.latency_p95_ms else ()),
        *([describe_slowdown(now.slowdown)] if now.slowdown is not None else ()),
    ]
    known = "; ".join(said) or f"not known yet; it takes {MINIMUM} turns to tell"
    return f"{'slow: ' if now.degraded else ''}{known}"


def _figure_rows(last: Snapshot) -> Iterator[tuple[str, str]]:
    if last.stm_utilization is not None:
        full = last.stm_capacity or 0
        yield "recent items", f"{round(last.stm_utilization * full)} of {full} wait to be stored"
    if (share := last.recent_consolidation_selectivity) is not None:
        lines = f"{share:.0%} of your recent ones" if share <= 1 else "all of your recent ones, and some from before,"
        yield "lines", f"{lines} were stored as lasting memories"


def _adaptation_rows(regulator: Regulator, zone: tzinfo | None, now: float, verbose: bool) -> Iterator[tuple[str, str]]:
    """What it changed about itself; how often it looks at itself, and what came of a change, only where asked for."""
    made = [
        adapted
        for adapted in describe_adaptations(regulator.ring.adaptations[-SHOWN:])
        if verbose or not adapted.of_interval
    ]
    if not made:
        yield "nothing yet", "it does so when the model gets slow or many items wait, and undoes it after"
    for adapted in made:
        saved = f"; {adapted.saved}" if adapted.saved else ""
        afterwards = f"; afterwards: {adapted.afterwards}" if verbose else ""
        yield (
            _format_clock(adapted.at, zone, now),
            f"{adapted.what}: {adapted.change}, because {adapted.why}{saved}{afterwards}",
        )


def describe_held(held: StoredData | None, now: float) -> Iterator[tuple[str, str]]:
    """What is stored of a user, and how their nights stand, as names with sentences."""
    if held is None:
        yield "nothing yet", "talk first: insula chat"
        return
    facts = f"{count_noun(held.facts, 'fact')} (insula memory lists them)"
    yield "stored", ", ".join([count_noun(held.sessions, "session"), count_noun(held.messages, "message"), facts])
    night = f"the last one {_format_ago(held.last_night, now)}" if held.last_night is not None else "there was none yet"
    yield "night", f"{night}; {'one is due: insula sleep' if held.night_due else 'none is due'}"
    spent = f"; {held.understanding_tokens:,} tokens in the last day" if held.understanding != "off" else ""
    yield "reads", f"{READING[held.understanding]}{spent}"


def _format_ago(at: float, now: float) -> str:
    """How long ago; a clock that was put back since makes it now."""
    return f"{_format_span(now - at)} ago" if now - at >= 1 else "just now"


def _format_span(seconds: float) -> str:
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= unit:
            return count_noun(int(seconds // unit), name)
    return count_noun(round(seconds), "second")


def _format_clock(at: float, zone: tzinfo | None, now: float) -> str:
    """The time of day; with its date where that is not today."""
    there, today = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(now, zone).date()
    return f"{there:%H:%M}" if there.date() == today else f"{there:%Y-%m-%d %H:%M}"


def _status_record(regulator: Regulator, user: str, held: StoredData | None) -> dict[str, Any]:
    snapshot, schedule = regulator.ring.last, regulator.ring.schedule
    performance = snapshot.performance if snapshot else Performance()
    return {
        "turns": regulator.turns,
        "snapshot": snapshot.model_dump(mode="json") if snapshot else None,
        "performance": {name: getattr(performance, name) for name in ("latency_p95_ms", "degraded", "slowdown")},
        "metacog": {"interval": schedule.interval, "next_due_turn": schedule.due},
        "adaptations": [adaptation.model_dump(mode="json") for adaptation in regulator.ring.adaptations[-SHOWN:]],
        "user": {"name": user, "held": asdict(held) if held else None},
    }


def read_status(user: str) -> tuple[Regulator, StoredData | None, list[ClaimEntry]]:
    """How the service stood when it last wrote itself down, what is held of a user, and what is said to them."""
    known = settings.load_settings()

    async def read_store(store: Store) -> tuple[Regulator, StoredData | None, list[ClaimEntry]]:
        regulator = Regulator(
            known.controls, interval=known.metacog_turn_interval, size=known.metacog_snapshot_history_size
        )
        await Metacognition(store, regulator=regulator).engine.restore_state()
        said = await read_register(store, user, switch_claims(known.claims), str(places.find_home()))
        return regulator, await read_held(store, user, known), said

    return with_store(read_store)


async def read_held(store: Store, user: str, settings: Settings) -> StoredData | None:
    """What is stored of a user; None where nothing is."""
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        return None
    counts = await store.sessions.count_rows(StoredPlace(user_id=user_id, session_id=0, user=user, session=""))
    last = await store.nights.last_night(user_id, END)
    return StoredData(
        sessions=counts["sessions"],
        messages=counts["messages"],
        long_term=counts["long_term"],
        facts=await count_memories(store, user, FACTS),
        signals=counts["signals"],
        last_night=last[1] if last else None,
        night_due=await is_due(store, user, settings.zone_of(user)),
        understanding=settings.understanding if model_understands(settings.model) else "off",
        understanding_tokens=await store.read(unread.tokens_spent, user_id, store.now()),
    )
