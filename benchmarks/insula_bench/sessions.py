"""Recorded sessions of coding agents, driven through the hook as their client would have driven it.

A recording becomes the payloads of its client, in their order: start, prompt, before and after each call, the end of a
turn, a compaction, the stop; the transcript grows beside them as it grew then. What the hook said is read from its own
trace. Each session has a home of its own, so that none learns from another, and a folder with `.git` in the place of
its project; beside that stands the project's `.gitignore` where the data holds one.
"""

import json
import lzma
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from insula.coding.hosts.payload import collect_text, get_object, get_objects, get_text
from insula.coding.replay.readers import Row, claude_code, codex, parse_time
from insula.coding.step import trace
from insula.errors import InputError
from insula.hosts.hook import respond
from insula.value import is_object

CLAUDE_CODE, CODEX = "claude-code", "codex"
NOTHING: Mapping[str, str] = {}
NOTIFICATION = "<task-notification>"
SUBAGENTS = frozenset(("Agent", "Task"))
"""Tools that start a subagent, of which hooks are told."""
TICK = 1e-4
"""Seconds between two events of one line."""


class Recording(NamedTuple):
    """A session as a file holds it."""

    project: str
    session: str
    host: str
    rows: list[Row]


class Event(NamedTuple):
    """What a client tells its hooks, and when."""

    name: str
    at: float
    rows: int
    """Lines that the transcript has by then."""
    payload: dict[str, Any]


class Said(NamedTuple):
    """A text of the hook's."""

    project: str
    host: str
    session: str
    event: str
    call: int
    """Calls that had been made by then."""
    beside: str
    """The id of the call that it stands beside."""
    sense: str
    form: str
    rung: int
    text: str


class Driven(NamedTuple):
    """What came of a session."""

    recording: Recording
    calls: int
    said: tuple[Said, ...]


# Recordings.


def recordings(data: str) -> Iterator[Recording]:
    """The sessions of a folder with one folder for each project, or of a file with a session in each line.

    Raises:
        InputError: there is none.
    """
    root = Path(data)
    if root.is_file():
        yield from _lines(root)
        return
    files = sorted(file for file in root.glob("**/*.jsonl*") if file.is_file() and file.name != "texts_live.jsonl")
    if not files:
        raise InputError(
            f"{data!r} holds no recorded session; give a folder with a folder of `.jsonl` files a project."
        )
    for file in files:
        rows = _rows(_read(file))
        if rows and "events" in rows[0]:
            yield from _lines(file)
        elif rows and (host := _host(rows)):
            yield Recording(file.parent.name, file.name.split(".", 1)[0], host, rows)


def _lines(file: Path) -> Iterator[Recording]:
    for row in _rows(_read(file)):
        if isinstance(row.get("events"), list):
            yield Recording(file.parent.name, get_text(row, "session_id"), CLAUDE_CODE, row["events"])


def _read(file: Path) -> str:
    data = file.read_bytes()
    return (lzma.decompress(data) if file.suffix == ".xz" else data).decode("utf-8", "replace")


def _rows(content: str) -> list[Row]:
    found: list[Row] = []
    for line in content.split("\n"):
        try:
            row = json.loads(line) if line.strip() else None
        except ValueError:
            continue
        if is_object(row):
            found.append(row)
    return found


def _host(rows: Iterable[Row]) -> str:
    """Which client wrote the lines; empty for one that is not driven here."""
    kinds = {get_text(row, "type") for row in rows}
    if kinds & {"session_meta", "response_item"}:
        return CODEX
    return CLAUDE_CODE if "assistant" in kinds and "user" in kinds else ""


# What the client told its hooks.


def events(recording: Recording) -> Iterator[Event]:
    """The events of a session, in their order."""
    return (_codex if recording.host == CODEX else _claude_code)(recording.rows)


class _Turns:
    """The calls of the model's turns that wait for their results."""

    def __init__(self) -> None:
        self.uses: dict[str, tuple[str, str, dict[str, Any]]] = {}
        """By id: agent, message, and what all payloads of the call hold."""
        self.began: dict[str, float] = {}
        self.said = ""
        """The last words of the main agent; empty after a call."""
        self.batch: dict[str, list[dict[str, Any]]] = {}
        """By agent: the calls of its turn that have been answered."""
        self.message: dict[str, str] = {}
        """By agent: the message that it wrote last."""

    def ask(self, agent: str, message: str, call: dict[str, Any], at: float) -> None:
        self.began[call["tool_use_id"]] = at
        self.uses[call["tool_use_id"]] = agent, message, call

    def answer(self, name: str, output: str) -> None:
        """A call has its result."""
        agent, _, call = self.uses.pop(name)
        self.batch.setdefault(agent, []).append({**call, "tool_response": output})

    def ended(self, agent: str, message: str = "") -> "list[dict[str, Any]]":
        """The calls of an agent's turn, where it is over: it writes another message, or stops."""
        if message and self.message.get(agent, message) == message:
            self.message[agent] = message
            return []
        self.message[agent] = message
        return self.batch.pop(agent, [])


def _claude_code(rows: list[Row]) -> Iterator[Event]:
    turns, last = _Turns(), 0.0
    seen: set[str] = set()
    place = next((number for number, row in enumerate(rows) if get_text(row, "cwd")), 0)
    yield Event("SessionStart", parse_time(rows[place].get("timestamp")), place, {"source": "startup"})
    for number, row in enumerate(rows):
        at, line = parse_time(row.get("timestamp")) or last, get_text(row, "uuid")
        last = max(last, at)
        if line and line in seen:
            continue
        seen.add(line)
        match get_text(row, "type"):
            case "system" if str(row.get("subtype")).endswith("compact_boundary"):
                yield Event("SessionStart", at, number, {"source": "compact"})
            case "assistant":
                yield from _asked(row, number, at, turns)
            case "user":
                yield from _given(row, number, at, turns)
            case _:
                pass
    yield from _ended(turns, last, len(rows))


def _ended(turns: _Turns, at: float, number: int) -> Iterator[Event]:
    """The agent stops: its last turn is over, and it has said its last words."""
    if batch := turns.ended(""):
        yield Event("PostToolBatch", at, number, {"tool_calls": batch})
    if turns.said:
        yield Event("Stop", at, number, {"last_assistant_message": turns.said, "stop_hook_active": False})


def _about(agent: str) -> dict[str, Any]:
    return {"agent_id": agent} if agent else {}


def _asked(row: Row, number: int, at: float, turns: _Turns) -> Iterator[Event]:
    agent = claude_code.get_agent(row)
    message = get_text(get_object(row, "message"), "id") or get_text(row, "uuid")
    if batch := turns.ended(agent, message):
        yield Event("PostToolBatch", at, number, {**_about(agent), "tool_calls": batch})
    for block in claude_code.list_blocks(row):
        if block.get("type") == "text" and not agent:
            turns.said = get_text(block, "text")
        elif block.get("type") == "tool_use":
            turns.said = turns.said if agent else ""
            call = {"tool_name": get_text(block, "name"), "tool_input": block.get("input")}
            call["tool_use_id"] = get_text(block, "id")
            turns.ask(agent, message, call, at)
            yield Event("PreToolUse", at, number + 1, {**_about(agent), **call})
            if call["tool_name"] in SUBAGENTS:
                yield Event("SubagentStart", at, number + 1, {"agent_id": f"of {call['tool_use_id']}"})


def _given(row: Row, number: int, at: float, turns: _Turns) -> Iterator[Event]:
    typed: list[str] = []
    for block in claude_code.list_blocks(row):
        if block.get("type") == "text":
            typed.append(get_text(block, "text").lstrip())
        elif block.get("type") == "tool_result" and get_text(block, "tool_use_id") in turns.uses:
            yield from _result(row, block, number, at, turns)
    own = [one for one in typed if one.startswith(NOTIFICATION) or (one and not one.startswith(claude_code.NOT_TYPED))]
    if own and not claude_code.get_agent(row) and not row.get("isMeta") and not row.get("isCompactSummary"):
        yield from _ended(turns, at, number)
        yield Event("UserPromptSubmit", at, number, {"prompt": "\n\n".join(own)})


def _result(row: Row, block: Row, number: int, at: float, turns: _Turns) -> Iterator[Event]:
    name = get_text(block, "tool_use_id")
    agent, _, call = turns.uses[name]
    about = _about(agent)
    content = block.get("content")
    output = (
        content
        if isinstance(content, str)
        else "\n".join(get_text(each, "text") for each in get_objects(block, "content"))
    )
    turned_down = output.startswith(("<tool_use_error>", "Permission to use ", *claude_code.NEVER_RAN))
    about["duration_ms"] = int(1_000 * max(0.0, at - turns.began.pop(name)))
    if not turned_down and block.get("is_error"):
        yield Event("PostToolUseFailure", at, number, {**about, **call, "error": output})
    elif not turned_down:
        told = get_object(row, "toolUseResult") if len(claude_code.list_blocks(row)) == 1 else {}
        response = told if collect_text(told).strip() else output
        yield Event("PostToolUse", at, number, {**about, **call, "tool_response": response})
    turns.answer(name, output)


def _codex(rows: list[Row]) -> Iterator[Event]:
    uses: dict[str, dict[str, Any]] = {}
    last, began, answered, said_last = 0.0, False, False, ""
    for number, row in enumerate(rows):
        payload = get_object(row, "payload") if "payload" in row else row
        at = parse_time(row.get("timestamp")) or last
        last, kind = max(last, at), get_text(payload, "type")
        if not began and get_text(payload, "cwd"):
            began = True
            yield Event("SessionStart", at, number, {"source": "startup"})
        if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            tool, given = codex.read_use(payload)
            name = get_text(payload, "call_id") or get_text(payload, "id")
            given = {"command": given["command"]} if tool == "apply_patch" and is_object(given) else given
            uses[name] = {"tool_name": tool, "tool_input": given, "tool_use_id": name}
            said_last = ""
            yield Event("PreToolUse", at, number + 1, uses[name])
        elif kind in {"function_call_output", "custom_tool_call_output"} and get_text(payload, "call_id") in uses:
            output, _, _ = codex.read_outcome(payload.get("output"))
            yield Event("PostToolUse", at, number, {**uses.pop(get_text(payload, "call_id")), "tool_response": output})
        elif kind == "agent_message":
            said_last, answered = get_text(payload, "message"), True
        elif kind == "task_complete" and answered:
            answered = False
            stop = {"last_assistant_message": get_text(payload, "last_agent_message") or said_last}
            yield Event("Stop", at, number, {**stop, "stop_hook_active": False})
        elif kind == "user_message":
            yield Event("UserPromptSubmit", at, number, {"prompt": get_text(payload, "message")})
        elif kind == "context_compacted":
            yield Event("SessionStart", at, number, {"source": "compact"})


# The hook.


def drive(recording: Recording, senses: Iterable[str] = (), files: Mapping[str, str] = NOTHING) -> Driven:
    """Drive the hook over a session.

    Args:
        senses: those that are switched on beside those that speak by default.
        files: what stands in the project, by its path: `.gitignore`, the configuration of hooks.
    """
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.realpath(folder)
        home, project, transcript = f"{base}/home", f"{base}/project", f"{base}/transcript.jsonl"
        Path(project, ".git").mkdir(parents=True)
        Path(home).mkdir()
        for name, content in files.items():
            Path(project, name).parent.mkdir(parents=True, exist_ok=True)
            Path(project, name).write_text(content, "utf-8")
        Path(home, "hook.json").write_text(json.dumps({"v": 1, "senses": dict.fromkeys(senses, True)}), "utf-8")
        moved = _moved(recording, project)
        with (
            mock.patch.dict(os.environ, {"INSULA_HOLDOUT": "off"}),
            Path(transcript).open("a", encoding="utf-8") as file,
        ):
            told = _told(moved, home, project, transcript, file)
        return Driven(recording, told[0], tuple(_said(recording, home, told[1])))


def _moved(recording: Recording, project: str) -> Recording:
    """The session as if it had been at work in the folder."""
    own = _root(recording.rows)
    if not own:
        return recording
    moved = json.dumps(recording.rows).replace(json.dumps(own)[1:-1], project)
    return recording._replace(rows=json.loads(moved))


def _root(rows: Iterable[Row]) -> str:
    """The folder that a session began in."""
    for row in rows:
        if cwd := get_text(row, "cwd") or get_text(get_object(row, "payload"), "cwd"):
            return cwd.rstrip("/\\") if len(cwd) > 3 else ""
    return ""


_Place = tuple[str, int, str]


def _told(recording: Recording, home: str, project: str, transcript: str, file: Any) -> tuple[int, dict[float, _Place]]:
    calls, written, last = 0, 0, 0.0
    places: dict[float, _Place] = {}
    cwd = project if _root(recording.rows) else ""
    for event in events(recording):
        for row in recording.rows[written : event.rows]:
            cwd = get_text(row, "cwd") or cwd
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
        file.flush()
        written = max(written, event.rows)
        at = round(max(event.at, last + TICK), 4)
        last, calls = at, calls + (event.name == "PreToolUse")
        places[at] = event.name, calls, str(event.payload.get("tool_use_id", ""))
        about = {"session_id": "driven", "transcript_path": transcript, "cwd": cwd, "hook_event_name": event.name}
        respond(home, recording.host, {**about, **event.payload}, at)
    return calls, places


def _said(recording: Recording, home: str, places: dict[float, _Place]) -> Iterator[Said]:
    folder = trace.get_folder(home, "driven")
    folders = [folder, *sorted(str(path) for path in Path(folder, "agents").glob("*"))]
    for place in folders:
        try:
            records, _ = trace.read_trace(place)
        except OSError:
            continue
        for record in records:
            if record.get("e") == "text":
                event, call, beside = places.get(round(record["at"], 4), ("", 0, ""))
                about = recording.project, recording.host, recording.session, event, call, beside
                yield Said(*about, record["sense"], record["form"], record["rung"], record["text"])
