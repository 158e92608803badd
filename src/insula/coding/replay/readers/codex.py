"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`."""

import json
import re
from collections.abc import Iterator

from insula.coding.hosts.dialects.codex import read_patch
from insula.coding.hosts.payload import collect_text, get_object, get_text
from insula.coding.replay.readers import (
    NOT_BY_THE_USER,
    REPEATED,
    BaseReader,
    Compacted,
    Interrupt,
    Row,
    Seen,
    Skipped,
    TokenUsage,
    TranscriptEvent,
    WaitingCall,
    clean_name,
    get_count,
    parse_time,
    tell_prompt,
    tell_reply,
)
from insula.value import is_list, is_object

FOLDERS = ("sessions", "archived_sessions")
_NOT_NEEDED = frozenset(
    ("session_meta", "turn_context", "world_state", "token_usage_record", "inter_agent_communication")
)
_ONCE = frozenset(
    (
        *("function_call", "function_call_output", "local_shell_call", "custom_tool_call", "custom_tool_call_output"),
        *("user_message", "item_completed", "token_count", "turn_aborted", "context_compacted"),
    )
)
"""What is counted, and so must not be counted again where a session begins with the history of another."""
_RANDOM = 20
"""Characters from which the id of a call is drawn by lot; small models on this machine count from 0."""
_TALK = frozenset(("message", "reasoning", "ghost_snapshot", "web_search_call", "image_generation_call", "compaction"))
_SHELLS = frozenset(("exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"))
_FRAME = re.compile(
    r"(?s:Command: .{0,4000}?\n(?=Chunk ID: ))?(?:Script \w+\n)?(?:Chunk ID: \S+\n)?"
    r"(?:Exit code: (?P<early>-?\d+)\n)?(?:Wall time:? [^\n]*\n)"
    r"(?:Process exited with code (?P<code>-?\d+)\n)?(?:Process running with session ID [^\n]*\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?\n?(?:Output:\n+)?"
)
"""What Codex puts before the output of a command, and of a script."""
_SCRIPT = "exec"
"""The tool of code mode: a script that calls the others; hooks are told of these, and not of it."""
_CALLED = re.compile(r"\btools\.(\w+)\(")
_STRING = r'"(?:[^"\\]|\\.)*"'
_UNFIT = "apply_patch verification failed"


def identify_session(rows: list[Row], stem: str) -> tuple[str, str] | None:
    """Session and subagent of a transcript that begins with these lines; None where it is none of this host's."""
    return next((identity for row in rows if (identity := _identify_row(row))), None)


def _identify_row(row: Row) -> tuple[str, str] | None:
    if row.get("type") == "session_meta" and (meta := get_object(row, "payload")):
        own, root = get_text(meta, "id"), get_text(meta, "session_id")
        spawned = get_object(get_object(get_object(meta, "source"), "subagent"), "thread_spawn")
        root = get_text(spawned, "parent_thread_id") or root or own
        return root or own, own if own != root else ""
    return None


class CodexReader(BaseReader):
    """A transcript of Codex."""

    def __init__(self, seen: Seen, agent: str = "", session: str = "") -> None:
        super().__init__(seen, agent, session)
        self._turn, self._answered = 0, False
        self._prompt = ""
        self._at = 0.0

    def read_row(self, row: Row) -> Iterator[TranscriptEvent]:
        """The events of one line."""
        kind = get_text(row, "type")
        payload = get_object(row, "payload")
        self._at = parse_time(row.get("timestamp")) or self._at
        if kind in {"session_meta", "turn_context"}:
            yield from self.take_folder(get_text(payload, "cwd"))
        if get_text(payload, "type") in _ONCE and not self._seen.add_id(_name_line(row, payload)):
            yield Skipped(REPEATED)
        elif kind == "response_item":
            yield from self._read_item(payload)
        elif kind == "event_msg":
            yield from self._read_message(payload)
        elif kind == "compacted":
            yield Compacted(self._at, self._agent)
        else:
            yield Skipped(clean_name(kind) if kind in _NOT_NEEDED else f"unknown: {clean_name(kind)}")

    def _read_item(self, item: Row) -> Iterator[TranscriptEvent]:
        kind = get_text(item, "type")
        if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            yield self._take_call(item)
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            yield from self._read_result(item)
        else:
            yield Skipped(clean_name(kind) if kind in _TALK else f"unknown: response_item {clean_name(kind)}")

    def _take_call(self, item: Row) -> TranscriptEvent:
        if self._answered:  # the model asks again: another turn of it
            self._turn, self._answered = self._turn + 1, False
        tool, given = read_use(item)
        call = WaitingCall(tool, given, turn=f"turn {self._turn}")
        return self.take_request(get_text(item, "call_id") or get_text(item, "id"), call, self._at, self._agent)

    def _read_result(self, item: Row) -> Iterator[TranscriptEvent]:
        self._answered = True
        output, ok, code = read_outcome(item.get("output"))
        yield from self.take_result(get_text(item, "call_id"), output, self._at, self._agent, ok=ok, code=code)

    def _read_message(self, event: Row) -> Iterator[TranscriptEvent]:
        kind = get_text(event, "type")
        if kind == "token_count":
            yield from self._read_cost(get_object(event, "info"))
        elif kind == "turn_aborted":
            yield Interrupt(self._at, self._agent)
        elif kind == "context_compacted":
            yield Compacted(self._at, self._agent)
        elif kind == "agent_message":
            yield tell_reply(self._at, self._agent, get_text(event, "message"))
        elif kind == "user_message":
            yield self._read_prompt(get_text(event, "message"))
        elif kind == "item_completed" and get_object(event, "item").get("type") == "UserMessage":
            yield self._read_prompt(collect_text(get_object(event, "item").get("content")))
        else:
            yield Skipped(f"event_msg: {clean_name(kind)}")

    def _read_prompt(self, prompt: str) -> TranscriptEvent:
        """Newer versions tell a prompt in two events."""
        once = f"{prompt} {int(self._at)}"
        if self._agent or once == self._prompt:
            return Skipped(NOT_BY_THE_USER)
        self._prompt = once
        return tell_prompt(self._at, prompt)

    def _read_cost(self, info: Row) -> Iterator[TranscriptEvent]:
        usage = get_object(info, "last_token_usage")
        total, cached = (get_count(usage, part) for part in ("total_tokens", "cached_input_tokens"))
        if not total:
            yield Skipped("event_msg: token_count")
            return
        window = get_count(info, "model_context_window")
        yield TokenUsage(self._at, total, total - min(total, cached), window, self._agent)


def _name_line(row: Row, payload: Row) -> str:
    """What tells a line from all others; empty where it may be told by its place alone."""
    at, call = get_text(row, "timestamp"), get_text(payload, "call_id")
    told = call or repr([payload.get(part) for part in ("id", "message", "item", "info")])
    if len(call) >= _RANDOM:
        at = "any"  # a copy may be dated anew
    return f"codex {at} {get_text(payload, 'type')} {told}" if at else ""


def read_use(item: Row) -> tuple[str, object]:
    """Tool and arguments as the hook would be told them: a shell is `Bash`, a patch goes by its file."""
    tool = get_text(item, "name") or ("local_shell" if item.get("type") == "local_shell_call" else "nameless")
    given = _parse_arguments(item)
    if tool == _SCRIPT and isinstance(given, str):
        tool, given = _unwrap_script(given)
    if tool == "apply_patch":
        return tool, read_patch(given)
    if tool in _SHELLS and is_object(given):
        return "Bash", {"command": _get_command(given.get("cmd") or given.get("command"))}
    return tool, given


def _unwrap_script(script: str) -> tuple[str, object]:
    """The one tool that a script calls, and its arguments; the script itself where it calls several, or none."""
    called = _CALLED.findall(script)
    if len(called) != 1:
        return _SCRIPT, script
    if called[0] in _SHELLS and (command := re.search(rf'\bcmd"?\s*:\s*({_STRING})', script)):
        return called[0], {"cmd": _parse_string(command[1])}
    if called[0] == "apply_patch" and (patch := re.search(rf'"\*\*\* Begin Patch{_STRING[1:]}', script)):
        return called[0], _parse_string(patch[0])
    return called[0], script


def _parse_string(written: str) -> str:
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return written.strip('"')


def _parse_arguments(item: Row) -> object:
    if item.get("type") == "local_shell_call":
        return get_object(item, "action")
    written = item.get("arguments", item.get("input"))
    try:
        return json.loads(written) if isinstance(written, str) and written.startswith("{") else written
    except (ValueError, RecursionError):
        return written


def _get_command(given: object) -> str:
    """The command itself, without the shell that it is handed to."""
    if not is_list(given):
        return given if isinstance(given, str) else ""
    words = [word for word in given if isinstance(word, str)]
    return words[-1] if len(words) == 3 and words[1] in {"-lc", "-c"} else " ".join(words)


def read_outcome(output: object) -> tuple[str, bool | None, int | None]:
    """What came back, whether it went well, and the exit code, as far as the transcript tells."""
    if isinstance(output, str) and output.startswith('{"output"'):
        output = _parse_arguments({"input": output})
    ok = output.get("success") if is_object(output) else None
    code = get_object(output, "metadata").get("exit_code") if is_object(output) else None
    told = collect_text(output)
    if frame := _FRAME.match(told):
        code = frame["code"] or frame["early"] or code
        told = told[frame.end() :]
    number = int(code) if isinstance(code, int | str) and str(code).lstrip("-").isdigit() else None
    failed = told.startswith(_UNFIT) or ok is False
    return told, False if failed else None if number is None else number == 0, number
