"""What others do against loops, re-implemented to be measured on the same runs: no code of theirs, their rules.

OpenHands' `StuckDetector` (openhands-sdk 1.58.2, MIT), Hermes' tool guardrails (hermes-agent 0.19.0, MIT; and its
main branch at 06c25ac, which adds identical calls, cycles and progress) and the tool calls of Gemini CLI's
`LoopDetectionService` (Apache-2.0). The rules on monologues are left out: they count messages without a tool call, and
the runs hold none; so is Gemini CLI's question to a model.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from insula.coding.replay.readers import TranscriptCall, UserPrompt

Events = Iterable[TranscriptCall | UserPrompt]


class Verdict(NamedTuple):
    """The first call, counted from 1, at which a detector warns and at which it stops the agent."""

    warns: int | None = None
    stops: int | None = None


# OpenHands.

SCANNED = 10
"""Calls in its window of 20 events."""
SAME = 4
ERRORS = 3
ALTERNATING = 6

_Pair = tuple[int, int, bool]


def openhands(events: Events) -> Verdict:
    """Where OpenHands nudges (three refusals of one call) and where it takes the agent for stuck."""
    ids: dict[object, int] = {}
    recent: list[_Pair] = []
    warns: int | None = None
    step = 0
    for event in events:
        if isinstance(event, UserPrompt):
            recent = []
            continue
        step += 1
        recent = [*recent, _pair(event, ids)][-SCANNED:]
        errors = _refusals(recent)
        warns = step if warns is None and errors == ERRORS else warns
        if errors > ERRORS or _repeats(recent) or _alternates(recent):
            return Verdict(warns or step, step)
    return Verdict(warns)


def _pair(call: TranscriptCall, ids: dict[object, int]) -> _Pair:
    """The action with its thought, and the observation; small numbers compare faster than texts."""
    did = ids.setdefault((call.thought, call.tool, _canonical(call)), len(ids))
    return did, ids.setdefault((call.output, call.tool, call.refused), len(ids)), call.refused


def _repeats(recent: list[_Pair]) -> bool:
    return len(recent) >= SAME and len(set(recent[-SAME:])) == 1


def _refusals(recent: list[_Pair]) -> int:
    count = 0
    for action, _, refused in reversed(recent):
        if action != recent[-1][0] or not refused:
            break
        count += 1
    return count


def _alternates(recent: list[_Pair]) -> bool:
    last = recent[-ALTERNATING:]
    return len(last) == ALTERNATING and all(one == other for one, other in zip(last, last[2:], strict=False))


# Gemini CLI.

IN_A_ROW = 5


def gemini(events: Events) -> int | None:
    """The call, counted from 1, at which Gemini CLI takes the agent for looping: the fifth equal one in a row."""
    row, last = 0, ""
    step = 0
    for event in events:
        if isinstance(event, UserPrompt):
            row = 0
            continue
        step += 1
        key = f"{event.tool} {_canonical(event)}"
        row = row + 1 if row and key == last else 1
        last = key
        if row == IN_A_ROW:
            return step
    return None


# Hermes.

EXACT_WARN, EXACT_BLOCK = 2, 5
TOOL_WARN, TOOL_HALT = 3, 8
IDLE_WARN, IDLE_BLOCK = 2, 5
IDENTICAL_NOTICE, IDENTICAL_HALT = 3, 5
PERIODS = (2, 3, 4)

_READ_ONLY = frozenset(
    ("read", "grep", "glob", "webfetch", "websearch", "open", "search_dir", "search_file", "find_file")
)
_TOLERANT = frozenset(("bash", "python", "webfetch", "taskoutput", "bashoutput"))
_POLLS = frozenset(("taskoutput", "bashoutput"))
_CHANGES = frozenset(("bash", "python", "write", "edit", "multiedit", "create", "task", "todowrite"))


def hermes(events: Events, *, main: bool = False) -> Verdict:
    """Where Hermes warns and where, with its hard stop on, it blocks.

    Args:
        main: the rules of its main branch instead of those of release 0.19.0.
    """
    verdict, turn, step = Verdict(), _Turn(main), 0
    for event in events:
        if isinstance(event, UserPrompt):
            turn = _Turn(main)
            continue
        step += 1
        blocked = turn.blocks(event)
        warned, halted = turn.after(event)
        if (warned or blocked or halted) and verdict.warns is None:
            verdict = verdict._replace(warns=step)
        if blocked or halted:
            return verdict._replace(stops=step)
    return verdict


class _Turn:
    """Counts since the user last spoke."""

    def __init__(self, main: bool) -> None:
        self._main = main
        self._exact: dict[str, int] = {}
        self._tool: dict[str, int] = {}
        self._idle: dict[str, tuple[str, int]] = {}
        self._moved: set[str] = set()
        self._history: list[tuple[str, str, bool]] = []

    def blocks(self, call: TranscriptCall) -> bool:
        """Whether the call is refused before it runs."""
        key = _key(call)
        failed = 0 if key in self._moved else self._exact.get(key, 0)
        return failed >= EXACT_BLOCK or (_idempotent(call) and self._idle.get(key, ("", 0))[1] >= IDLE_BLOCK)

    def after(self, call: TranscriptCall) -> tuple[bool, bool]:
        """Whether it warns, and whether it halts, once the call is done."""
        warned, halted = self._failed(call) if _failed(call) else self._succeeded(call)
        if not self._main:
            return warned, halted
        noticed, ended = self._identical(call)
        return warned or noticed, halted or ended

    def _failed(self, call: TranscriptCall) -> tuple[bool, bool]:
        key, tool = _key(call), call.tool.lower()
        if key in self._moved:
            self._moved.discard(key)
            self._exact.pop(key, None)
        self._exact[key] = exact = self._exact.get(key, 0) + 1
        self._tool[tool] = same = self._tool.get(tool, 0) + 1
        self._idle.pop(key, None)
        halted = same >= TOOL_HALT and not (self._main and tool in _TOLERANT)
        return exact >= EXACT_WARN or same >= TOOL_WARN, halted

    def _succeeded(self, call: TranscriptCall) -> tuple[bool, bool]:
        key, tool = _key(call), call.tool.lower()
        self._exact.pop(key, None)
        self._tool.pop(tool, None)
        if self._main and tool in _CHANGES:
            self._moved.update(self._exact)
            self._tool.clear()
        if not _idempotent(call):
            return False, False
        before, count = self._idle.get(key, ("", 0))
        count = count + 1 if before == call.output else 1
        self._idle[key] = (call.output, count)
        return count >= IDLE_WARN, False

    def _identical(self, call: TranscriptCall) -> tuple[bool, bool]:
        self._history = [*self._history, (_key(call), call.output, call.tool.lower() in _POLLS)][-64:]
        for period in (1, *PERIODS):
            laps = self._laps(period)
            if laps >= IDENTICAL_NOTICE and not all(poll for *_, poll in self._history[-period:]):
                return True, laps >= IDENTICAL_HALT
        return False, False

    def _laps(self, period: int) -> int:
        last, laps = self._history[-period:], 1
        while self._history[-period * (laps + 1) : -period * laps] == last:
            laps += 1
        return laps


def _failed(call: TranscriptCall) -> bool:
    """By the outcome where there is one; by the text elsewhere, but never for a shell, as they do."""
    if call.ok is not None:
        return not call.ok
    head = call.output[:500].lower()
    return call.tool != "Bash" and ('"error"' in head or '"failed"' in head or call.output.startswith("Error"))


def _idempotent(call: TranscriptCall) -> bool:
    """Their list in the names of our sets; a SQL query is added to it, in their favour."""
    query = str(call.input.get("query", "")).removeprefix("execute[").lstrip().lower()
    return call.tool.lower() in _READ_ONLY or (call.tool == "sql" and query.startswith(("select", "show", "desc")))


def _key(call: TranscriptCall) -> str:
    return f"{call.tool} {_canonical(call)}"


def _canonical(call: TranscriptCall) -> str:
    return json.dumps(call.input, sort_keys=True, ensure_ascii=False)
