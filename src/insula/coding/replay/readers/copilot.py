"""Transcripts of GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, an event in each line.

What a subagent does stands among the rest, under its own name or that of the call that sent it. Tokens are told for
all requests together, when the client ends.
"""

from collections.abc import Iterator

from insula.coding.hosts.dialects.copilot import split_exit_code
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
    drop_oldest,
    get_count,
    parse_time,
    tell_prompt,
    tell_rejection,
    tell_reply,
)
from insula.coding.step.fingerprint import get_target
from insula.coding.step.person import make_rejection
from insula.value import is_object

FOLDERS = ("session-state",)
_NOT_NEEDED = ("session.", "assistant.", "hook.", "system.", "subagent.", "permission.", "skill.")
"""How kinds of lines begin that tell nothing about calls."""
_NEVER_RAN = frozenset(("denied", "rejected"))
"""Codes of calls that the user or a rule of theirs turned down."""


def identify_session(rows: list[Row], stem: str) -> tuple[str, str] | None:
    """Session and subagent of a transcript that begins with these lines; None where it is none of this host's."""
    ours = [row for row in rows if "parentId" in row and "." in get_text(row, "type") and is_object(row.get("data"))]
    named = (get_text(get_object(row, "data"), "sessionId") for row in ours if row["type"] == "session.start")
    return (next(filter(None, named), stem), "") if ours else None


class CopilotReader(BaseReader):
    """A transcript of Copilot CLI."""

    def __init__(self, seen: Seen, agent: str = "", session: str = "") -> None:
        super().__init__(seen, agent, session)
        self._said: dict[str, str] = {}
        """By agent: its last message."""

    def read_row(self, row: Row) -> Iterator[TranscriptEvent]:
        """The events of one line."""
        kind, data, at = get_text(row, "type"), get_object(row, "data"), parse_time(row.get("timestamp"))
        agent = get_text(row, "agentId") or get_text(data, "parentToolCallId")
        if (line := get_text(row, "id")) and not self._seen.add_id(f"copilot {line}"):
            yield Skipped(REPEATED)
            return
        yield from self.take_folder(get_text(get_object(data, "context"), "cwd"))
        if kind == "user.message":
            yield _read_prompt(data, at, agent)
        elif kind == "assistant.message":
            self._said[agent] = get_text(data, "messageId")
            drop_oldest(self._said)
            yield tell_reply(at, agent, get_text(data, "content"))
        elif kind == "tool.execution_start":
            yield self._take_call(data, at, agent)
        elif kind == "tool.execution_complete":
            yield from self._read_result(data, at, agent)
        elif kind == "permission.completed":
            yield self._read_permission(data, at, agent)
        else:
            yield _read_aside(kind, data, at, agent)

    def _take_call(self, data: Row, at: float, agent: str) -> TranscriptEvent:
        tool, turn = get_text(data, "toolName") or "nameless", self._said.get(agent, "")
        call = WaitingCall(tool, data.get("arguments"), turn=turn)
        return self.take_request(get_text(data, "toolCallId"), call, at, agent)

    def _read_result(self, data: Row, at: float, agent: str) -> Iterator[TranscriptEvent]:
        error = get_object(data, "error")
        output, code = split_exit_code(collect_text(get_object(data, "result").get("content")))
        yield from self.take_result(
            get_text(data, "toolCallId"),
            get_text(error, "message") or output,
            at,
            agent,
            ok=data.get("success") is not False and code in {None, 0},
            code=code,
            ran=get_text(error, "code") not in _NEVER_RAN,
        )

    def _read_permission(self, data: Row, at: float, agent: str) -> TranscriptEvent:
        """What the user says to a call that they were asked about."""
        answer = get_object(data, "result")
        if not get_text(answer, "kind").startswith("denied-interactively"):
            return Skipped("permission.completed")
        call = self._waiting.get(get_text(data, "toolCallId"), WaitingCall(""))
        return tell_rejection(at, agent, make_rejection(get_text(answer, "feedback"), get_target(call.input)))


def _read_prompt(data: Row, at: float, agent: str) -> TranscriptEvent:
    """A message of the user's; what a skill or the client says in their name has a source."""
    if agent or get_text(data, "source") not in {"", "user"}:
        return Skipped(NOT_BY_THE_USER)
    return tell_prompt(at, get_text(data, "content"))


def _read_aside(kind: str, data: Row, at: float, agent: str) -> TranscriptEvent:
    if kind == "abort":
        return Interrupt(at, agent)
    if kind == "session.compaction_complete" and data.get("success") is not False:
        return Compacted(at, agent)
    if kind == "session.shutdown" and (fresh := _count_fresh(get_object(data, "modelMetrics"))):
        return TokenUsage(at, get_count(data, "currentTokens"), fresh)
    return Skipped(clean_name(kind) if kind.startswith(_NOT_NEEDED) else f"unknown: {clean_name(kind)}")


def _count_fresh(models: Row) -> int:
    """Tokens of all models that were written, and that were read from no cache."""
    usages = [get_object(get_object(models, name), "usage") for name in models]
    return sum(
        get_count(usage, "inputTokens") - get_count(usage, "cacheReadTokens") + get_count(usage, "outputTokens")
        for usage in usages
    )
