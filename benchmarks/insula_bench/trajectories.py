"""Recorded runs of agents as the senses would have met them: what was called, what came back, when, what the user said.

Formats: normalised runs with `steps`, Claude Code sessions (whole files or one session per line), and two sets of chats
between agents whose failing messages people have marked. A file is known by its first line, not by its name.
"""

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeGuard

from insula.coding.hosts.payload import get_objects, get_text
from insula.coding.replay.readers import (
    REPEATED,
    Row,
    Seen,
    Skipped,
    TranscriptCall,
    TranscriptEvent,
    UserPrompt,
    claude_code,
)
from insula.errors import InputError

SUFFIXES = (".jsonl", ".jsonl.xz")
SPACING = 1.0
"""Seconds between two calls of a run without a clock: what repeats there is not taken for waiting."""
_ACI = frozenset(
    ("open", "goto", "scroll_up", "scroll_down", "create", "edit", "search_dir", "search_file", "find_file", "submit")
)
"""The commands of SWE-agent's interface: tools, though it types them into its shell."""
TRUTH = "magentic_one_ground_truth.json"
"""The marks that belong to the Magentic-One chats, in the same folder."""


class Run(NamedTuple):
    """One agent from its start to its end."""

    id: str
    set: str
    events: tuple[TranscriptCall | UserPrompt, ...]
    env: str = ""
    outcome: bool | None = None
    """Whether the task was solved, where the set says so."""
    labels: frozenset[int] = frozenset()
    """Places of the messages that people marked as failures."""
    messages: int = 0
    """Messages of a chat, calls or not."""

    @property
    def calls(self) -> tuple[TranscriptCall, ...]:
        """The tool calls alone."""
        return tuple(event for event in self.events if isinstance(event, TranscriptCall))


class Source(NamedTuple):
    """A file of runs: how many records, and a function that turns each into runs."""

    path: Path
    records: list[str]
    convert: Callable[[str], Iterable[Run]]


def sources(paths: Iterable[str | Path]) -> Iterator[Source | str]:
    """The files of runs under `paths`; for each other file, a sentence that says why it is passed over.

    Raises:
        InputError: a path does not exist.
    """
    seen = Seen()  # a resumed Claude Code session repeats the events of the one before it
    for path in _files(paths):
        if path.name == TRUTH:
            continue
        try:
            yield _source(path, seen)
        except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError, EOFError) as error:
            yield f"{str(path)!r} is passed over: {error}."


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{str(path)!r} does not exist; give a file of runs or a folder that holds such files.")
        yield from sorted(one for one in path.rglob("*") if one.name.endswith(SUFFIXES)) if path.is_dir() else [path]


def _source(path: Path, seen: Seen) -> Source:
    lines = _lines(path)
    first = json.loads(lines[0]) if lines else None
    if not isinstance(first, dict):
        raise ValueError("its first line is no JSON object, so it holds no run")
    if "steps" in first:
        return Source(path, lines, _run)
    if "events" in first:
        return Source(path, lines, partial(_session_of_a_line, seen=seen))
    if "history" in first and "mistake_step" in first:
        return Source(path, lines, _marked_chat)
    if "data" in first and "_file" in first:
        return Source(path, lines, partial(_magentic, truth=_truth(path.with_name(TRUTH))))
    if "type" in first and any('"sessionId"' in line for line in lines[:40]):
        return Source(path, ["".join(lines)], partial(_session_of_a_file, seen=seen))
    raise ValueError("it holds neither runs with steps nor Claude Code sessions nor marked chats")


def _lines(path: Path) -> list[str]:
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    return [f"{line}\n" for line in text.split("\n") if line.strip()]


# Normalised runs.


def _run(line: str) -> Iterator[Run]:
    row: Row = json.loads(line)
    # No prompt: these ran in batches with nobody at the keyboard; a hook learns that from CLAUDE_CODE_SESSION_ATTENDED.
    yield Run(row["id"], row["set"], tuple(read_calls(row)), row.get("env", ""), row.get("outcome"))


# Claude Code sessions.


def _session_of_a_line(line: str, seen: Seen) -> Iterator[Run]:
    return _session(json.loads(line)["events"], "claude_code", seen)


def _session_of_a_file(text: str, seen: Seen) -> Iterator[Run]:
    return _session((json.loads(line) for line in text.split("\n") if line), "claude_code_raw", seen)


def _session(events: Iterable[Row], name: str, seen: Seen) -> Iterator[Run]:
    """One run for the main agent and one for each subagent."""
    agents: dict[str, list[Row]] = {}
    for event in events:
        if event.get("type") in {"user", "assistant"}:
            agents.setdefault(claude_code.get_agent(event), []).append(event)
    for agent, own in agents.items():
        own.sort(key=lambda event: event["timestamp"])  # stable: parallel results are written late
        new = [event for event in claude_code.ClaudeCodeReader(seen).read_events(own) if event != Skipped(REPEATED)]
        if new:
            yield Run(f"{own[0].get('sessionId', '')}/{agent}", name, tuple(filter(_is_told, new)))


def _is_told(event: TranscriptEvent) -> TypeGuard[TranscriptCall | UserPrompt]:
    """Whether a hook would have been told of it."""
    if isinstance(event, TranscriptCall):
        return not event.lost and not event.output.startswith(claude_code.NEVER_RAN)
    return isinstance(event, UserPrompt)


# Chats between agents. Only what has an output is a call: a terminal that ran code, a browser or file agent that acted.

_TERMINAL = "Computer_terminal"
_EXIT = re.compile(r"exitcode: (-?\d+)")
_CODE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_WORKERS = frozenset(("WebSurfer", "FileSurfer", "ComputerTerminal", "Assistant"))


def _marked_chat(line: str) -> Iterator[Run]:
    """Who&When (Zhang et al. 2025): one decisive mistake per chat, counted from 0."""
    row: Row = json.loads(line)
    yield _chat(row["_file"], "whoandwhen", row["history"], frozenset((int(row["mistake_step"]),)))


def _magentic(line: str, truth: dict[str, frozenset[int]]) -> Iterator[Run]:
    """AgentRx's Magentic-One chats: any number of failures, counted from 1."""
    row: Row = json.loads(line)
    name = Path(row["_file"]).stem
    if isinstance(row["data"], list) and name in truth:
        yield _chat(name, "magentic", row["data"], truth[name])  # pyright: ignore[reportUnknownArgumentType]


def _truth(path: Path) -> dict[str, frozenset[int]]:
    if not path.exists():
        raise ValueError(f"{TRUTH}, which holds its marks, is not in the same folder")
    marked = json.loads(path.read_text("utf-8"))
    return {one["trajectory_id"]: frozenset(int(f["step_number"]) - 1 for f in one["failures"]) for one in marked}


def _chat(name: str, of: str, messages: list[Row], labels: frozenset[int]) -> Run:
    calls = [call for i in range(1, len(messages)) if (call := _act(messages, i)) is not None]
    return Run(name, of, (UserPrompt(0.5), *calls), labels=labels, messages=len(messages))


def _act(messages: list[Row], place: int) -> TranscriptCall | None:
    message, at = messages[place], SPACING * (place + 1)
    content = message["content"]
    if message.get("name") == _TERMINAL:
        code, done = _CODE.findall(messages[place - 1]["content"]), _EXIT.search(content)
        wanted = {"command": code[-1] if code else ""}
        return TranscriptCall("Bash", wanted, content, at, ok=done[1] == "0" if done else None, place=place)
    if message.get("role") in _WORKERS:
        did, _, output = content.partition("\n")
        return TranscriptCall(message["role"], {"input": did}, output, at, place=place)
    return None


def read_calls(row: Row) -> Iterator[TranscriptCall]:
    """The calls of a run, on a clock of its own: seconds from its beginning."""
    name = get_text(row, "set")
    for number, step in enumerate(get_objects(row, "steps")):
        yield _read_call(name, step, number)


def _read_call(name: str, step: Row, number: int) -> TranscriptCall:
    tool, arguments = _read_tool(name, get_text(step, "tool"), get_text(step, "action"))
    code, output = step.get("rc"), get_text(step, "obs")
    reward = step.get("reward")
    return TranscriptCall(
        tool=tool,
        input=arguments,
        output=f"Exit code {code}\n{output}" if code else output,  # so Claude Code words a failure
        at=SPACING * (number + 1),
        ok=code == 0 if isinstance(code, int) else None,
        thought=get_text(step, "thought"),
        reward=float(reward) if isinstance(reward, int | float) else 0.0,
        place=number,
    )


def _read_tool(name: str, tool: str, action: str) -> tuple[str, dict[str, str]]:
    word = action.split(maxsplit=1)[0] if action.strip() else ""
    if tool == "shell" and "sweagent" in name and word in _ACI:
        return word, {"command": action}
    if tool in {"bash", "shell", "ctf"}:
        return "Bash", {"command": action}
    return tool, {"query" if tool == "sql" else "code" if tool == "python" else "input": action}
