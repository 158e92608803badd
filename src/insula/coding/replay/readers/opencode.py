"""Sessions of OpenCode, as `opencode export` writes them: one JSON document, with a message of one or several parts.

A call, its result and its outcome stand in one part. A session that was forked repeats the messages of the one before
it; what a subagent did is a session of its own, which names the one that sent it.
"""

from collections.abc import Iterator

from insula.coding.hosts.payload import get_object, get_objects, get_text
from insula.coding.replay.readers import (
    NO_RESULT,
    NOT_BY_THE_USER,
    REPEATED,
    BaseReader,
    CallRequest,
    Compacted,
    Interrupt,
    Row,
    Seen,
    Skipped,
    TokenUsage,
    TranscriptCall,
    TranscriptEvent,
    WorkingFolder,
    clean_name,
    get_count,
    parse_milliseconds,
    tell_prompt,
    tell_rejection,
    tell_reply,
)
from insula.coding.step.fingerprint import get_target
from insula.coding.step.person import make_rejection

FOLDERS = ()
"""Its sessions are in a database; a person writes one out."""
_SESSION = "ses_"
"""Begins the id of any session."""
_REJECTED = "The user rejected permission to use this"
_FEEDBACK = "with the following feedback:"
_NEVER_RAN = (_REJECTED, "The user has specified a rule which prevents", "Tool execution aborted")
"""Results of calls that were turned down, or stopped."""
_ABORTED = "MessageAbortedError"
_PENDING = frozenset(("pending", "running"))
_NOT_NEEDED = frozenset(
    ("text", "reasoning", "step-start", "step-finish", "patch", "snapshot", "file", "agent", "subtask", "retry")
)


def identify_session(rows: list[Row], stem: str) -> tuple[str, str] | None:
    """Session and subagent of a document that begins so; None where it is none of this host's."""
    info = next((get_object(row, "info") for row in rows if "messages" in row), Row())
    session, parent = get_text(info, "id"), get_text(info, "parentID")
    if not session or not ("directory" in info or "projectID" in info):
        return None
    return parent if parent.startswith(_SESSION) else session, session if parent else ""


class OpenCodeReader(BaseReader):
    """A session of OpenCode."""

    def __init__(self, seen: Seen, agent: str = "", session: str = "") -> None:
        super().__init__(seen, agent, session)
        self._turn = 0

    def read_row(self, row: Row) -> Iterator[TranscriptEvent]:
        """The events of a message."""
        info = get_object(row, "info")
        if cwd := get_text(info, "directory"):
            yield WorkingFolder(cwd)
            return
        role, at = get_text(info, "role"), parse_milliseconds(get_object(info, "time").get("created"))
        if role == "assistant":
            yield from self._read_answer(info, get_objects(row, "parts"), at)
        elif role == "user":
            yield self._read_prompt(get_objects(row, "parts"), at)
        else:
            yield Skipped(f"unknown: {clean_name(role)}")

    def _is_new(self, kind: str, which: object) -> bool:
        return self._seen.add_id(f"opencode {self._agent} {kind} {which}")

    def _read_prompt(self, parts: list[Row], at: float) -> TranscriptEvent:
        texts = [get_text(part, "text") for part in parts if not (part.get("synthetic") or part.get("ignored"))]
        typed = "\n\n".join(filter(None, texts))
        if self._agent or not typed:
            return Skipped(NOT_BY_THE_USER)
        if not self._is_new("user", f"{at} {typed}"):
            return Skipped(REPEATED)
        return tell_prompt(at, typed)

    def _read_answer(self, info: Row, parts: list[Row], at: float) -> Iterator[TranscriptEvent]:
        if new := self._is_new("assistant", at):
            yield from self._read_request(info, at)
        for part in parts:
            kind = get_text(part, "type")
            self._turn += kind == "step-start"
            if kind == "tool":
                yield from self._read_call(part, at)
            elif kind == "text" and new:
                yield tell_reply(at, self._agent, get_text(part, "text"))
            elif kind in _NOT_NEEDED:
                yield Skipped(kind)
            else:
                yield Skipped(f"unknown: {clean_name(kind)}")

    def _read_request(self, info: Row, at: float) -> Iterator[TranscriptEvent]:
        """What a request to the model cost, and how it ended."""
        tokens = get_object(info, "tokens")
        cache = get_object(tokens, "cache")
        fresh = sum(get_count(part, name) for part, name in ((tokens, "input"), (tokens, "output"), (cache, "write")))
        if fresh:
            yield TokenUsage(at, fresh + get_count(cache, "read"), fresh, agent=self._agent)
        if info.get("summary") is True:
            yield Compacted(at, self._agent)
        if get_text(get_object(info, "error"), "name") == _ABORTED:
            yield Interrupt(at, self._agent)

    def _read_call(self, part: Row, at: float) -> Iterator[TranscriptEvent]:
        state = get_object(part, "state")
        began, ended = (parse_milliseconds(get_object(state, "time").get(end)) for end in ("start", "end"))
        which = f"{get_text(part, 'callID')} {began or get_text(part, 'id')}"
        if self._is_new("asked", which):
            yield CallRequest(began or at, self._agent)
        if get_text(state, "status") in _PENDING or not self._is_new("answered", which):
            yield Skipped(NO_RESULT if get_text(state, "status") in _PENDING else REPEATED)
            return
        call = self._make_call(part, state, ended or began or at)
        if call.output.startswith(_REJECTED):
            remark = make_rejection(call.output.partition(_FEEDBACK)[2], get_target(call.input))
            yield tell_rejection(call.at, self._agent, remark)
        yield call

    def _make_call(self, part: Row, state: Row, at: float) -> TranscriptCall:
        """A call as the hook would be told it."""
        threw, code = get_text(state, "status") == "error", get_object(state, "metadata").get("exit")
        output = get_text(state, "error" if threw else "output")
        return TranscriptCall(
            get_text(part, "tool") or "nameless",
            state.get("input"),
            output,
            at,
            ok=not threw and code in {None, 0},
            id=get_text(part, "id"),
            agent=self._agent,
            code=code if isinstance(code, int) else None,
            ran=not (threw and output.startswith(_NEVER_RAN)),
            turn=str(self._turn),
        )
