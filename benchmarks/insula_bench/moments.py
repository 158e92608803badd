"""Labelled moments of real sessions, and what all senses and the user's own words make of them.

A moment is a stretch of a session that somebody has read and judged: stuck or not, from when on that could be known,
who ended it, and what it teaches. Places are those of tool uses, counted from 0 in their session.
"""

import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from insula.coding.replay.readers import (
    Compacted,
    Interrupt,
    Rejected,
    Row,
    Seen,
    TranscriptCall,
    UserPrompt,
    claude_code,
    parse_time,
    read_action,
)
from insula.coding.step.corrections import UserCorrection, find_corrections
from insula.coding.step.fingerprint import make_action
from insula.coding.step.proprioception import Sensed, fold_trace, sense_end
from insula.coding.step.senses import EVERY
from insula.coding.step.state import State
from insula.errors import InputError

KINDS = (
    *("repeated_failure", "oscillation", "rereading", "wrong_direction", "ignores_user", "waits_in_vain"),
    "healthy",
)


class Moment(NamedTuple):
    """A labelled stretch of a session."""

    file: str
    session: str
    kind: str
    stuck: bool | None
    """None where the reader could not tell."""
    first: int
    last: int
    knowable_at: int | None = None
    ended_at: int | None = None
    ended_by: str = "none"
    why: str = ""
    user_words: str = ""
    teaches: str = ""

    @property
    def over(self) -> int:
        """The place from which on a text comes too late."""
        return self.last + 1 if self.ended_at is None else max(self.ended_at, self.first + 1)


class Told(NamedTuple):
    """A text of ours: after which tool use, of which sense."""

    place: int
    sense: str
    rung: int
    text: str
    ahead: bool = False
    """Whether it came before that tool use, and so before the user could turn it down."""


class Heard(NamedTuple):
    """Something that the user did to the agent."""

    place: int
    kind: str
    words: str


class Lived(NamedTuple):
    """A session as the senses and the user went through it."""

    uses: int
    told: tuple[Told, ...]
    heard: tuple[Heard, ...]
    asked: tuple[UserCorrection, ...]
    """What the user asked for; its time is the place."""
    events: tuple[tuple[int, TranscriptCall | UserPrompt], ...]
    """Calls and prompts with their places, for the rules of others."""


def read(file: str) -> list[Moment]:
    """The moments in a file of JSON lines.

    Raises:
        InputError: it cannot be read, or a line of it is no moment.
    """
    try:
        lines = Path(file).read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"{file!r} cannot be read ({error}); give a file of labelled moments.") from error
    return [_moment(line, number, file) for number, line in enumerate(lines, 1) if line.strip()]


def _moment(line: str, number: int, file: str) -> Moment:
    try:
        record: dict[str, Any] = json.loads(line)
        given: dict[str, Any] = {"stuck": None}
        given |= {name: record[name] for name in Moment._fields if record.get(name) is not None}
        moment = Moment(**given)
        if moment.kind not in KINDS or moment.stuck not in {True, False, None} or not 0 <= moment.first <= moment.last:
            raise ValueError("a kind, a judgement or a place that there is not")
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"Line {number} of {file!r} is no labelled moment ({error}); see docs/benchmarks/stuck.md for its fields."
        ) from error
    return moment


# Sessions.


def lives(moments: Iterable[Moment], data: Sequence[str], on: frozenset[str] = EVERY) -> dict[tuple[str, str], Lived]:
    """The sessions that the moments are of, by file and session.

    Raises:
        InputError: a file is under none of the paths, or does not hold a session.
    """
    wanted: dict[str, set[str]] = {}
    for moment in moments:
        wanted.setdefault(moment.file, set()).add(moment.session)
    return {
        (file, session): lived(rows, on)
        for file, sessions in wanted.items()
        for session, rows in _sessions(_found(file, data), sessions).items()
    }


def _found(file: str, data: Sequence[str]) -> Path:
    for folder in map(Path, data):
        for path in (folder / file, folder.parent / file, folder):
            if path.is_file() and str(path).endswith(file):
                return path
    raise InputError(f"{file!r}, which the moments are of, is not under {', '.join(data)}; give its folder by --data.")


def _sessions(path: Path, wanted: set[str]) -> dict[str, list[Row]]:
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    if rows and "events" in rows[0]:
        found = {row["session_id"]: row["events"] for row in rows if row["session_id"] in wanted}
    else:
        found = dict.fromkeys(wanted, rows)
    if missing := wanted - found.keys():
        raise InputError(
            f"{str(path)!r} holds no session {', '.join(sorted(missing))}; the moments are of another file."
        )
    return found


def lived(rows: Sequence[Row], on: frozenset[str] = EVERY) -> Lived:
    """Fold a session through the senses, with the places of its tool uses; those that are off by default as well."""
    places = _places(rows)
    walk = _Walk(places, _last_words(rows), on)
    for event in claude_code.ClaudeCodeReader(Seen()).read_events(
        row for row in rows if row.get("type") in {"user", "assistant", "system"}
    ):
        walk.take(event)
    return Lived(
        len(places), tuple(walk.told), tuple(walk.heard), tuple(find_corrections("", walk.trace)), tuple(walk.events)
    )


def _places(rows: Iterable[Row]) -> dict[str, int]:
    uses = (
        block.get("id", "")
        for row in rows
        if row.get("type") == "assistant"
        for block in claude_code.list_blocks(row)
        if block.get("type") == "tool_use"
    )
    return {use: place for place, use in enumerate(uses)}


def _last_words(rows: Iterable[Row]) -> dict[str, str]:
    """What the agent said last before each row of the user's, by the row's time."""
    said, by_time = "", dict[str, str]()
    for row in rows:
        kinds = [block.get("type") for block in claude_code.list_blocks(row)]
        if row.get("type") == "assistant":
            said = "" if "tool_use" in kinds else next(_texts(row), said)
        elif row.get("type") == "user" and "tool_result" not in kinds:
            by_time[str(row.get("timestamp"))] = said
    return by_time


def _texts(row: Row) -> Iterator[str]:
    yield from (
        block["text"] for block in claude_code.list_blocks(row) if block.get("type") == "text" and block.get("text")
    )


class _Walk:
    """The events of a session in their order, through one state per agent."""

    def __init__(self, places: dict[str, int], last_words: dict[str, str], on: frozenset[str]) -> None:
        self.told: list[Told] = []
        self.heard: list[Heard] = []
        self.events: list[tuple[int, TranscriptCall | UserPrompt]] = []
        self.trace: list[dict[str, Any]] = []
        self._places, self._on = places, on
        self._said = {parse_time(at): said for at, said in last_words.items()}
        self._states: dict[str, State] = {}
        self._next = 0
        self._stopped = False

    def take(self, event: object) -> None:
        """One event more."""
        match event:
            case TranscriptCall() if not event.lost:
                self._call(event)
            case Rejected():
                self._foresee(event.agent, "Bash", {"command": event.about}, event.at, self._next)
                self._hears("rejection", event.at, event.words, event.about)
            case Interrupt():
                self._hears("interrupt", event.at, "")
            case UserPrompt():
                self._stop(event)
                self.events.append((self._next, event))
                self._hears("prompt", event.at, event.words)
            case Compacted():
                self._fold(event.agent, {"e": "start", "source": "compact"}, self._next - 1)
            case _:
                pass

    def _call(self, call: TranscriptCall) -> None:
        place = self._places.get(call.id, self._next)
        self._next = max(self._next, place + 1)
        if call.output.startswith(claude_code.NEVER_RAN):
            return
        self._foresee(call.agent, call.tool, call.input, call.at, place)
        record = {"e": "action", **read_action(call).as_dict()}
        self.trace.append(record)
        self.events.append((place, call))
        self._fold(call.agent, record, place)
        self._stopped = False

    def _foresee(self, agent: str, tool: str, given: object, at: float, place: int) -> None:
        """What the hook hears before a command that does something to what others rely on."""
        coming = make_action(tool=tool, input=given, output="", at=at, ok=True)
        if tool == "Bash" and coming.acts:
            self._fold(agent, {"e": "before", **coming.as_dict()}, place, ahead=True)

    def _hears(self, kind: str, at: float, words: str, about: str = "") -> None:
        place = self._next  # a rejection is told before the call that it turned down
        record = {"e": "user", "at": at, "kind": kind, "words": words, "about": about}
        self.trace.append(record | {"at": float(place)})
        self.heard.append(Heard(place, kind, words))
        self._fold("", record, place)
        self._stopped = self._stopped or kind != "prompt"

    def _stop(self, prompt: UserPrompt) -> None:
        """An agent that nobody interrupted has stopped before its user speaks."""
        if not self._stopped and self.events and isinstance(self.events[-1][1], TranscriptCall):
            sensed = sense_end(self._states.get("", State()), self._said.get(prompt.at, ""), self._on)
            self._states[""] = sensed.state
            self._note(sensed, self._next - 1)
        self._stopped = False

    def _fold(self, agent: str, record: dict[str, Any], place: int, ahead: bool = False) -> None:
        self._states[agent], felt = fold_trace(self._states.get(agent), [record], self._on)
        for sensed in felt:
            self._note(sensed, place, ahead)

    def _note(self, sensed: Sensed, place: int, ahead: bool = False) -> None:
        if sensed.text:
            self.told.append(Told(place, sensed.sense, sensed.rung, sensed.text, ahead))
