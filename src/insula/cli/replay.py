"""`insula replay`: look back at past sessions of coding agents, and found rules on them."""

import json as jsonlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from insula.cli import lines, replay_text
from insula.cli.lines import print_console, print_text
from insula.cli.options import Json, Yes
from insula.coding.hosts import places, switch
from insula.coding.replay import learn as learning
from insula.coding.replay import page
from insula.coding.replay.find import FoundTranscripts, find_transcripts, list_folders, list_foreign
from insula.coding.replay.gather import Gathered, gather_sessions
from insula.coding.replay.learn import Plan
from insula.coding.replay.model import Totals
from insula.coding.replay.visible import show_safely
from insula.errors import InputError

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
        print_console(lambda console: replay_text.show_replay(gathered, console, html, learn))
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
    record = {"v": 1, **{field.name: _plain_value(getattr(totals, field.name)) for field in fields(totals)}}
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
    print_text(jsonlib.dumps(record, indent=2) + "\n")


def _plain_value(value: Any) -> Any:
    """A value as JSON holds it; keys are texts and sorted, but where the order itself tells something."""
    if isinstance(value, Mapping):
        mapping = cast(Mapping[Any, Any], value)
        return {str(name): _plain_value(mapping[name]) for name in sorted(mapping, key=str)}
    if isinstance(value, list):
        return [_plain_value(item) for item in cast(list[Any], value)]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


# Learning.


def _is_asked(json: bool) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not json


def _learn_rules(planned: Plan, yes: bool) -> None:
    print_console(lambda console: replay_text.show_plan(planned, console))
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
