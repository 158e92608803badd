"""What users give for free says how sure to be: thanks, a correction, the same question again (K3, law 7).

An outcome belongs to a question to which memory had something to say; the rest the model answered from what it knows.
Silence is no outcome. The night refits the calibration of confidence from them, drawn to the shipped one by few.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from insula.calibration import OWN, Outcome, calibrated, refit, settle, shipped, written
from insula.memory.changes import Revision
from insula.memory.nights import Line, Noticed, Revised
from insula.memory.store import Store
from insula.sleep.cycle import UP_TO, Night, Result
from insula.sleep.mistakes import TURN, is_users
from insula.text.analysis import analyse
from insula.text.corrections import alike, correction
from insula.text.questions import asks
from insula.types import Calibration
from insula.value import is_list, is_number, is_object

SESSIONS, LINES = 500, 1_000
"""Sessions that one night looks at, the oldest first, and the last lines of each."""
KEPT = 200
"""Outcomes that a calibration rests on, the latest: what users ask changes with time."""
AGAIN = 0.95
"""From this likeness on, two questions are the same one."""
NIGHT, PERSON = "night", "person"
_FAILED = frozenset({"correction", "rejection", "repair"})
THANKS_CHARS = 80
"""A longer message thanks on its way to something else."""
_COURTEOUS = frozenset({"thanks", "emphasis", "similar"})
_NO_THANKS = re.compile(r"\b(?:never ?mind|no problem|no worries|thanks to|for nothing|but|not|no)\b", re.IGNORECASE)
"""What takes thanks back, or was none."""


async def calibrate(night: Night) -> Result:
    """The phase: a user's own calibration from the outcomes of all nights, with the threshold of "high" moved on."""
    found, last = await _since(night)
    report = {UP_TO: last, "right": sum(one.held for one in found), "wrong": sum(not one.held for one in found)}
    if not found:
        return Result(report, skipped="Nobody thanked, corrected or asked again where memory had something to say.")
    base = night.calibration or shipped()
    before = await own(night.store, night.user_id, base)
    known = (*before.outcomes, *found)[-KEPT:]
    after = replace(refit(base, known), high=settle(before.calibration, found).high)
    revision = Revision(OWN, NIGHT, written(after), {"outcomes": [[one.score, one.held] for one in known]})
    return Result(report | Own(after, known).as_json(), [revision])


async def _since(night: Night) -> tuple[list[Outcome], int]:
    """The outcomes since the last night, oldest first, and the last message that was looked at."""
    latest = await night.store.revisions(night.user_id, OWN, 1)
    since = latest[0].at if latest and latest[0].author == PERSON else 0.0  # a person began anew
    sessions = [one for one in await night.store.sessions_to_sleep_on(night.user_id) if one.last > night.seen]
    found: list[Outcome] = []
    for one in sessions[:SESSIONS]:
        lines = await night.store.lines_of(night.user_id, one.id, LINES)
        turns = await night.store.noticed_in(night.user_id, [TURN], [one.id])
        # What is said while the night looks on is of the next one.
        new = [line for line in lines if line.id <= one.last and line.at >= since]
        found.extend(outcomes(new, turns, after=night.seen))
    return found, max((one.last for one in sessions[:SESSIONS]), default=night.seen)


def outcomes(lines: Sequence[Line], turns: Sequence[Noticed], *, after: int = 0) -> Iterator[Outcome]:
    """What became of the answers in one session.

    Args:
        lines: its transcript, oldest first.
        turns: the records of its turns.
        after: messages up to this id were looked at before.
    """
    stated = {turn.turn: turn.data for turn in turns}
    asked: Line | None = None
    response = ""
    for line in lines:
        if line.provenance == "assistant":
            response = line.content
        elif is_users(line):
            if asked and response and line.id > after:
                turn = stated.get(asked.turn, {})
                score, held = _score(turn), _held(line.content, asked.content, response)
                if score is not None and held is not None and asks(analyse(asked.content)):
                    yield Outcome(score, held, _level(turn) == "high")
            asked, response = line, ""


def _held(message: str, question: str, response: str) -> bool | None:
    """Whether the next message of the user's says that the response held; None where it says nothing of it."""
    found = correction(message, question, response)
    if found.kind in _FAILED or alike(message, question) >= AGAIN:
        return False
    thanks = "thanks" in found.cues and _COURTEOUS.issuperset(found.cues) and len(message) <= THANKS_CHARS
    return True if thanks and not _NO_THANKS.search(message) and not asks(analyse(message)) else None


def _score(turn: Mapping[str, Any]) -> float | None:
    """The confidence of a turn before it was adjusted, where memory had something to show."""
    score, brought = turn.get("unadjusted"), turn.get("recalled")
    shown = is_list(brought) and any(is_object(one) and one.get("shown") for one in brought)
    return float(score) if shown and is_number(score) else None


def _level(turn: Mapping[str, Any]) -> object:
    """What the user was told of it."""
    stated = turn.get("confidence")
    return stated.get("level") if is_object(stated) else None


def _known(past: Sequence[Revised]) -> list[Outcome]:
    """The outcomes that the last calibration rests on; none after a person began anew."""
    pairs = past[0].evidence.get("outcomes") if past else None
    whole = (pair for pair in pairs if is_list(pair) and len(pair) == 2) if is_list(pairs) else ()
    return [Outcome(float(score), bool(held)) for score, held in whole if is_number(score)]


class Own(NamedTuple):
    """A user's own calibration, and the outcomes it rests on."""

    calibration: Calibration
    outcomes: tuple[Outcome, ...]

    def as_json(self) -> dict[str, Any]:
        """What of it is the user's own, and what it rests on."""
        held = sum(one.held for one in self.outcomes)
        return {**json.loads(written(self.calibration)), "outcomes": len(self.outcomes), "held": held}


async def own(store: Store, user_id: int, base: Calibration) -> Own:
    """How the confidence of a user is calibrated now, beginning with `base`."""
    past = await store.revisions(user_id, OWN, 1)
    return Own(calibrated(base, past[0].content) if past else base, tuple(_known(past)))


async def forget(store: Store, user_id: int) -> None:
    """Go back to the calibration that everybody begins with, and count outcomes anew."""
    await store.revise(user_id, Revision(OWN, PERSON, "{}", {}))
