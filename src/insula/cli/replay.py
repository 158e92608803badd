"""`insula replay`: look back at past sessions of coding agents, and found rules on them."""

import json as jsonlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from insula.cli import replay_text
from insula.errors import InputError
from insula.hosts import places
from insula.replay import learn as learning
from insula.replay.find import Found, find, folders
from insula.replay.gather import Gathered, gather
from insula.replay.learn import Plan
from insula.replay.model import Totals

ALL_READ, NOTHING_READ, PARTLY_READ = 0, 1, 3
"""Exit codes; 2 is that of a wrong option."""


def run(paths: Sequence[str], json: bool, html: Path | None, learn: bool, yes: bool) -> int:
    """Look back, show what there is to see, and return the exit code.

    Raises:
        InputError: there is nothing to look at, or nobody can be asked.
    """
    if learn and not yes and not _is_asked(json):
        raise InputError("Nobody can be asked whether to learn; say so with: insula replay --learn --yes")
    found = find(paths)
    if not found.sessions and not found.passed_over:
        raise InputError(_nothing(paths))
    gathered = _read(found)
    planned = learning.plan(str(places.home()), gathered.scores, time.time()) if learn else None
    if html is not None:
        _page(html, gathered)
    if json:
        _print_json(gathered.totals, planned, learned=planned is not None and yes)
    else:
        replay_text.show(gathered, _console(), html, learn)
    if planned is not None:
        _learn(planned, yes, json)
    return _status(gathered.totals)


def _nothing(paths: Sequence[str]) -> str:
    if paths:
        return f"Under {', '.join(map(repr, paths))} is no .jsonl file; give a transcript, or a folder of transcripts."
    looked = ", ".join(str(place) for places_ in folders().values() for place in places_)
    return f"No transcript of a coding agent was found in {looked}; give the path of one, or of a folder."


def _read(found: Found) -> Gathered:
    """Read everything, with a bar where somebody looks."""
    console = Console(stderr=True)
    size = sum(source.size for sources in found.sessions for source in sources)
    if not console.is_terminal:
        return gather(found)
    columns = (TextColumn("Looking back"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=size)
        return gather(found, _steps(lambda done: bar.advance(task, done)))


def _steps(advance: Callable[[int], None], least: int = 1 << 20) -> Callable[[int], None]:
    """Tells of every megabyte: a bar that moves at every line costs more than reading it."""
    waiting = 0

    def tell(size: int) -> None:
        nonlocal waiting
        waiting += size
        if waiting >= least:
            advance(waiting)
            waiting = 0

    return tell


def _page(path: Path, gathered: Gathered) -> None:
    from insula.replay import page

    try:
        page.write(path, gathered.sessions, gathered.totals)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written ({error.strerror}); give another name.") from error


def _console() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else replay_text.PIPE_WIDTH)


def _status(totals: Totals) -> int:
    if not totals.sessions:
        return NOTHING_READ
    return PARTLY_READ if totals.passed_over or totals.incomplete else ALL_READ


# JSON.


def _print_json(totals: Totals, planned: Plan | None, learned: bool) -> None:
    record = {"v": 1, **_as_json(totals)}
    if planned is not None:
        record["learned"] = {
            "written": learned,
            "sessions": planned.sessions,
            "known": planned.known,
            "running": planned.running,
            "rules": [rule.id for rule in planned.told],
        }
    print(jsonlib.dumps(record, indent=2))


def _as_json(totals: Totals) -> dict[str, Any]:
    return {field.name: _plain(getattr(totals, field.name)) for field in fields(totals)}


def _plain(value: Any) -> Any:
    """A value as JSON holds it; keys are texts and sorted, but where the order itself tells something."""
    if isinstance(value, Mapping):
        found = cast(Mapping[Any, Any], value)
        return {str(name): _plain(found[name]) for name in sorted(found, key=str)}
    if isinstance(value, list):
        return [_plain(one) for one in cast(list[Any], value)]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


# Learning.


def _is_asked(json: bool) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not json


def _agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _learn(planned: Plan, yes: bool, json: bool) -> None:
    console = _console()
    if not json:
        replay_text.plan(planned, console)
    if not planned.sessions:
        return
    if not yes and not _agreed("Learn from them? [y/N] "):
        print("Nothing was learned.")
        return
    learning.write(str(places.home()), planned)
    if not json:
        print(
            f"Learned from {planned.sessions} sessions. See: insula rules. To undo for a rule: insula rules forget ID"
        )
