"""`insula status`: how the agent is doing, in words that need no manual."""

import json as jsonlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from insula import settings
from insula.claims import DEFAULT
from insula.cli.claims import print_register
from insula.cli.common import counted, is_memory
from insula.cli.standing import Held, Standing, gathered
from insula.cli.terminal import tell
from insula.cli.worth import DAYS, print_worth, summary
from insula.hosts import places
from insula.replay.claims import Entry, entries
from insula.replay.worth import Worth, worth
from insula.session.adaptation import Adaptation, Cause, Effect, Stage
from insula.session.conditions import describe_slowdown
from insula.session.latency import MINIMUM
from insula.session.saved import Lever
from insula.session.snapshot import Snapshot

LEVERS: dict[Lever, str] = {
    "max_context_items": "memories shown to the model",
    "consolidation_threshold": "importance from which something is kept for good",
    "snapshot_interval": "turns from one snapshot to the next",
    "history_share": "share of the conversation that is sent",
    "retry": "second answers, where the first falls short",
    "skipped_stages": "steps put off or left out",
}
CAUSES: dict[Cause, str] = {
    "performance_degraded": "the model was slow",
    "stm_high_utilization": "working memory was nearly full",
    "stable": "all was well",
}
STATUSES = {"stored": "kept", "skipped": "not kept, because the store could not be written"}
UNDERSTANDING: Mapping[str, str] = {
    "off": "nothing of what you said",
    "night": "what you said, at night",
    "idle": "what you said, at night and once you have said nothing for a minute",
}
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


def run(*, user: str, url: str | None, json: bool) -> int:
    """Show how the agent is doing; returns the exit code.

    Raises:
        InputError: there is no server at `url`.
        StoreError: the store cannot be used.
    """
    hooks = _hooks()
    if hooks is not None and not json and url is None and not is_memory():
        tell(lambda console: _show_hooks(console, hooks))
        return 0
    standing, held, said = gathered(user, url)
    if json:
        record = _record(standing, user, held)
        told = {"coding_agents": asdict(hooks) | {"tokens": hooks.cost}} if hooks else {}
        print(jsonlib.dumps(record | told | {"claims": [one.to_json() for one in said]}, indent=2))
        return 0
    if hooks is not None and held is None and standing.url is None:
        tell(lambda console: _show_hooks(console, hooks))
        return 0
    tell(lambda console: _show(console, standing, user, held, hooks, said))
    return 0


def _show_hooks(console: Console, hooks: Worth) -> None:
    """Where nobody talks, only coding agents are watched."""
    print_worth(hooks, console)
    print_register(console, [one for one in entries(DEFAULT, {}, hooks) if one.claim.place == "call"])


def _hooks() -> Worth | None:
    """What the hooks of coding agents were worth; None where they have seen no session."""
    if not (places.home() / "sessions").is_dir():
        return None
    found = worth(str(places.home()), DAYS, time.time())
    return found if found.sessions else None


def _show(
    console: Console, standing: Standing, user: str, held: Held | None, hooks: Worth | None, said: Sequence[Entry]
) -> None:
    zone, now = settings.load().zone_of(user), time.time()
    console.print(_where(standing), style="dim")
    for title, rows in (
        ("How it is doing", _service(standing, now)),
        ("What it changed about itself, latest first", _adaptations(standing, zone, now)),
        (f"What it holds of {user}", _holds(held, now)),
    ):
        console.print(Text(f"\n{title}", style="bold"))
        console.print(_table(rows))
    if hooks is not None:
        console.print(Text("\nWhat coding agents were told (insula worth)", style="bold"))
        for line in summary(hooks):
            console.print(Text(f"  {line}"), soft_wrap=True)
    print_register(console, said)


def _table(rows: Iterator[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column()
    for name, said in rows:
        table.add_row(Text(name), Text(said))
    return table


def _where(standing: Standing) -> str:
    if standing.url:
        return f"from the server at {standing.url}"
    return "from the store, as of the last snapshot: no server answers here (insula serve starts one)"


def _service(standing: Standing, now: float) -> Iterator[tuple[str, str]]:
    yield "speed", _speed(standing)
    if (last := standing.snapshot) is not None:
        yield from _figures(last)
        yield "snapshot", f"the last one at turn {last.turn_counter}, {_ago(last.ts, now)}"
    else:
        yield "snapshot", f"none yet: {counted(standing.turns, 'turn')} so far"
    yield "next", f"at turn {standing.next_due_turn}; one every {standing.interval} turns now"


def _speed(standing: Standing) -> str:
    """How long turns take, and how the model's part of it compares with what is usual, as a person would say it."""
    p95, times = standing.latency_p95_ms, standing.slowdown
    said = [
        *([f"19 of 20 turns take {_duration(p95)} or less"] if p95 is not None else ()),
        *([describe_slowdown(times)] if times is not None else ()),
    ]
    known = "; ".join(said) or f"not known yet; it takes {MINIMUM} turns to tell"
    return f"{'slow: ' if standing.degraded else ''}{known}"


def _figures(last: Snapshot) -> Iterator[tuple[str, str]]:
    if last.stm_utilization is not None:
        room = f" of {last.stm_capacity} places" if last.stm_capacity else ""
        yield "working memory", f"{last.stm_utilization:.0%}{room} in use"
    if (share := last.recent_consolidation_selectivity) is not None:
        age = last.promotion_age_p95_seconds
        after = f", at most {_span(age)} after it was said" if age is not None else ""
        kept = (
            f"{share:.0%} of what was lately said" if share <= 1 else "all that was lately said, and some from before"
        )
        yield "kept for good", f"{kept}{after}"
    if last.last_user_turn_status is not None:
        yield "last message", STATUSES[last.last_user_turn_status]


def _adaptations(standing: Standing, zone: tzinfo | None, now: float) -> Iterator[tuple[str, str]]:
    if not standing.adaptations:
        yield "nothing yet", "it does so when the model gets slow or working memory fills up, and undoes it after"
    for one in reversed(standing.adaptations):
        saved = f"; {one.saved.words}" if one.saved else ""
        why = f"because {CAUSES[one.reason]}{saved}; {_effect(one.effect)}"
        yield _clock(one.at, zone, now), f"{_change(one)}, {why}"


def _change(one: Adaptation) -> str:
    return f"{LEVERS[one.lever]}: {_value(one.before)} → {_value(one.after)}"


def _value(value: float | tuple[Stage, ...]) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(stage).replace("_", " ") for stage in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _effect(effect: Effect | None) -> str:
    """What was different afterwards, without a word on why."""
    if effect is None:
        return "what came of it is known at the next snapshot"
    if effect.latency_p95_ms is None and effect.stm_utilization is None:
        return "there are no figures to compare with"
    pace, room = effect.latency_p95_ms or 0.0, effect.stm_utilization or 0.0
    faster = f"turns {_duration(abs(pace))} {'slower' if pace > 0 else 'faster'}" if abs(pace) >= 1 else ""
    fuller = f"working memory {'fuller' if room > 0 else 'emptier'} by {abs(room):.0%}" if abs(room) >= 0.01 else ""
    return f"afterwards {', '.join(filter(None, (faster, fuller))) or 'no difference'}"


def _holds(held: Held | None, now: float) -> Iterator[tuple[str, str]]:
    if held is None:
        yield "nothing yet", "talk first: insula chat"
        return
    kept = f"{held.long_term} {'memory' if held.long_term == 1 else 'memories'} kept for good"
    counts = (counted(held.sessions, "session"), counted(held.messages, "message"), kept)
    yield "stored", ", ".join([*counts, counted(held.signals, "signal")])
    night = f"the last one {_ago(held.last_night, now)}" if held.last_night is not None else "there was none yet"
    yield "night", f"{night}; {'one is due: insula sleep' if held.night_due else 'none is due'}"
    spent = f"{held.understanding_tokens:,} tokens in the last day"
    yield "reads", f"{UNDERSTANDING[held.understanding]}; {spent}"


def _ago(at: float, now: float) -> str:
    """How long ago; a clock that was put back since makes it now."""
    return f"{_span(now - at)} ago" if now - at >= 1 else "just now"


def _span(seconds: float) -> str:
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= unit:
            return counted(int(seconds // unit), name)
    return counted(round(seconds), "second")


def _clock(at: float, zone: tzinfo | None, now: float) -> str:
    """The time of day; with its date where that is not today."""
    there, today = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(now, zone).date()
    return f"{there:%H:%M}" if there.date() == today else f"{there:%Y-%m-%d %H:%M}"


def _duration(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _record(standing: Standing, user: str, held: Held | None) -> dict[str, Any]:
    snapshot = standing.snapshot
    return {
        "url": standing.url,
        "turns": standing.turns,
        "snapshot": snapshot.model_dump(mode="json") if snapshot else None,
        "performance": {name: getattr(standing, name) for name in ("latency_p95_ms", "degraded", "slowdown")},
        "metacog": {"interval": standing.interval, "next_due_turn": standing.next_due_turn},
        "adaptations": [one.model_dump(mode="json") for one in standing.adaptations],
        "user": {"name": user, "held": asdict(held) if held else None},
    }
