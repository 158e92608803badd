"""`insula worth`: what was said, what followed, what it cost, whether it helps; and what was wrong."""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from insula.cli.common import is_memory, with_store
from insula.cli.lines import print_console, print_json
from insula.cli.options import All, User
from insula.coding.hosts import switch
from insula.coding.hosts.places import find_home
from insula.coding.replay.figures import format_count, format_number, format_time, format_tokens
from insula.coding.replay.visible import show_safely
from insula.coding.replay.worth import (
    NEAR,
    SHARE,
    EffectRow,
    Followed,
    HookWorth,
    NotedTrouble,
    RuleOutcome,
    make_row,
    measure_worth,
    note_verdict,
)
from insula.coding.step.senses import load_sense
from insula.coding.step.senses.register import MEASURED, list_reasons
from insula.coding.step.worth import WRONG
from insula.guidance import MINIMUM
from insula.memory.storage.rows import StoredSignal
from insula.memory.storage.store import Store
from insula.metacognition.effects import sentence_effects
from insula.types import TURN

app = typer.Typer()
DAYS = 7.0
WHOLE, HEAD, TAIL = 12, 8, 4
"""Characters up to which the name of a session is shown whole, and those of a longer one: its first and its last."""


@app.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    days: Annotated[
        float,
        typer.Option(help="How far to look back; the comparison takes all that is kept.", min=0.01, max=400),
    ] = DAYS,
    user: User = "me",
    everything: All = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show whether the notes of the hooks help, and what they cost: five lines, or all of it."""
    if context.invoked_subcommand is not None:
        return
    worth = measure_worth(str(find_home()), days, time.time())
    worth.effects += of_talk(user)
    if json:
        print_json(asdict(worth) | {"tokens": worth.cost, "senses": of_senses()})
    else:
        print_console(lambda console: print_worth(worth, console, everything=everything))


def of_senses() -> dict[str, str]:
    """Which senses are on and which off, each with why."""
    on = switch.list_senses(find_home())
    return {"on": list_reasons(on, True), "off": list_reasons(on, False)}


def of_talk(user: str) -> list[EffectRow]:
    """What stood in the turns of a user: lessons, insights, sentences to the next turn."""
    if not is_memory():
        return []

    async def read_turns(store: Store) -> list[StoredSignal]:
        user_id = await store.nights.find_user_id(user)
        return await store.nights.list_signals(user_id, [TURN], 0.0) if user_id is not None else []

    return [make_row(name, SHARE, effect) for name, effect in sentence_effects(with_store(read_turns)).items()]


@app.command()
def wrong(name: Annotated[str, typer.Argument(metavar="ID", help="As `insula worth --all` shows it.")]) -> None:
    """Say that a note was a false alarm: what it was about is not said again in that project."""
    trouble = note_verdict(str(find_home()), name, right=False, now=time.time())
    print(f"Noted as a false alarm. In that project Insula says no more about {trouble.about}.")


@app.command()
def helped(name: Annotated[str, typer.Argument(metavar="ID", help="As `insula worth --all` shows it.")]) -> None:
    """Say that a note helped; where it was called a false alarm, what it was about is said again in that project."""
    trouble = note_verdict(str(find_home()), name, right=True, now=time.time())
    print(f"Noted. In that project Insula speaks as before about {trouble.about}.")


def print_worth(worth: HookWorth, console: Console, *, everything: bool = False) -> None:
    """What matters at the terminal, or all of it."""
    for line in summarize_worth(worth):
        console.print(Text(line), soft_wrap=True)
    if not everything:
        console.print(Text("Each note with its ID, the comparison, the rules and the senses: insula worth --all"))
        return
    if worth.sessions or any(row.told for row in worth.effects):
        _print_effects(worth.effects, console)
    if worth.troubles:
        _print_troubles(worth.troubles, console)
    if worth.rules:
        _print_rules(worth.rules, console)
    _print_senses(console)


def summarize_worth(worth: HookWorth) -> Iterator[str]:
    """What matters most, in four sentences at most."""
    left_out = len(worth.troubles) - len(worth.told_troubles)
    by_lot = f", {left_out} more left out by lot, to compare" if left_out else ""
    yield (
        f"In the last {worth.days:g} days: {format_count(worth.sessions, 'session')}, "
        f"{format_count(worth.calls, 'call')}, {format_count(worth.notes, 'note')} on "
        f"{format_count(len(worth.told_troubles), 'trouble')} (about {format_number(worth.cost)} tokens{by_lot})."
    )
    if followed := [told for name, text in _FOLLOWED.items() if (told := _describe_count(worth, name, text))]:
        yield f"After a note {', '.join(followed)}."
    if worth.told_troubles:
        yield (
            f"You called {worth.false_alarms} of {len(worth.told_troubles)} a false alarm. "
            f"To do so, write {WRONG} to your agent."
        )
    if compared := [row for row in worth.effects if row.is_compared]:
        yield f"Do they help? {'. '.join(f'{_capitalize(row.what)}: {row.conclusion}' for row in compared)}."
    else:
        yield f"Too few sessions to tell whether they help: it takes about {MINIMUM} with and {MINIMUM} without."


_FOLLOWED: Mapping[Followed, str] = {
    "heeded": "the trouble stopped growing",
    "again": f"the same failure came again within {NEAR} calls",
    "kept": f"your words were kept for {NEAR} calls",
    "corrected": "you corrected the agent next",
}
"""What is looked at behind a note -> how it is told."""


def _describe_count(worth: HookWorth, name: Followed, text: str) -> str:
    times, of = worth.count_followed(name)
    return f"{text} in {times} of {of}" if of else ""


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _print_effects(rows: list[EffectRow], console: Console) -> None:
    console.print("\n[bold]Do they help?[/]  sessions with them, beside sessions that had them left out by lot")
    table = _make_table(
        "What", "With", "Without", "What that says, with 95 % certainty", wide="What that says, with 95 % certainty"
    )
    for row in rows:
        table.add_row(row.what, str(row.told), str(row.withheld), row.conclusion)
    console.print(table)


def _make_table(*columns: str, wide: str) -> Table:
    """An empty table of which one column may take several lines."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column != wide)
    return table


def _print_troubles(troubles: list[NotedTrouble], console: Console) -> None:
    console.print("\n[bold]What it said[/]")
    table = _make_table("ID", "When", "Session", "Note", "Stopped growing", "What followed", wide="Note")
    names = shorten_names({trouble.session for trouble in troubles})
    for trouble in troubles:
        said = show_safely(trouble.said, 120)
        table.add_row(
            trouble.id,
            format_time(trouble.at),
            names[trouble.session],
            Text(f"left out: {said}" if trouble.withheld else said, style="dim" if trouble.withheld else ""),
            _describe_heeded(trouble),
            _describe_followed(trouble),
        )
    console.print(table)
    console.print(Text("insula worth wrong ID    a false alarm: its kind is not said again in that project"))
    console.print(Text("insula worth helped ID   it helped: a false alarm is taken back"))


def shorten_names(names: Collection[str]) -> dict[str, str]:
    """Names of sessions, cut as short as they can be told apart."""
    shown = {name: show_safely(name, 60) for name in names}
    heads = {name: text if len(text) <= WHOLE else text[:HEAD] for name, text in shown.items()}
    ends = {name: text if len(text) <= WHOLE else f"{text[:HEAD]}…{text[-TAIL:]}" for name, text in shown.items()}
    return next((cut for cut in (heads, ends) if len({*cut.values()}) == len(cut)), shown)


def _describe_heeded(trouble: NotedTrouble) -> str:
    if trouble.wrong or trouble.helped:
        return "false alarm" if trouble.wrong else "it helped"
    return {True: "yes", False: "no", None: "–"}[trouble.heeded]


def _describe_followed(trouble: NotedTrouble) -> str:
    if trouble.turns is None:
        return "not over yet" if trouble.rung else "–"
    turns, tokens = format_count(trouble.turns, "turn"), format_tokens(trouble.tokens)
    return f"over after {turns}, {trouble.minutes:.0f} min, {tokens} tokens"


def _print_rules(rules: list[RuleOutcome], console: Console) -> None:
    console.print("\n[bold]Rules that were learned or used[/]")
    table = _make_table("ID", "State", "Learned", "Kept", "Broken", "Rule", wide="Rule")
    for outcome in rules:
        learned = format_time(outcome.learned) if outcome.learned is not None else "–"
        said = Text(show_safely(outcome.advice, 100))
        table.add_row(outcome.rule, outcome.state, learned, str(outcome.kept), str(outcome.broken), said)
    console.print(table)


def _print_senses(console: Console) -> None:
    on = switch.list_senses(find_home())
    console.print("\n[bold]Senses[/]  insula on SENSE and insula off SENSE switch one")
    table = _make_table("Sense", "", "Notices", "Why it is on or off", wide="Why it is on or off")
    for row in sorted(MEASURED, key=lambda row: row.sense not in on):
        is_on = row.sense in on
        table.add_row(row.sense, "on" if is_on else "off", load_sense(row.sense).LABEL, row.explain_default(is_on))
    console.print(table)
