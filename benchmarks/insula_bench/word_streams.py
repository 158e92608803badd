"""The streams of development: written short in `streams/*.txt`, read as the streams of a hook."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Record = dict[str, Any]

FILES = Path(__file__).parent / "streams"
FOLDER = "/home/dev/shop"
WINDOWS = "C:\\work\\shop"
MARKS = frozenset(f"{mark} " for mark in "UPEWBXRASTCNJL")
"""What begins an event, or a line of the transcript (`J`), or a link that is there before all of them (`L`)."""
LOG = "12:00:00 INFO importer: a row was read\n"


def streams(*files: Path) -> list[Record]:
    """The streams of some files, by default of all, in the form that `word.play` takes."""
    found: list[Record] = []
    blocks = (
        block for path in files or sorted(FILES.glob("*.txt")) for block in path.read_text("utf-8").split("\n%% ")[1:]
    )
    for block in blocks:
        head, _, body = block.partition("\n")
        name, host, language, kind, look = head.split()
        found.append(_stream(name, host, language, kind, look, list(_lines(body))))
    return found


def _lines(body: str) -> Iterator[str]:
    """The events of a block; a line that begins none goes on with the one before."""
    line = ""
    for each in body.split("\n"):
        if each[:2] in MARKS or each[:1] == "!" or each == "C":
            if line:
                yield line.rstrip("\n")
            line = each
        elif line:
            line += f"\n{each}"
    if line:
        yield line.rstrip("\n")


def _stream(name: str, host: str, language: str, kind: str, look: str, lines: list[str]) -> Record:
    events: list[Record] = []
    expect: dict[str, Record] = {}
    turns: list[Record] = []
    links: list[list[str]] = []
    cwd = WINDOWS if look == "windows" else FOLDER
    for line in lines:
        wanted = line.startswith("!")
        mark, _, rest = line.removeprefix("!").partition(" ")
        if mark == "J":
            turns.append({"raw": rest, "at": len(events)})
            continue
        if mark == "L":
            links.append(rest.split(" -> "))
            continue
        rest, _, pieces = rest.rpartition("!!") if wanted else (rest, "", "")
        first = len(events)
        made = list(_events(mark, rest.strip(), host, first, cwd))
        events += made
        for place in range(first, len(events)):
            expect[str(place)] = {"silent": True}
        if wanted:
            told = {"kind": kind, "must_mention": [piece.strip() for piece in pieces.split("|")]}
            others = list(range(first + 1, len(events)))
            expect[str(first)] = {**told, ("also_ok" if mark == "A" else "late"): others}
            for place in others:
                expect[str(place)] = {"silent_or": first}
    return {
        "id": name,
        "host": host,
        "lang": language,
        "kind": kind,
        "lookalike": look,
        "cwd": cwd,
        "events": events,
        "turns": turns,
        "links": links,
        "expect": expect,
    }


def _events(mark: str, rest: str, host: str, number: int, cwd: str) -> Iterator[Record]:
    mode = {"permission_mode": "default"}
    if mark == "U":
        yield _event("UserPromptSubmit", {"prompt": rest, **mode})
    elif mark == "P":
        size, _, words = rest.partition(" ")
        yield _event("UserPromptSubmit", {"prompt": LOG * (int(size) // len(LOG)) + "\n" + words, **mode})
    elif mark == "N":
        yield _event("SessionStart", {"source": rest})
    elif mark == "T":
        yield _event("UserPromptSubmit", {"prompt": f"<task-notification>\n{rest}\n</task-notification>", **mode})
    elif mark == "C":
        yield _event("SessionStart", {"source": "compact"})
    elif mark == "S":
        rest = rest.replace("\\n", "\n")
        yield {
            **_event(
                "Stop", {"stop_hook_active": False, "last_assistant_message": rest, "background_tasks": [], **mode}
            ),
            "last_message": rest,
        }
    elif mark == "A":
        if host == "claude":
            call = {
                "tool_name": "Agent",
                "tool_input": {"description": rest, "prompt": rest, "subagent_type": "general-purpose"},
            }
            yield _event("PreToolUse", {**call, "tool_use_id": f"t{number}", **mode})
        yield _event("SubagentStart", {"agent_id": f"a{number}", "agent_type": "general-purpose"})
    else:
        yield from _call(mark, rest, host, f"t{number}", cwd, mode)


def _call(mark: str, rest: str, host: str, name: str, cwd: str, mode: Mapping[str, str]) -> Iterator[Record]:
    what, _, given = rest.partition(" => ")
    given = given.replace("\\n", "\n")
    path = what if what.startswith(("/", "C:")) else f"{cwd}/{what}"
    if mark in {"B", "X"}:
        tool, arguments, answer = "Bash", {"command": what}, {"stdout": given, "stderr": "", "interrupted": False}
    elif mark == "R":
        tool, arguments, answer = (
            "Read",
            {"file_path": path},
            {"type": "text", "file": {"filePath": path, "content": "x"}},
        )
    elif host == "codex":
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n+{given}\n*** End Patch"
        tool, arguments, answer = "apply_patch", {"command": patch}, {}
    elif mark == "E":
        tool, arguments, answer = (
            "Edit",
            {"file_path": path, "old_string": "old", "new_string": given},
            {"filePath": path, "structuredPatch": list[str]()},
        )
    else:
        tool, arguments, answer = (
            "Write",
            {"file_path": path, "content": given},
            {"filePath": path, "structuredPatch": list[str]()},
        )
    call = {"tool_name": tool, "tool_input": arguments, "tool_use_id": name, **mode}
    yield _event("PreToolUse", call)
    if host == "codex":
        yield _event("PostToolUse", {**call, "tool_response": given if tool == "Bash" else "Exit code: 0"})
    elif mark == "X":
        yield _event("PostToolUseFailure", {**call, "error": f"Exit code 1\n{given}", "is_interrupt": False})
    else:
        yield _event("PostToolUse", {**call, "tool_response": answer, "duration_ms": 40})


def _event(name: str, payload: Mapping[str, Any]) -> Record:
    return {"event": name, "payload": {"hook_event_name": name, **payload}}
