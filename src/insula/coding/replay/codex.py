"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`; early ones have no envelopes."""

import json
import re
from collections.abc import Iterable, Iterator

from insula.coding.hosts.payload import collect_text, get_object, get_text
from insula.coding.replay.claude_code import NO_CALL, NO_RESULT, NOT_BY_THE_USER, REPEATED, WAITING
from insula.coding.replay.events import (
    Asked,
    Call,
    Compacted,
    Event,
    Interrupt,
    Place,
    Prompt,
    Row,
    Skipped,
    Spent,
    name,
    time,
)
from insula.coding.replay.seen import Seen
from insula.coding.step.fingerprint import patched
from insula.coding.step.person import own_words
from insula.value import is_list, is_object

_NOT_NEEDED = frozenset(
    ("session_meta", "turn_context", "world_state", "token_usage_record", "inter_agent_communication")
)
_BARE = frozenset(
    (
        *("message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call"),
        *("custom_tool_call_output", "web_search_call"),
    )
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
    r"(?:Chunk ID: \S+\n)?(?:Exit code: (?P<early>-?\d+)\n)?(?:Wall time: [^\n]*\n)"
    r"(?:Process exited with code (?P<code>-?\d+)\n)?(?:Process running with session ID [^\n]*\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?\n?(?:Output:\n)?"
)
"""What Codex puts before the output of a command."""
_UNFIT = "apply_patch verification failed"


def read(rows: Iterable[Row | Skipped], agent: str = "", seen: Seen | None = None) -> Iterator[Event]:
    """What the lines tell, in their order.

    Args:
        rows: the lines of a transcript.
        agent: the subagent that it is of; empty for the main one.
        seen: what other transcripts told; a session that is forked begins with the history of another.
    """
    reader = _Reader(agent, seen or Seen())
    for row in rows:
        if isinstance(row, Skipped):
            yield row
        else:
            yield from reader.told(row)
    yield from (Skipped(NO_RESULT) for _ in reader.waiting)


class _Reader:
    """What has to be kept from one line to the next."""

    def __init__(self, agent: str, seen: Seen) -> None:
        self.waiting: dict[str, tuple[str, object]] = {}
        self._turns: dict[str, str] = {}
        self._turn, self._answered = 0, False
        self._seen = seen
        self._agent = agent
        self._cwd = ""
        self._prompt = ""
        self._at = 0.0

    def told(self, row: Row) -> Iterator[Event]:
        """The events of one line."""
        kind = get_text(row, "type")
        payload = get_object(row, "payload") if "payload" in row else row
        self._at = time(row.get("timestamp")) or self._at
        if not self._cwd and (cwd := get_text(payload, "cwd")) and kind in {"session_meta", "turn_context"}:
            self._cwd = cwd
            yield Place(cwd)
        if get_text(payload, "type") in _ONCE and not self._seen.add(_line(row, payload)):
            yield Skipped(REPEATED)
        elif kind == "response_item" or kind in _BARE:
            yield from self._item(payload)
        elif kind == "event_msg":
            yield from self._message(payload)
        elif kind == "compacted":
            yield Compacted(self._at, self._agent)
        else:
            yield _aside(row, kind)

    def _item(self, item: Row) -> Iterator[Event]:
        kind = get_text(item, "type")
        if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            yield self._wait(item)
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            yield from self._result(item)
        else:
            yield Skipped(name(kind) if kind in _TALK else f"unknown: response_item {name(kind)}")

    def _wait(self, item: Row) -> Event:
        if self._answered:  # the model asks again: another turn of it
            self._turn, self._answered = self._turn + 1, False
        call = get_text(item, "call_id") or get_text(item, "id")
        self.waiting[call] = use_of(item)
        self._turns[call] = f"turn {self._turn}"
        if len(self.waiting) > WAITING:
            del self.waiting[next(iter(self.waiting))]
        if len(self._turns) > WAITING:
            del self._turns[next(iter(self._turns))]
        return Asked(self._at, self._agent)

    def _result(self, item: Row) -> Iterator[Event]:
        call = get_text(item, "call_id")
        tool, arguments = self.waiting.pop(call, ("", None))
        output, ok, code = outcome_of(item.get("output"))
        turn, self._answered = self._turns.get(call, ""), True
        done = Call(tool, arguments, output, self._at, ok=ok, code=code, id=call, agent=self._agent, lost=not tool)
        yield done._replace(turn=turn)
        if not tool:
            yield Skipped(NO_CALL)

    def _message(self, event: Row) -> Iterator[Event]:
        kind = get_text(event, "type")
        if kind == "token_count":
            yield from self._cost(get_object(event, "info"))
        elif kind == "turn_aborted":
            yield Interrupt(self._at, self._agent)
        elif kind == "context_compacted":
            yield Compacted(self._at, self._agent)
        elif kind == "user_message":
            yield self._typed(get_text(event, "message"))
        elif kind == "item_completed" and get_object(event, "item").get("type") == "UserMessage":
            yield self._typed(collect_text(get_object(event, "item").get("content")))
        else:
            yield Skipped(f"event_msg: {name(kind)}")

    def _typed(self, prompt: str) -> Event:
        """Newer versions tell a prompt in two events."""
        once = f"{prompt} {int(self._at)}"
        if self._agent or once == self._prompt:
            return Skipped(NOT_BY_THE_USER)
        self._prompt = once
        return Prompt(self._at, words=own_words(prompt))

    def _cost(self, info: Row) -> Iterator[Event]:
        usage, context_window = get_object(info, "last_token_usage"), info.get("model_context_window")
        total, cached = (usage.get(part) for part in ("total_tokens", "cached_input_tokens"))
        if not isinstance(total, int) or total <= 0:
            yield Skipped("event_msg: token_count")
            return
        fresh = total - min(total, cached) if isinstance(cached, int) else total
        yield Spent(self._at, total, fresh, context_window if isinstance(context_window, int) else 0, self._agent)


def _aside(row: Row, kind: str) -> Event:
    known = kind in _NOT_NEEDED or (not kind and "instructions" in row) or "record_type" in row
    return Skipped(name(kind or "session_meta") if known else f"unknown: {name(kind)}")


def _line(row: Row, payload: Row) -> str:
    """What tells a line from all others; empty where it may be told by its place alone."""
    at, call = get_text(row, "timestamp"), get_text(payload, "call_id")
    told = call or repr([payload.get(part) for part in ("id", "message", "item", "info")])
    if len(call) >= _RANDOM:
        at = "any"  # a copy may be dated anew
    return f"codex {at} {get_text(payload, 'type')} {told}" if at else ""


def use_of(item: Row) -> tuple[str, object]:
    """Tool and arguments as the hook would be told them: a shell is `Bash`, a patch goes by its file."""
    tool = get_text(item, "name") or ("local_shell" if item.get("type") == "local_shell_call" else "nameless")
    given = _arguments(item)
    if tool == "apply_patch":
        patch = given if isinstance(given, str) else get_text(given, "input") if is_object(given) else ""
        return tool, {"path": next(iter(patched(patch)), ""), "command": patch}
    if tool in _SHELLS and is_object(given):
        return "Bash", {"command": _command(given.get("cmd") or given.get("command"))}
    return tool, given


def _arguments(item: Row) -> object:
    if item.get("type") == "local_shell_call":
        return get_object(item, "action")
    written = item.get("arguments", item.get("input"))
    try:
        return json.loads(written) if isinstance(written, str) and written.startswith("{") else written
    except (ValueError, RecursionError):
        return written


def _command(given: object) -> str:
    """The command itself, without the shell that it is handed to."""
    if not is_list(given):
        return given if isinstance(given, str) else ""
    words = [word for word in given if isinstance(word, str)]
    return words[-1] if len(words) == 3 and words[1] in {"-lc", "-c"} else " ".join(words)


def outcome_of(output: object) -> tuple[str, bool | None, int | None]:
    """What came back, whether it went well, and the exit code, as far as the transcript tells."""
    if isinstance(output, str) and output.startswith('{"output"'):
        output = _arguments({"input": output})
    ok = output.get("success") if is_object(output) else None
    code = get_object(output, "metadata").get("exit_code") if is_object(output) else None
    told = collect_text(output)
    if frame := _FRAME.match(told):
        code = frame["code"] or frame["early"] or code
        told = told[frame.end() :]
    number = int(code) if isinstance(code, int | str) and str(code).lstrip("-").isdigit() else None
    failed = told.startswith(_UNFIT) or ok is False
    return told, False if failed else None if number is None else number == 0, number
