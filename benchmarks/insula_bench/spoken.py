"""What the hook says in recorded sessions with every sense switched on, by project and sense, and what a reader judged.

The verdicts stand in `verdicts.jsonl`, one line a text: `useful` (true, and a person who watched would have said it),
`useless` (true, and nobody needed it) or `false`. Of other people's sessions nothing stands there but our own sentence,
without the names that it quoted. What `register` says of a sense is counted from there: what was held out alone.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from insula.coding.step.senses import EVERY
from insula.coding.step.senses.register import DEFAULT
from insula_bench.progress import steps
from insula_bench.sessions import Driven, Recording, Said, drive, recordings

FILE = Path(__file__).with_name("verdicts.jsonl")
USEFUL, USELESS, FALSE = "useful", "useless", "false"
REPOSITORY = "repository"
"""Beside the sessions of a project: what of its files matters to the hook (`.gitignore`, hooks of commits)."""

Key = tuple[str, str, int, str]


class Verdict(NamedTuple):
    """What a reader said of a text."""

    project: str
    kind: str
    """Of project: `TypeScript`, `Rust`, `docs`, …"""
    host: str
    session: str
    """The beginning of its id."""
    call: int
    """Calls that had been made by then."""
    sense: str
    text: str
    """Ours, without what it quoted."""
    verdict: str
    why: str
    held: bool = True
    """Whether nobody had looked at the project while the senses were built."""

    @property
    def key(self) -> Key:
        """What tells the text from all others."""
        return self.project, self.session, self.call, self.sense


def verdicts(file: Path = FILE) -> list[Verdict]:
    """What was judged."""
    return [Verdict(**json.loads(line)) for line in file.read_text("utf-8").splitlines() if line.strip()]


def key(said: Said) -> Key:
    """What tells a text from all others."""
    return said.project.replace("+", "/", 1), said.session[:8], said.call, said.sense


def run(data: Sequence[str], as_json: bool) -> int:
    """Drive the hook over all sessions in the data and print what it said; the exit status."""
    report = measure(data)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        Console().print(_table(report))
    return 0


def measure(data: Sequence[str]) -> dict[str, Any]:
    """Counts by project and sense, the texts per 1,000 calls by default, and what was judged of them."""
    judged = {verdict.key: verdict.verdict for verdict in verdicts()}
    calls: Counter[str] = Counter()
    said: list[Said] = []
    for recording in steps(list(_unique(data)), "hook"):
        driven = drive(recording, EVERY, _files(data, recording.project))
        calls[driven.recording.project] += driven.calls
        said += driven.said
    return {
        "calls": sum(calls.values()),
        "per_1000_calls_by_default": round(
            1_000 * sum(one.sense in DEFAULT for one in said) / max(sum(calls.values()), 1), 2
        ),
        "projects": {project: {"calls": calls[project], **_of_project(said, project)} for project in sorted(calls)},
        "senses": {sense: _judged([one for one in said if one.sense == sense], judged) for sense in sorted(EVERY)},
    }


def _unique(data: Iterable[str]) -> Iterator[Recording]:
    seen: set[str] = set()
    for folder in data:
        for recording in recordings(folder):
            if recording.session not in seen:
                seen.add(recording.session)
                yield recording


def _files(data: Iterable[str], project: str) -> Mapping[str, str]:
    """What stands in the repository of a project, as far as the data holds it."""
    roots = [path for folder in data for path in (Path(folder, project, REPOSITORY), Path(folder, REPOSITORY))]
    return {
        str(file.relative_to(root)): file.read_text("utf-8", "replace")
        for root in roots
        if root.is_dir()
        for file in root.rglob("*")
        if file.is_file()
    }


def _of_project(said: Iterable[Said], project: str) -> dict[str, int]:
    return dict(sorted(Counter(one.sense for one in said if one.project == project).items()))


def _judged(said: Sequence[Said], judged: Mapping[Key, str]) -> dict[str, int]:
    found = Counter(judged.get(key(one), "not judged") for one in said)
    return {"texts": len(said), **{name: found[name] for name in (USEFUL, USELESS, FALSE, "not judged")}}


def _table(report: Mapping[str, Any]) -> Table:
    table = Table("sense", "texts", USEFUL, USELESS, FALSE, "not judged", title=f"{report['calls']:,} calls")
    for sense, row in report["senses"].items():
        table.add_row(f"{sense}{' (on)' if sense in DEFAULT else ''}", *(str(count) for count in row.values()))
    table.caption = f"{report['per_1000_calls_by_default']} texts per 1,000 calls by default"
    return table


__all__ = ["Driven", "Verdict", "key", "measure", "run", "verdicts"]
