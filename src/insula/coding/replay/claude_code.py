"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of its subagents beside them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from insula.coding.hosts.payload import get_object, get_objects, get_text
from insula.coding.replay.events import (
    Asked,
    Call,
    Compacted,
    Event,
    Interrupt,
    Place,
    Prompt,
    Rejected,
    Row,
    Skipped,
    Spent,
    name,
    time,
)
from insula.coding.replay.seen import Seen
from insula.coding.step.fingerprint import target_of
from insula.coding.step.person import own_words, rejection
from insula.value import is_list, is_object

WAITING = 256
"""Calls that may wait for their result, and requests that may be told of again."""
NEVER_RAN = ("The user doesn't want to", "<tool_use_error>Sibling tool call errored")
"""Results of calls that the user turned down or the host gave up: no hook is told of them."""
INTERRUPTED = "[Request interrupted"
NOT_TYPED = ("<local-command", "<bash-", "<task-notification", "<command-name>", INTERRUPTED, "Caveat:")
"""What the host writes in the user's name."""
REPEATED = "repeated from a session that was resumed"
NOT_BY_THE_USER = "what the host says in the user's name"
NO_RESULT = "call without a result"
NO_CALL = "result without its call"
_NOT_NEEDED = frozenset(
    (
        *("progress", "attachment", "summary", "system", "file-history-snapshot", "file-history-delta"),
        *("queue-operation", "last-prompt", "api-request", "api-request-shape", "api-request-blob", "tools-used"),
        *("cost-state", "atis-latch", "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag"),
        *("mode", "permission-mode", "pr-link", "worktree-state", "content-replacement", "saved_hook_context"),
    )
)
"""Kinds of lines that this host is known to write, and that tell nothing about calls."""


class _Use(NamedTuple):
    tool: str
    input: object
    thought: str
    turn: str = ""


def read(rows: Iterable[Row | Skipped], seen: Seen, agent: str = "") -> Iterator[Event]:
    """What the lines tell, in their order.

    Args:
        rows: the lines of a transcript.
        seen: what other transcripts told; a session that is resumed repeats the one before it.
        agent: whose transcript it is, where its lines do not say.
    """
    reader = _Reader(seen, agent)
    for row in rows:
        if isinstance(row, Skipped):
            yield row
        else:
            yield from reader.told(row)
    yield from (Skipped(NO_RESULT) for _ in reader.waiting)


class _Reader:
    """What has to be kept from one line to the next."""

    def __init__(self, seen: Seen, agent: str) -> None:
        self.waiting: dict[str, _Use] = {}
        self._seen = seen
        self._agent = agent
        self._thoughts: dict[str, str] = {}
        self._cwd = ""
        self._paid: dict[tuple[str, str], int] = {}

    def told(self, row: Row) -> Iterator[Event]:
        """The events of one line."""
        kind = get_text(row, "type")
        if not self._cwd and (cwd := get_text(row, "cwd")):
            self._cwd = cwd
            yield Place(cwd)
        if kind not in {"user", "assistant"}:
            yield _aside(row, kind)
        elif (line := get_text(row, "uuid")) and not self._seen.add(line):
            yield Skipped(REPEATED)
        elif kind == "assistant":
            yield from self._answer(row, who(row) or self._agent)
        else:
            yield from self._given(row, who(row) or self._agent)

    def _answer(self, row: Row, agent: str) -> Iterator[Event]:
        at, message = time(row.get("timestamp")), get_object(row, "message")
        yield from self._cost(message, at, agent)
        for block in get_objects(message, "content"):
            if block.get("type") == "tool_use":
                self._wait(block, agent, get_text(message, "id"))
                yield Asked(at, agent)
            else:
                told = get_text(block, "text") or get_text(block, "thinking")
                self._thoughts[agent] = told or self._thoughts.get(agent, "")

    def _wait(self, block: Row, agent: str, turn: str) -> None:
        use = _Use(get_text(block, "name"), block.get("input"), self._thoughts.get(agent, ""), turn)
        self.waiting[get_text(block, "id")] = use
        if len(self.waiting) > WAITING:
            del self.waiting[next(iter(self.waiting))]

    def _cost(self, message: Row, at: float, agent: str) -> Iterator[Event]:
        """One request may stand in several lines, among those of others; of each, only what is new is paid."""
        usage, request = get_object(message, "usage"), (agent, get_text(message, "id"))
        new = sum(_count(usage, part) for part in ("input_tokens", "cache_creation_input_tokens", "output_tokens"))
        paid = self._paid.pop(request, 0) if request[1] else 0
        self._paid[request] = max(new, paid)
        if len(self._paid) > WAITING:
            del self._paid[next(iter(self._paid))]
        if usage and new > paid:
            yield Spent(at, context=new + _count(usage, "cache_read_input_tokens"), fresh=new - paid, agent=agent)

    def _given(self, row: Row, agent: str) -> Iterator[Event]:
        at, said, any_result = time(row.get("timestamp")), list[str](), False
        for block in blocks(row):
            if block.get("type") == "tool_result":
                any_result = True
                yield from self._result(block, at, agent)
            elif block.get("type") == "text":
                said.append(get_text(block, "text").lstrip())
        if any(one.startswith(INTERRUPTED) for one in said):
            yield Interrupt(at, agent)
        if not agent and is_typed(row, said):
            typed = "\n\n".join(one for one in said if one and not one.startswith(NOT_TYPED))
            yield Prompt(at, words=own_words(typed))
        elif not any_result:
            yield Skipped(NOT_BY_THE_USER)

    def _result(self, block: Row, at: float, agent: str) -> Iterator[Event]:
        thought, self._thoughts[agent] = self._thoughts.get(agent, ""), ""
        use = self.waiting.pop(get_text(block, "tool_use_id"), None) or _Use("", None, thought)
        output, lost = _output(block.get("content")), not use.tool
        if (remark := rejection(output, target_of(use.input))) is not None:
            yield Rejected(at, agent, own_words(remark.words), remark.about)
        yield Call(
            use.tool,
            use.input,
            output,
            at,
            ok=not block.get("is_error"),
            thought=use.thought,
            refused=output.startswith("<tool_use_error>"),
            id=get_text(block, "tool_use_id"),
            agent=agent,
            turn=use.turn,
            lost=lost,
        )
        if lost:
            yield Skipped(NO_CALL)


def _aside(row: Row, kind: str) -> Event:
    if kind == "system":
        if str(row.get("subtype")).endswith("compact_boundary"):
            return Compacted(time(row.get("timestamp")), who(row))
        return Skipped(f"system: {name(row.get('subtype'))}")
    return Skipped(name(kind) if kind in _NOT_NEEDED else f"unknown: {name(kind)}")


def who(row: Row) -> str:
    """The subagent that a line is of; empty for the main one."""
    return get_text(row, "agentId") or ("sidechain" if row.get("isSidechain") else "")


def is_typed(row: Row, said: Iterable[str]) -> bool:
    """Whether a person wrote one of the texts, as far as the host's own marks tell."""
    if row.get("isMeta") or row.get("isCompactSummary"):
        return False
    return any(one and not one.startswith(NOT_TYPED) for one in said)


def blocks(row: Row) -> list[Row]:
    """The parts of a message; a text alone is one of them."""
    content = get_object(row, "message").get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if is_object(block)] if is_list(content) else []


def _output(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if is_list(content) else []
    return "\n".join(get_text(part, "text") for part in parts if is_object(part))


def _count(usage: Row, part: str) -> int:
    value = usage.get(part)
    return value if isinstance(value, int) and 0 < value < 1 << 40 else 0
