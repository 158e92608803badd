"""What was done in a session, read from its trace when the agent stops: files written, checks run, commits, pushes.

Nothing of it costs a call of a tool: the trace is there anyway, and is read at the end alone.
"""

import os
import re

from insula.coding.step import programs, trace
from insula.coding.step.action import EDIT, EXECUTE, OTHER, READ
from insula.coding.step.instructions.commands import Ran, list_commands
from insula.coding.step.project import is_code
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

TAIL = 4 << 20
"""Bytes of a trace that are read, the newest."""
MOST_AGENTS = 40
ALL_KINDS = "all"
"""The kind of a check that by its name runs them all: `make check`, `npm run verify`, `tox`."""
_ALL = re.compile(r"(?:^|[:_-])(?:check|checks|ci|verify|validate|all|precommit|pre-commit|qa)(?:$|[:_-])")
_RUN_TESTS = {"gradle": frozenset(("build",)), "mvn": frozenset(("package", "install", "deploy"))}
"""Targets that run the tests though their names tell nothing of it."""
_KINDS = (programs.TEST, programs.TYPES, programs.LINT, programs.BUILD)


CHECK_NAMES = {
    programs.TEST: r"test|spec|check|verify",
    programs.LINT: r"lint|format|fmt|style|check|verify",
    programs.TYPES: r"type|tsc|mypy|pyright|check|verify|build|compile",
    programs.BUILD: r"build|compile|make|package|bundle",
}
"""What is in a command that may well run a check of the kind, though behind a name that nobody knows."""


class Act(Value):
    """One thing that was done."""

    at: float
    kind: str
    """`edit`, `execute` or another kind of action."""
    tool: str = ""
    path: str = ""
    line: str = ""
    seen: str = ""
    """The file that it read."""
    ok: bool = True
    ran: bool = True
    unsure: bool = False
    """Whether its status was lost."""
    waits: bool = False
    acts: tuple[str, ...] = ()
    changes: bool = False
    tests: bool = False
    """Of an edit: whether it wrote a test."""
    red: bool = False
    """Whether it surely failed: by its exit status, or by the failures that it counts."""
    runs: tuple[Ran, ...] = ()

    def does_act(self, pattern: str) -> bool:
        """Whether one of its commands has such a word in it and does more than look at something."""
        return any(
            not command.is_read_only and re.search(pattern, " ".join(command.words).lower()) for command in self.runs
        )

    @property
    def check_kinds(self) -> "frozenset[str]":
        """The kinds of check that it runs."""
        return frozenset(kind for command in self.runs for kind in list_kinds(command))


class ActHistory(Value):
    """What a session did, in order."""

    acts: tuple[Act, ...] = ()
    whole: bool = True
    """Whether the trace holds all of it: not where the session was resumed, or its beginning lies too far back."""


def read_done(folder: str) -> ActHistory:
    """What a session and its subagents did."""
    records, whole = _read_records(folder)
    acts = [act for record in records if (act := load_act(record)) is not None]
    agents = f"{folder}/agents"
    for name in sorted(os.listdir(agents))[:MOST_AGENTS] if os.path.isdir(agents) else ():
        more, _ = _read_records(f"{agents}/{name}")
        acts += [act for record in more if (act := load_act(record)) is not None]
    began = [record.get("source") for record in records if record.get("e") == "start"][:1]
    return ActHistory(
        acts=tuple(sorted(acts, key=lambda act: act.at)), whole=whole and began not in (["resume"], ["compact"])
    )


def _read_records(folder: str) -> "tuple[list[Record], bool]":
    try:
        size = os.stat(f"{folder}/{trace.FILE}").st_size
        return trace.read_trace(folder, max(0, size - TAIL))[0], size <= TAIL
    except OSError:
        return [], True


def load_act(record: "Record") -> Act | None:
    """What a record of a trace says was done; None for nothing."""
    if record.get("e") == "subagent":
        return Act(at=float(record.get("at", 0.0)), kind=OTHER, tool="agent")
    if record.get("e") != "action" or not record.get("ran", True):
        return None
    kind, target = str(record.get("kind", "")), str(record.get("target", ""))
    return Act(
        at=float(record.get("at", 0.0)),
        kind=kind,
        tool=str(record.get("tool", "")),
        path=target if kind == EDIT else "",
        line=target if kind == EXECUTE else "",
        seen=target if kind == READ else "",
        ok=record.get("ok", True) is True,
        unsure=record.get("unsure", False) is True,
        waits=record.get("waits", False) is True,
        acts=tuple(map(str, record.get("acts", ()))),
        changes=record.get("changes", False) is True,
        tests=record.get("tests", False) is True,
        red=record.get("red", False) is True,
        runs=list_commands(target) if kind == EXECUTE else (),
    )


def list_kinds(command: Ran) -> "frozenset[str]":
    """The kinds of check that a command runs, by its program and the name of its script."""
    kinds = {command.kind} & set(_KINDS)
    plain = [word.lower() for word in command.words[1:] if not word.startswith("-")]
    if not kinds:
        kinds |= {programs.TEST} & ({programs.TEST} if {"test", "tests", "spec"} & set(plain[:4]) else set[str]())
        kinds |= {programs.PROGRAMS[word] for word in plain if programs.PROGRAMS.get(word) in programs.PROVING}
        kinds |= (
            {programs.BUILD}
            if "build" in plain[:3]
            else {programs.LINT}
            if command.program.endswith("lint")
            else set[str]()
        )
    if (
        ((not kinds or command.program in programs.SCRIPTS) and any(_ALL.search(word) for word in plain[:3]))
        or command.program in {"tox", "nox", "pre-commit", "act"}
        or _RUN_TESTS.get(command.program, frozenset[str]()) & set(plain)
    ):
        kinds.add(ALL_KINDS)
    return frozenset(kinds)


def is_opaque(act: Act) -> bool:
    """Whether an act may have run anything: another tool, a script of the project, a remote service."""
    if act.kind == OTHER:
        return act.tool.startswith("mcp__") or act.tool.lower() in {"agent", "task", "skill", "workflow"}
    return act.kind == EXECUTE and any(
        command.program.endswith((".sh", ".bash", ".ps1", ".bat", ".py"))
        or command.program in {"gh", "glab", "act", "ssh"}
        or command.words[0].startswith("./")
        for command in act.runs
    )


def find_last_change(done: ActHistory) -> float:
    """When code was last changed; 0 where it was not."""
    return max((act.at for act in done.acts if act.kind == EDIT and act.ok and is_code(act.path)), default=0.0)
