"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of its subagents beside them."""

from collections.abc import Iterable, Iterator

from insula.coding.hosts.payload import get_object, get_objects, get_text
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
from insula.coding.step.person import read_rejection
from insula.value import is_list, is_object

FOLDERS = ("projects",)
NEVER_RAN = ("The user doesn't want to", "<tool_use_error>Sibling tool call errored")
"""Results of calls that the user turned down or the host gave up: no hook is told of them."""
INTERRUPTED = "[Request interrupted"
NOT_TYPED = ("<local-command", "<bash-", "<task-notification", "<command-name>", INTERRUPTED, "Caveat:")
"""What the host writes in the user's name."""
_KINDS = frozenset(
    ("user", "assistant", "system", "summary", "progress", "attachment", "file-history-snapshot", "queue-operation")
)
"""What the first lines of a transcript may be."""
_NAMED_BY = ("uuid", "sessionId", "leafUuid", "messageId")
_NOT_NEEDED = frozenset(
    (
        *("progress", "attachment", "summary", "system", "file-history-snapshot", "file-history-delta"),
        *("queue-operation", "last-prompt", "api-request", "api-request-shape", "api-request-blob", "tools-used"),
        *("cost-state", "atis-latch", "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag"),
        *("mode", "permission-mode", "pr-link", "worktree-state", "content-replacement", "saved_hook_context"),
    )
)
"""Kinds of lines that this host is known to write, and that tell nothing about calls."""
_PAID = ("input_tokens", "cache_creation_input_tokens", "output_tokens")


def identify_session(rows: list[Row], stem: str) -> tuple[str, str] | None:
    """Session and subagent of a transcript that begins with these lines; None where it is none of this host's."""
    if not any(get_text(row, "type") in _KINDS and any(name in row for name in _NAMED_BY) for row in rows):
        return None
    sessions = [session for row in rows if (session := get_text(row, "sessionId"))]
    agents = [agent for row in rows if (agent := get_text(row, "agentId"))]
    session = stem if stem in sessions or not sessions else sessions[0]
    return session, agents[0] if agents and len(agents) == sum("uuid" in row for row in rows) else ""


class ClaudeCodeReader(BaseReader):
    """A transcript of Claude Code."""

    def __init__(self, seen: Seen, agent: str = "", session: str = "") -> None:
        super().__init__(seen, agent, session)
        self._thoughts: dict[str, str] = {}
        self._paid: dict[tuple[str, str], int] = {}

    def read_row(self, row: Row) -> Iterator[TranscriptEvent]:
        """The events of one line."""
        kind = get_text(row, "type")
        yield from self.take_folder(get_text(row, "cwd"))
        if kind not in {"user", "assistant"}:
            yield _read_aside(row, kind)
        elif (line := get_text(row, "uuid")) and not self._seen.add_id(line):
            yield Skipped(REPEATED)
        elif kind == "assistant":
            yield from self._read_answer(row, get_agent(row) or self._agent)
        else:
            yield from self._read_given(row, get_agent(row) or self._agent)

    def _read_answer(self, row: Row, agent: str) -> Iterator[TranscriptEvent]:
        at, message = parse_time(row.get("timestamp")), get_object(row, "message")
        yield from self._read_cost(message, at, agent)
        for block in get_objects(message, "content"):
            if block.get("type") == "tool_use":
                thought, turn = self._thoughts.get(agent, ""), get_text(message, "id")
                call = WaitingCall(get_text(block, "name"), block.get("input"), thought, turn)
                yield self.take_request(get_text(block, "id"), call, at, agent)
            else:
                thought = get_text(block, "text") or get_text(block, "thinking")
                self._thoughts[agent] = thought or self._thoughts.get(agent, "")
                if words := get_text(block, "text"):
                    yield tell_reply(at, agent, words)

    def _read_cost(self, message: Row, at: float, agent: str) -> Iterator[TranscriptEvent]:
        """One request may stand in several lines, among those of others; of each, only what is new is paid."""
        usage, request = get_object(message, "usage"), (agent, get_text(message, "id"))
        new = sum(get_count(usage, part) for part in _PAID)
        paid = self._paid.pop(request, 0) if request[1] else 0
        self._paid[request] = max(new, paid)
        drop_oldest(self._paid)
        if usage and new > paid:
            yield TokenUsage(
                at, context=new + get_count(usage, "cache_read_input_tokens"), fresh=new - paid, agent=agent
            )

    def _read_given(self, row: Row, agent: str) -> Iterator[TranscriptEvent]:
        at, texts, any_result = parse_time(row.get("timestamp")), list[str](), False
        for block in list_blocks(row):
            if block.get("type") == "tool_result":
                any_result = True
                yield from self._read_result(block, at, agent)
            elif block.get("type") == "text":
                texts.append(get_text(block, "text").lstrip())
        if any(text.startswith(INTERRUPTED) for text in texts):
            yield Interrupt(at, agent)
        if not agent and is_typed(row, texts):
            typed = "\n\n".join(text for text in texts if text and not text.startswith(NOT_TYPED))
            yield tell_prompt(at, typed)
        elif not any_result:
            yield Skipped(NOT_BY_THE_USER)

    def _read_result(self, block: Row, at: float, agent: str) -> Iterator[TranscriptEvent]:
        name, output = get_text(block, "tool_use_id"), _read_output(block.get("content"))
        self._thoughts[agent] = ""
        given = self._waiting.get(name, WaitingCall("")).input
        if (remark := read_rejection(output, get_target(given))) is not None:
            yield tell_rejection(at, agent, remark)
        refused = output.startswith("<tool_use_error>")
        yield from self.take_result(name, output, at, agent, ok=not block.get("is_error"), refused=refused)


def _read_aside(row: Row, kind: str) -> TranscriptEvent:
    if kind == "system":
        if str(row.get("subtype")).endswith("compact_boundary"):
            return Compacted(parse_time(row.get("timestamp")), get_agent(row))
        return Skipped(f"system: {clean_name(row.get('subtype'))}")
    return Skipped(clean_name(kind) if kind in _NOT_NEEDED else f"unknown: {clean_name(kind)}")


def get_agent(row: Row) -> str:
    """The subagent that a line is of; empty for the main one."""
    return get_text(row, "agentId") or ("sidechain" if row.get("isSidechain") else "")


def is_typed(row: Row, texts: Iterable[str]) -> bool:
    """Whether a person wrote one of the texts, as far as the host's own marks tell."""
    if row.get("isMeta") or row.get("isCompactSummary"):
        return False
    return any(text and not text.startswith(NOT_TYPED) for text in texts)


def list_blocks(row: Row) -> list[Row]:
    """The parts of a message; a text alone is one of them."""
    content = get_object(row, "message").get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if is_object(block)] if is_list(content) else []


def _read_output(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if is_list(content) else []
    return "\n".join(get_text(part, "text") for part in parts if is_object(part))
