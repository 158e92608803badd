"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; earlier one JSON document each.

A message is written again when its calls have their results, so that a call is told where its result first stands. A
session of an earlier version that is opened again is written anew as lines, and its document stays.
"""

from collections.abc import Iterator

from insula.coding.hosts.dialects.gemini import read_outcome
from insula.coding.hosts.payload import collect_text, get_object, get_objects, get_text
from insula.coding.replay.readers import (
    NOT_BY_THE_USER,
    BaseReader,
    CallRequest,
    Interrupt,
    Row,
    Seen,
    Skipped,
    TokenUsage,
    TranscriptCall,
    TranscriptEvent,
    clean_name,
    get_count,
    parse_time,
    tell_prompt,
    tell_reply,
)
from insula.value import is_list, is_object

FOLDERS = ("tmp",)
CHATS = "chats"
"""The folder of the transcripts in that of a project."""
_NOT_TYPED = ("<session_context>", "<hook_context>", "This is the Gemini CLI. We are setting up the context")
_PENDING = frozenset(("validating", "scheduled", "executing", "awaiting_approval", ""))
_CANCELLED = "Request cancelled."
_NOTES = frozenset(("info", "error", "warning"))
AGAIN = "message written again"


def identify_session(rows: list[Row], stem: str) -> tuple[str, str] | None:
    """Session and subagent of a transcript that begins with these lines; None where it is none of this host's."""
    row = next((row for row in rows if "projectHash" in row and "sessionId" in row), None)
    if row is None:
        return None
    kind = get_text(row, "kind")
    return get_text(row, "sessionId"), kind if kind != "main" else ""


class GeminiReader(BaseReader):
    """A transcript of Gemini CLI."""

    def __init__(self, seen: Seen, agent: str = "", session: str = "") -> None:
        super().__init__(seen, agent, session)
        self._asked = self._answered = 0

    def count_waiting(self) -> int:
        """How many calls have no result yet."""
        return self._asked - self._answered

    def _is_new(self, kind: str, which: str) -> bool:
        return self._seen.add_id(f"gemini {self._session} {self._agent} {kind} {which}" if which else "")

    def read_row(self, row: Row) -> Iterator[TranscriptEvent]:
        """The events of one line."""
        if changed := get_object(row, "$set"):
            yield Skipped("$set")
            for message in get_objects(changed, "messages"):
                yield from self._read_message(message)
        elif "$rewindTo" in row:
            yield Skipped("$rewindTo")
        elif "sessionId" in row and "type" not in row:
            yield Skipped("session")
        else:
            yield from self._read_message(row)

    def _read_message(self, row: Row) -> Iterator[TranscriptEvent]:
        kind, at = get_text(row, "type"), parse_time(row.get("timestamp"))
        which = get_text(row, "id") or get_text(row, "timestamp")
        new = self._is_new("message", which)
        if kind == "gemini":
            yield from self._read_cost(get_object(row, "tokens"), at) if new else (Skipped(AGAIN),)
            if new and (words := collect_text(row.get("content"))):
                yield tell_reply(at, self._agent, words)
            for number, call in enumerate(get_objects(row, "toolCalls")):
                yield from self._read_call(call, get_text(call, "id") or f"{which} {number}", at, which)
        elif kind == "user":
            yield self._read_prompt(row, at) if new else Skipped(AGAIN)
        elif kind in _NOTES:
            cancelled = collect_text(row.get("content")).startswith(_CANCELLED)
            yield Interrupt(at, self._agent) if cancelled and new else Skipped(clean_name(kind))
        else:
            yield Skipped(f"unknown: {clean_name(kind)}")

    def _read_prompt(self, row: Row, at: float) -> TranscriptEvent:
        content = row.get("content")
        parts = content if is_list(content) else [content]
        texts = [part if isinstance(part, str) else get_text(part, "text") if is_object(part) else "" for part in parts]
        if self._agent or not any(text.strip() and not text.startswith(_NOT_TYPED) for text in texts):
            return Skipped(NOT_BY_THE_USER)
        return tell_prompt(at, "\n\n".join(text for text in texts if not text.startswith(_NOT_TYPED)))

    def _read_cost(self, tokens: Row, at: float) -> Iterator[TranscriptEvent]:
        total, cached = get_count(tokens, "total"), get_count(tokens, "cached")
        if total:
            yield TokenUsage(at, total, total - min(total, cached), agent=self._agent)

    def _read_call(self, call: Row, which: str, at: float, turn: str) -> Iterator[TranscriptEvent]:
        status = get_text(call, "status")
        if self._is_new("asked", which):
            self._asked += 1
            yield CallRequest(at, self._agent)
        if status in _PENDING or not self._is_new("answered", which):
            return
        self._answered += 1
        yield _read_answered(call, status, parse_time(call.get("timestamp")) or at, self._agent)._replace(turn=turn)


def _read_answered(call: Row, status: str, at: float, agent: str) -> TranscriptCall:
    """A call as the hook would be told it."""
    tool, response = get_text(call, "name"), _get_response(call)
    output = collect_text(response.get("output")) or collect_text(response.get("error"))
    output, code, fine = read_outcome(output, tool, status == "success")
    return TranscriptCall(
        tool,
        call.get("args"),
        output,
        at,
        ok=fine,
        code=code,
        id=get_text(call, "id"),
        agent=agent,
        ran=status != "cancelled",
    )


def _get_response(call: Row) -> Row:
    result = call.get("result")
    parts = [part for part in result if is_object(part)] if is_list(result) else []
    responses = (get_object(get_object(part, "functionResponse"), "response") for part in parts)
    return next(filter(None, responses), Row())
