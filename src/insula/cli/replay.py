"""`insula replay`: look back at past sessions of coding agents, and found rules on them.

All text of transcripts goes through `visible`, and none is markup.
"""

import json as jsonlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from insula.cli import lines
from insula.cli.lines import print_console, print_text
from insula.cli.options import Json, Yes
from insula.coding.hosts import places, switch
from insula.coding.replay import learn as learning
from insula.coding.replay import page
from insula.coding.replay.figures import (
    format_count,
    format_duration,
    format_number,
    format_span,
    format_time,
    format_tokens,
)
from insula.coding.replay.find import FoundTranscripts, find_transcripts, list_folders, list_foreign
from insula.coding.replay.gather import Gathered, gather_sessions
from insula.coding.replay.learn import Plan
from insula.coding.replay.model import Moment, Totals
from insula.coding.replay.telling import describe_fate, introduce_moment
from insula.coding.replay.visible import show_safely
from insula.coding.step.wording import SIGN
from insula.errors import InputError
from insula.redaction import redact
from insula.value import is_object

SHOWN = 5
"""Of what the user said and was not kept."""
NAMED = 8
"""Names of a list that are spelled out."""
NARROW = 100
"""Columns below which a table of moments has no room for what happened."""


def show_replay(gathered: Gathered, console: Console, page: Path | None, learns: bool) -> None:
    """Everything that there is to see, the most telling first.

    Args:
        console: where to print.
        page: where the timelines were written.
        learns: whether the user asked to learn from it.
    """
    totals = gathered.totals
    if totals.sessions:
        console.print(Text(_describe_seen(totals)), soft_wrap=True)
        _print_words(totals, console)
        _print_worst(totals, console)
    else:
        console.print("Nothing could be read.")
    for line in _left_out(totals):
        console.print(Text(line), soft_wrap=True)
    console.print()
    for line in _suggest_next(totals, page, learns):
        console.print(Text(line), soft_wrap=True)


def _describe_seen(totals: Totals) -> str:
    named = [f"{format_number(count)} of {places.HOSTS[host].name}" for host, count in totals.hosts.most_common()]
    days = f", {format_span(totals.began, totals.ended)}" if totals.began else ""
    counts = (
        format_count(totals.tool_uses, "tool use"),
        format_count(totals.errors, "error"),
        format_count(totals.prompts, "prompt"),
        format_count(totals.interrupts, "interrupt"),
        format_count(totals.rejections, "call turned down", "calls turned down"),
        format_count(totals.corrections, "correction"),
        f"about {format_tokens(totals.tokens)} tokens",
    )
    return f"{format_count(totals.sessions, 'session')} ({', '.join(named)}){days}: {', '.join(counts)}."


# What the user said.


def _print_words(totals: Totals, console: Console) -> None:
    """What the user ruled out or asked for, and what of it was not kept."""
    if not totals.given:
        return
    console.print(
        f"\n[bold]You ruled out or asked for {format_count(totals.given, 'thing')}[/]: "
        f"{format_number(totals.broken)} gone against, {format_number(totals.unmet)} open at the end."
    )
    for given in totals.words[:SHOWN]:
        by = f", by {_show_redacted(given.by, 60)}" if given.broken else ""
        where = ", ".join(filter(None, (format_time(given.at), _show_redacted(given.project, 24))))
        line = Text(f"“{_show_redacted(given.words, 110)}”").append(f"\n{where}: {describe_fate(given)}{by}", "dim")
        console.print(Padding(line, (0, 0, 0, 2)))


# What hurt.


def _print_worst(totals: Totals, console: Console) -> None:
    if not totals.worst:
        console.print("\nNowhere did the senses feel an agent stuck: no similar errors in a row, no loops.")
        return
    console.print("\n[bold]What went wrong[/]")
    if console.width < NARROW:
        _print_blocks(totals.worst, console)
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("When", "Project", "What happened", "What it cost"):
        table.add_column(name, no_wrap=name == "When")
    for moment in totals.worst:
        table.add_row(
            format_time(moment.at), _show_redacted(moment.project, 24), _describe_moment(moment), _describe_cost(moment)
        )
    console.print(table)


def _print_blocks(moments: Iterable[Moment], console: Console) -> None:
    for moment in moments:
        where = ", ".join(filter(None, (format_time(moment.at), _show_redacted(moment.project, 24))))
        console.print(Text(where or "When and where is not told", style="dim"))
        console.print(Padding(_describe_moment(moment).append(f"\n{_describe_cost(moment)}"), (0, 0, 0, 2)))


def _describe_moment(moment: Moment) -> Text:
    text = Text(f"{introduce_moment(moment)}{_show_redacted(moment.what, 70)}")
    said = _show_redacted(moment.said.removeprefix(SIGN), 130)
    if said:
        text.append(f"\nit would have read: {said}", style="dim")
    return text


def _describe_cost(moment: Moment) -> str:
    calls = format_count(moment.last - moment.first + 1, "call")
    time = f", {format_duration(moment.seconds)}" if moment.at else ""
    return f"{calls}{time}, {format_tokens(moment.tokens)} tokens{', to the end' if moment.open else ''}"


# What was left out.


def _left_out(totals: Totals) -> Iterable[str]:
    strange = {name: count for name, count in totals.skipped.items() if name.startswith("unknown")}
    known = Counter({name: count for name, count in totals.skipped.items() if name not in strange})
    if known:
        yield f"\nLines that tell nothing about calls: {format_number(known.total())} ({_list_counts(known)})."
    if strange:
        many = format_number(sum(strange.values()))
        yield f"Lines that this version does not know: {many} ({_list_counts(Counter(strange))})."
    for path, why in _first_paths(totals.incomplete):
        yield f"Read in part: {_show_redacted(path)}: {why}."
    for path, why in _first_paths(totals.passed_over):
        yield f"Passed over: {_show_redacted(path)}: {why}."
    for state, paths in (("read in part", totals.incomplete), ("passed over", totals.passed_over)):
        if len(paths) > NAMED:
            yield f"… and {format_number(len(paths) - NAMED)} more files {state}; --json names them all."


def _first_paths(paths: dict[str, str]) -> Iterable[tuple[str, str]]:
    return list(paths.items())[:NAMED]


def _list_counts(counts: Counter[str]) -> str:
    shown = [f"{_show_redacted(name, 60)} {format_number(count)}" for name, count in counts.most_common(NAMED)]
    return ", ".join([*shown, *(["…"] if len(counts) > NAMED else [])])


def _suggest_next(totals: Totals, page: Path | None, learns: bool) -> Iterable[str]:
    if page is not None:
        yield f"The timelines are in {_show_redacted(str(page))}"
    elif totals.worst:
        yield "insula replay --html replay.html   the timelines of the sessions that went worst"
    if not learns and totals.sessions:
        yield "insula replay --learn              found rules on these sessions"
    if totals.sessions:
        ((host, _),) = totals.hosts.most_common(1)
        yield f"{f'insula install {host}':<34} tell the agent while it happens"


# Learning.


def show_plan(planned: Plan, console: Console) -> None:
    """What would be learned."""
    rest = [
        f"{format_count(planned.known, 'session')} counted before" if planned.known else "",
        f"{format_count(planned.running, 'session')} not over yet" if planned.running else "",
    ]
    told = f" ({', '.join(filter(None, rest))})" if any(rest) else ""
    console.print(f"\n{format_count(planned.sessions, 'session')} to learn from{told}.")
    if planned.told:
        console.print("Rules that would be used from the next session on:")
    for rule in planned.told:
        where = "in the projects where it happened" if rule.scope == "project" else "in all projects"
        console.print(Text(f"  {rule.id}, {where}: {_show_redacted(rule.advice, 200)}"), soft_wrap=True)
    if planned.sessions and not planned.told:
        console.print("No further rule would be used yet: a failure must have happened in two sessions of a project.")


def _show_redacted(text: str, longest: int = 160) -> str:
    return show_safely(redact(text), longest)


ALL_READ, NOTHING_READ, PARTLY_READ = 0, 1, 3
"""Exit codes; 2 is that of a wrong option."""


def replay(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Transcripts, or folders of them; by default those of your agents."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the timelines to a page.")] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Make rules from these sessions, after asking.")] = False,
    yes: Yes = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is no replay page.")] = False,
    json: Json = False,
) -> int:
    """Look back at past sessions: where agents were stuck, and what they would have read."""
    if learn and not yes and not _is_asked(json):
        raise InputError("Nobody can be asked whether to learn; say so with: insula replay --learn --yes")
    transcripts = _find_transcripts(paths or ())
    if learn:
        _refuse_foreign(list_foreign(transcripts))
    if html is not None:
        _check_page(html, transcripts, force)
    gathered = _read_transcripts(transcripts)
    if html is not None:
        page.write_page(html, gathered.sessions, gathered.totals)
    planned = learning.plan_learning(str(places.find_home()), gathered.scores, time.time()) if learn else None
    if json:
        _print_json(gathered.totals, planned)
    else:
        print_console(lambda console: show_replay(gathered, console, html, learn))
        if planned is not None:
            _learn_rules(planned, yes)
    return _exit_status(gathered.totals)


def _find_transcripts(paths: Sequence[str]) -> FoundTranscripts:
    transcripts = find_transcripts(paths)
    if not transcripts.sessions and not transcripts.passed_over:
        raise InputError(_nothing_found(paths))
    return transcripts


def _nothing_found(paths: Sequence[str]) -> str:
    if paths:
        named = ", ".join(map(repr, paths))
        return f"Under {named} is no .jsonl or .json file; give a transcript, or a folder of transcripts."
    looked = ", ".join(str(place) for places_ in list_folders().values() for place in places_)
    said = f"No transcript of a coding agent was found in {looked}; give the path of one, or of a folder."
    return f"{said} OpenCode keeps its sessions in a database: opencode export ID > FILE.json writes one out."


def _refuse_foreign(files: Sequence[Path]) -> None:
    """Transcripts of others may say anything; what is learned from them is told to this user's agents."""
    if files:
        more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        raise InputError(
            "These transcripts are not from a folder of your coding agents, so nothing is learned from them: "
            f"{show_safely(str(files[0]))!r}{more}; leave out --learn."
        )


def _read_transcripts(transcripts: FoundTranscripts) -> Gathered:
    """Read everything, with a bar where somebody looks."""
    console = Console(stderr=True)
    size = sum(source.size for sources in transcripts.sessions for source in sources)
    on = switch.list_senses(places.find_home())
    if not console.is_terminal:
        return gather_sessions(transcripts, on=on)
    columns = (TextColumn("Looking back"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=size)
        return gather_sessions(transcripts, _batch_progress(lambda done: bar.advance(task, done)), on)


def _batch_progress(advance: Callable[[int], None], least: int = 1 << 20) -> Callable[[int], None]:
    """Tells of every megabyte: a bar that moves at every line costs more than reading it."""
    waiting = 0

    def add_progress(size: int) -> None:
        nonlocal waiting
        waiting += size
        if waiting >= least:
            advance(waiting)
            waiting = 0

    return add_progress


def _check_page(path: Path, transcripts: FoundTranscripts, force: bool) -> None:
    read = [source.path for sources in transcripts.sessions for source in sources]
    page.check_target(path, [*read, *map(Path, transcripts.passed_over)], force)


def _exit_status(totals: Totals) -> int:
    if not totals.sessions:
        return NOTHING_READ
    return PARTLY_READ if totals.passed_over or totals.incomplete else ALL_READ


# JSON.


def _print_json(totals: Totals, planned: Plan | None) -> None:
    """What is said to be written is written by then: to learn was agreed to, as nobody is asked here."""
    record = {"v": 1, **{field.name: _sort_keys(getattr(totals, field.name)) for field in fields(totals)}}
    if not totals.sessions:
        record["error"] = "Nothing could be read; `passed_over` and `incomplete` say why."
    if planned is not None:
        learning.write_evidence(str(places.find_home()), planned)
        record["learned"] = {
            "written": True,
            "sessions": planned.sessions,
            "known": planned.known,
            "running": planned.running,
            "rules": [rule.id for rule in planned.told],
        }
    print_text(jsonlib.dumps(record, indent=2, default=asdict) + "\n")


def _sort_keys(value: Any) -> Any:
    """A mapping by its keys as texts; the order of anything else tells something."""
    return {name: value[name] for name in sorted(value, key=str)} if is_object(value) else value


# Learning.


def _is_asked(json: bool) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not json


def _learn_rules(planned: Plan, yes: bool) -> None:
    print_console(lambda console: show_plan(planned, console))
    if not planned.sessions:
        return
    if not yes and not lines.ask_yes("Learn from them?"):
        print_text("Nothing was learned.\n")
        return
    learning.write_evidence(str(places.find_home()), planned)
    many = f"{planned.sessions} session{'' if planned.sessions == 1 else 's'}"
    print_text(
        f"Learned from {many}. See: insula guidance rules. To undo for a rule: insula guidance rules forget ID\n"
    )
