"""What was done in a session, read from its trace when the agent stops: files written, checks run, commits, pushes.

Nothing of it costs a call of a tool: the trace is there anyway, and is read at the end alone.
"""

import os
import re
from functools import lru_cache

from insula.coding.step import programs, trace
from insula.coding.step.action import EDIT, EXECUTE, OTHER, Action, load_done
from insula.coding.step.command import get_kind, list_written
from insula.coding.step.programs import PROVING
from insula.coding.step.shell import SimpleCommand, list_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.coding.step.trace import Record

TAIL = 4 << 20
"""Bytes of a trace that are read, the newest."""
MOST_AGENTS = 40
ALL_KINDS = "all"
"""The kind of a check that by its name runs them all: `make check`, `npm run verify`, `tox`."""
_ALL = re.compile(r"(?:^|[:_-])(?:check|checks|ci|verify|validate|all|precommit|pre-commit|qa)(?:$|[:_-])")
_RUN_TESTS = {"gradle": frozenset(("build",)), "mvn": frozenset(("package", "install", "deploy"))}
"""Targets that run the tests though their names tell nothing of it."""


CHECK_NAMES = {
    programs.TEST: r"test|spec|check|verify",
    programs.LINT: r"lint|format|fmt|style|check|verify",
    programs.TYPES: r"type|tsc|mypy|pyright|check|verify|build|compile",
    programs.BUILD: r"build|compile|make|package|bundle",
}
"""What is in a command that may well run a check of the kind, though behind a name that nobody knows."""


def read_done(folder: str) -> tuple[Action, ...]:
    """What a session and its subagents did, in order."""
    agents = f"{folder}/agents"
    names = sorted(os.listdir(agents))[:MOST_AGENTS] if os.path.isdir(agents) else []
    places = (folder, *(f"{agents}/{name}" for name in names))
    records = [record for place in places for record in trace.read_tail(place, TAIL)]
    return tuple(sorted(filter(None, map(_load_act, records)), key=lambda act: act.at))


def _load_act(record: "Record") -> Action | None:
    if record.get("e") == "subagent":
        return Action(tool="agent", kind=OTHER, at=float(record.get("at", 0.0)), call="")
    return load_done(record)


_parse_line = lru_cache(maxsize=4096)(list_commands)


def list_run(act: Action) -> tuple[SimpleCommand, ...]:
    """The commands that an action ran."""
    return _parse_line(act.target) if act.kind == EXECUTE else ()


def list_changed(act: Action) -> "list[str]":
    """The files that an action wrote, as far as it names them."""
    if act.kind == EDIT:
        return [act.target] if act.ok else []
    return [path for command in list_run(act) for path in list_written(command)]


def list_check_kinds(act: Action) -> "set[str]":
    """The kinds of check that an action ran."""
    return {kind for command in list_run(act) for kind in list_kinds(command)}


def list_kinds(command: SimpleCommand) -> "set[str]":
    """The kinds of check that a command runs, by its program and the name of its script."""
    kinds = {get_kind(command.words)} & PROVING
    plain = [word.lower() for word in command.words[1:] if not word.startswith("-")]
    if not kinds:
        kinds = {programs.PROGRAMS[word] for word in plain if programs.PROGRAMS.get(word) in PROVING}
        kinds |= {programs.TEST} if {"test", "tests", "spec"} & set(plain[:4]) else set[str]()
        kinds |= {programs.BUILD} if "build" in plain[:3] else set[str]()
        kinds |= {programs.LINT} if command.program.endswith("lint") else set[str]()
    names_all = (not kinds or command.program in programs.SCRIPTS) and any(map(_ALL.search, plain[:3]))
    if (
        names_all
        or command.program in {"tox", "nox", "pre-commit", "act"}
        or _RUN_TESTS.get(command.program, frozenset[str]()) & set(plain)
    ):
        kinds.add(ALL_KINDS)
    return kinds


def is_opaque(act: Action) -> bool:
    """Whether an act may have run anything: another tool, a script of the project, a remote service."""
    if act.kind == OTHER:
        return act.tool.startswith("mcp__") or act.tool.lower() in {"agent", "task", "skill", "workflow"}
    return any(
        command.program.endswith((".sh", ".bash", ".ps1", ".bat", ".py"))
        or command.program in {"gh", "glab", "act", "ssh"}
        or command.words[0].startswith("./")
        for command in list_run(act)
    )
