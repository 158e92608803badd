"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`; earlier one JSON document each.

A message is written again when its calls have their results, so that a call is told where its result first stands. A
session of an earlier version that is opened again is written anew as lines, and its document stays.
"""

from collections.abc import Iterable, Iterator

from insula.coding.hosts.dialects.gemini import SHELL, strip_frame
from insula.coding.hosts.payload import collect_text, get_object, get_objects, get_text
from insula.coding.replay.claude_code import NO_RESULT, NOT_BY_THE_USER
from insula.coding.replay.events import Asked, Call, Event, Interrupt, Prompt, Row, Skipped, Spent, name, time
from insula.coding.replay.seen import Seen
from insula.coding.step.outcome import exit_code
from insula.coding.step.person import own_words
from insula.value import is_list, is_object

_NOT_TYPED = ("<session_context>", "<hook_context>", "This is the Gemini CLI. We are setting up the context")
_PENDING = frozenset(("validating", "scheduled", "executing", "awaiting_approval", ""))
_CANCELLED = "Request cancelled."
_NOTES = frozenset(("info", "error", "warning"))
AGAIN = "message written again"


def read(
    rows: Iterable[Row | Skipped], agent: str = "", session: str = "", seen: Seen | None = None
) -> Iterator[Event]:
    """What the lines tell, in their order.

    Args:
        rows: the lines of a transcript.
        agent: the subagent that it is of; empty for the main one.
        session: the session that it is of.
        seen: what other transcripts told; a session may be there twice.
    """
    reader = _Reader(agent, session, seen or Seen())
    for row in rows:
        if isinstance(row, Skipped):
            yield row
        else:
            yield from reader.told(row)
    yield from (Skipped(NO_RESULT) for _ in range(reader.asked - reader.answered))


def document(whole: Row) -> list[Row]:
    """The lines that a transcript in one JSON document would have had."""
    return [{**whole, "messages": None}, *get_objects(whole, "messages")]


class _Reader:
    """What has to be kept from one line to the next."""

    def __init__(self, agent: str, session: str, seen: Seen) -> None:
        self.asked = self.answered = 0
        self._agent = agent
        self._scope = f"gemini {session} {agent}"
        self._seen = seen

    def _new(self, kind: str, which: str) -> bool:
        return self._seen.add(f"{self._scope} {kind} {which}" if which else "")

    def told(self, row: Row) -> Iterator[Event]:
        """The events of one line."""
        if changed := get_object(row, "$set"):
            yield Skipped("$set")
            for message in get_objects(changed, "messages"):
                yield from self._message(message)
        elif "$rewindTo" in row:
            yield Skipped("$rewindTo")
        elif "sessionId" in row and "type" not in row:
            yield Skipped("session")
        else:
            yield from self._message(row)

    def _message(self, row: Row) -> Iterator[Event]:
        kind, at = get_text(row, "type"), time(row.get("timestamp"))
        which = get_text(row, "id") or get_text(row, "timestamp")
        new = self._new("message", which)
        if kind == "gemini":
            yield from self._cost(get_object(row, "tokens"), at) if new else (Skipped(AGAIN),)
            for number, call in enumerate(get_objects(row, "toolCalls")):
                yield from self._call(call, get_text(call, "id") or f"{which} {number}", at, which)
        elif kind == "user":
            yield self._typed(row, at) if new else Skipped(AGAIN)
        elif kind in _NOTES:
            cancelled = collect_text(row.get("content")).startswith(_CANCELLED)
            yield Interrupt(at, self._agent) if cancelled and new else Skipped(name(kind))
        else:
            yield Skipped(f"unknown: {name(kind)}")

    def _typed(self, row: Row, at: float) -> Event:
        content = row.get("content")
        parts = content if is_list(content) else [content]
        texts = [part if isinstance(part, str) else get_text(part, "text") if is_object(part) else "" for part in parts]
        if self._agent or not any(one.strip() and not one.startswith(_NOT_TYPED) for one in texts):
            return Skipped(NOT_BY_THE_USER)
        return Prompt(at, words=own_words("\n\n".join(one for one in texts if not one.startswith(_NOT_TYPED))))

    def _cost(self, tokens: Row, at: float) -> Iterator[Event]:
        total, cached = tokens.get("total"), tokens.get("cached")
        if isinstance(total, int) and total > 0:
            fresh = total - min(total, cached) if isinstance(cached, int) else total
            yield Spent(at, total, fresh, agent=self._agent)

    def _call(self, call: Row, which: str, at: float, turn: str) -> Iterator[Event]:
        status = get_text(call, "status")
        if self._new("asked", which):
            self.asked += 1
            yield Asked(at, self._agent)
        if status in _PENDING or not self._new("answered", which):
            return
        self.answered += 1
        yield _answered(call, status, time(call.get("timestamp")) or at, self._agent)._replace(turn=turn)


def _answered(call: Row, status: str, at: float, agent: str) -> Call:
    """A call as the hook would be told it."""
    tool, response = get_text(call, "name"), _response(call)
    output, frame = collect_text(response.get("output")) or collect_text(response.get("error")), ""
    if tool == SHELL:
        output, frame = strip_frame(output)
    code = exit_code(frame)
    return Call(
        tool,
        call.get("args"),
        output,
        at,
        ok=status == "success" and code in {None, 0} and "Signal: " not in frame,
        code=code,
        id=get_text(call, "id"),
        agent=agent,
        ran=status != "cancelled",
    )


def _response(call: Row) -> Row:
    result = call.get("result")
    parts = [part for part in result if is_object(part)] if is_list(result) else []
    found = (get_object(get_object(part, "functionResponse"), "response") for part in parts)
    return next(filter(None, found), Row())
