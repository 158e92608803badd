"""What transcripts tell, whatever host wrote them: calls, words of the user, and what was not needed or not understood.

A host's reader is a file beside this one: a `BaseReader`, the `FOLDERS` below the host's own in which it keeps its
transcripts, and `identify_session`, which knows one by its first lines. A reader keeps no more of a transcript than the
calls that still wait for their result.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from insula.coding.step.action import EDIT, EXECUTE, Action
from insula.coding.step.fingerprint import make_action
from insula.coding.step.instructions.demands import READ
from insula.coding.step.instructions.extraction import extract_instructions
from insula.coding.step.instructions.instruction import Instruction
from insula.coding.step.person import Remark, extract_own_words, is_of_host
from insula.value import is_number

Row = dict[str, Any]
"""A line of a transcript."""
EARLIEST = datetime(2015, 1, 1, tzinfo=UTC).timestamp()
"""No coding agent is older."""
AHEAD = 86_400.0
"""Seconds by which the clock of another machine may be ahead of ours."""
NO_RESULT = "call without a result"
NO_CALL = "result without its call"
REPEATED = "repeated from a session that was resumed"
NOT_BY_THE_USER = "what the host says in the user's name"
WAITING = 256
"""Calls that may wait for their result, and requests that may be told of again."""


class TranscriptCall(NamedTuple):
    """One tool call with its result, as a hook would see it."""

    tool: str
    input: Any
    """Its arguments, as JSON holds them, or a text."""
    output: str
    at: float
    ok: bool | None = None
    """The structured outcome; None where the host knows none."""
    thought: str = ""
    """What the agent said before it; some detectors compare it."""
    refused: bool = False
    """Whether the host refused the call before the tool ran."""
    reward: float = 0.0
    place: int = 0
    """Which message of a chat the output was, counted from 0."""
    id: str = ""
    agent: str = ""
    code: int | None = None
    """The exit code, where the transcript tells it."""
    ran: bool = True
    """False where the host says that it was cancelled."""
    turn: str = ""
    """The transcript's name of the model's turn that it is of."""
    lost: bool = False
    """Whether the result came without the call that it is of, which stands in no line that could be read."""


class CallRequest(NamedTuple):
    """The agent asks for a tool call; its `TranscriptCall` follows when there is a result."""

    at: float
    agent: str = ""


class UserPrompt(NamedTuple):
    """The user speaks."""

    at: float
    agent: str = ""
    words: str = ""
    """Their own words, redacted."""
    heard: tuple[Instruction, ...] = ()
    """What they rule out, ask for or take back, redacted."""


class Reply(NamedTuple):
    """The agent speaks."""

    at: float
    agent: str = ""
    words: str = ""
    """The end of what it says."""


class Rejected(NamedTuple):
    """The user turns a call down."""

    at: float
    agent: str = ""
    words: str = ""
    """Their reason, in their own words, redacted."""
    about: str = ""
    """The command or path that was turned down, redacted."""


class Interrupt(NamedTuple):
    """The user stops the agent."""

    at: float
    agent: str = ""


class Compacted(NamedTuple):
    """What was read before has gone from the context."""

    at: float
    agent: str = ""


class TokenUsage(NamedTuple):
    """What a request to the model cost, as the host counts it."""

    at: float
    context: int
    """Tokens in the context after it."""
    fresh: int
    """Tokens that were not read from a cache, and those that the model wrote."""
    context_window: int = 0
    agent: str = ""


class WorkingFolder(NamedTuple):
    """The folder that the session works in."""

    cwd: str


class Skipped(NamedTuple):
    """Something that was not understood, or is not needed, by a name that says what."""

    reason: str
    broken: bool = False
    """Whether it is a line that could not be read."""


OtherEvent = CallRequest | UserPrompt | Reply | Rejected | Interrupt | Compacted | TokenUsage | WorkingFolder | Skipped
TranscriptEvent = TranscriptCall | OtherEvent


def read_action(call: TranscriptCall) -> Action:
    """The action that a call was, as the senses see it."""
    done = make_action(
        tool=call.tool, input=call.input, output=call.output, at=call.at, ok=call.ok, code=call.code, id=call.id
    )
    return done.replace(turn=call.turn, ran=done.ran and call.ran)


def parse_time(value: object) -> float:
    """Seconds since the epoch for a time in ISO 8601; 0 for what is none, and for one that cannot be."""
    try:
        at = datetime.fromisoformat(value).timestamp() if isinstance(value, str) else 0.0
    except (ValueError, OverflowError):  # such as of the year 1, in a zone that was ahead of it
        return 0.0
    return at if EARLIEST <= at <= time.time() + AHEAD else 0.0


def parse_milliseconds(value: object) -> float:
    """Seconds since the epoch for a time in milliseconds; 0 for what is none, and for one that cannot be."""
    at = value / 1_000 if is_number(value) else 0.0
    return at if EARLIEST <= at <= time.time() + AHEAD else 0.0


def clean_name(text: object) -> str:
    """A word of a transcript as part of a name: short, and nothing but letters, digits and a few signs."""
    word = "".join(char for char in str(text)[:40] if char.isascii() and (char.isalnum() or char in "-_."))
    return word or "nameless"


class ReplayedCall(NamedTuple):
    """A call without its texts: what the senses keep of it."""

    at: float
    agent: str
    action: Action
    failed: bool
    """Whether the host says that it failed; where it says nothing, whether it looks so."""
    lost: bool = False
    given: Any = None
    """The arguments of an edit or a command, where they are short enough to wait."""


SHORT = 1 << 16
"""Characters of arguments that are kept till a call is judged by what the user said."""


def make_done(call: TranscriptCall) -> ReplayedCall:
    """A call as the senses see it."""
    action = read_action(call)
    failed = not action.ok if call.ok is None else not call.ok
    return ReplayedCall(
        call.at,
        call.agent,
        action,
        failed,
        call.lost,
        given=call.input if action.kind in {EDIT, EXECUTE} and len(str(call.input)) <= SHORT else None,
    )


GENERATION = 300_000
"""Lines that are remembered at least; twice as many at most, in about 40 MB."""


class Seen:
    """The ids of lines that were read.

    What is long past is forgotten: a session is resumed in its own folder, and so stands near the one it repeats.
    """

    def __init__(self) -> None:
        self._new: set[int] = set()
        self._old: set[int] = set()

    def add_id(self, name: str) -> bool:
        """Takes note of an id; whether it is a new one. What has none is always new."""
        if not name:
            return True
        key = hash(name)
        if key in self._new or key in self._old:
            return False
        if len(self._new) >= GENERATION:
            self._new, self._old = set(), self._new
        self._new.add(key)
        return True


class WaitingCall(NamedTuple):
    """A call whose result is still to come."""

    tool: str
    input: Any = None
    thought: str = ""
    turn: str = ""


class BaseReader:
    """What has to be kept from one line of a transcript to the next.

    Args:
        seen: what other transcripts told; a session that is resumed or forked repeats the one before it.
        agent: the subagent that it is of, where its lines do not say; empty for the main one.
    """

    def __init__(self, seen: Seen, agent: str = "", session: str = "") -> None:
        self._seen, self._agent, self._session = seen, agent, session
        self._waiting: dict[str, WaitingCall] = {}
        self._cwd = ""

    def read_events(self, rows: Iterable[Row | Skipped]) -> Iterator[TranscriptEvent]:
        """What the lines tell, in their order."""
        for row in rows:
            if isinstance(row, Skipped):
                yield row
            else:
                yield from self.read_row(row)
        yield from (Skipped(NO_RESULT) for _ in range(self.count_waiting()))

    def read_row(self, row: Row) -> Iterator[TranscriptEvent]:
        """The events of one line."""
        raise NotImplementedError

    def count_waiting(self) -> int:
        """How many calls have no result yet."""
        return len(self._waiting)

    def take_folder(self, cwd: str) -> Iterator[TranscriptEvent]:
        """The event of the folder that the session works in, the first time that it is told."""
        if cwd and not self._cwd:
            self._cwd = cwd
            yield WorkingFolder(cwd)

    def take_request(self, name: str, call: WaitingCall, at: float, agent: str) -> CallRequest:
        """The event of a call that waits for its result by the host's name of it."""
        self._waiting[name] = call
        drop_oldest(self._waiting)
        return CallRequest(at, agent)

    def take_result(
        self, name: str, output: str, at: float, agent: str, *, ok: bool | None, code: int | None = None, **more: bool
    ) -> Iterator[TranscriptEvent]:
        """The events of a result: the call that it is of, and that nobody knows this one, if so."""
        call = self._waiting.pop(name, WaitingCall(""))
        lost = not call.tool
        yield TranscriptCall(
            *(call.tool, call.input, output, at),
            ok=ok,
            code=code,
            id=name,
            agent=agent,
            thought=call.thought,
            turn=call.turn,
            lost=lost,
            **more,
        )
        if lost:
            yield Skipped(NO_CALL)


def get_count(usage: Row, name: str) -> int:
    """A count of tokens; 0 for what is none."""
    value = usage.get(name)
    return value if isinstance(value, int) and 0 < value < 1 << 40 else 0


def tell_prompt(at: float, typed: str) -> UserPrompt:
    """The event of a message that the user typed to the main agent."""
    heard = () if is_of_host(typed) else extract_instructions(typed)
    return UserPrompt(at, words=extract_own_words(typed), heard=heard)


def tell_reply(at: float, agent: str, words: str) -> Reply:
    """The event of what an agent says."""
    return Reply(at, agent, words[-READ:])


def tell_rejection(at: float, agent: str, remark: Remark) -> Rejected:
    """The event of a call that the user turned down."""
    return Rejected(at, agent, extract_own_words(remark.words), remark.about)


def drop_oldest(kept: "dict[Any, Any]") -> None:
    """Let go of what was put in first, where there is more than is to be kept."""
    if len(kept) > WAITING:
        del kept[next(iter(kept))]
