"""What users give for free says how sure to be: thanks, a correction, the same question again (K3, law 7).

An outcome belongs to a question to which memory had something to say that a user or a tool had asserted (law 2); the
rest the model answered from what it knows. Silence is no outcome. The night refits the calibration of confidence from
them, drawn to the shipped one by few.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from insula.calibration import OWN, AnswerOutcome, apply_own, dump_own, load_shipped, move_threshold, refit_user
from insula.coding.step.corrections import measure_likeness
from insula.errors import InputError
from insula.memory.storage import statements, views
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.nights import UP_TO
from insula.memory.storage.rows import Place, Revised, StoredSignal, TranscriptLine
from insula.memory.storage.store import Store
from insula.memory.storage.vectors import Embed
from insula.memory.storage.views import find_memories
from insula.night.corrections import is_users, judge_reaction, only_thanks
from insula.night.cycle import Night, Result
from insula.night.sessions import since_last_night
from insula.text.analysis import analyse_text
from insula.text.questions import find_asks
from insula.text.wording import count_noun
from insula.types import JUDGED, TURN, Calibration, JudgedRecord, Signal
from insula.value import is_list, is_number, is_object

KEPT = 200
"""Outcomes that a calibration rests on, the latest: what users ask changes with time."""
AGAIN = 0.95
"""From this likeness on, two questions are the same one."""
NIGHT = "night"


def find_outcomes(
    lines: Sequence[TranscriptLine],
    turns: Sequence[StoredSignal],
    evidence: Collection[int],
    embed: Embed | None,
    *,
    after: int = 0,
) -> Iterator[AnswerOutcome]:
    """What became of the answers in one session.

    Args:
        lines: its transcript, oldest first.
        evidence: ids of the memories that count as evidence.
        embed: makes vectors; without one nobody is known to be thanked or corrected.
        after: messages up to this id were looked at before.
    """
    stated = {turn.turn: turn.data for turn in turns}
    asked: TranscriptLine | None = None
    response = ""
    for line in lines:
        if line.provenance == "assistant":
            response = line.content
        elif is_users(line):
            if asked and response and line.id > after:
                turn = stated.get(asked.turn, {})
                score = _evidence_score(turn, evidence)
                held = _response_held(line.content, asked.content, response, embed)
                if score is not None and held is not None and find_asks(analyse_text(asked.content)):
                    yield AnswerOutcome(score, held, confidence_level(turn) == "high")
            asked, response = line, ""


def _response_held(message: str, question: str, response: str, embed: Embed | None) -> bool | None:
    """Whether the next message of the user's says that the response held; None where it says nothing of it."""
    if judge_reaction(message, question, response, embed).kind or measure_likeness(message, question) >= AGAIN:
        return False
    return True if only_thanks(message, embed) else None


def _evidence_score(turn: Mapping[str, Any], evidence: Collection[int]) -> float | None:
    """The confidence of a turn before it was adjusted, where memory had evidence to show."""
    score = turn.get("unadjusted")
    return (
        float(score)
        if is_number(score) and _is_evident(score) and not shown_memories(turn).isdisjoint(evidence)
        else None
    )


async def _asserted_memories(store: Store, user: str, turns: Iterable[Mapping[str, Any]]) -> frozenset[int]:
    """Of what some turns showed, the memories that a user or a tool asserted (law 2)."""
    held = await store.read(find_memories, user, sorted(frozenset[int]().union(*map(shown_memories, turns))))
    asserted = (
        memory for memory in held.values() if memory.provenance in {"user", "tool"} and memory.kind == "semantic"
    )
    return frozenset(memory.id for memory in asserted)


def _is_evident(score: float) -> bool:
    """Whether a score is one of evidence: without any it is 0, and its log-odds know no end."""
    return 0.0 < score <= 1.0


def shown_memories(turn: Mapping[str, Any]) -> frozenset[int]:
    """The ids of the memories that a turn showed to the model."""
    brought = turn.get("recalled")
    entries = (entry for entry in brought if is_object(entry) and entry.get("shown")) if is_list(brought) else ()
    return frozenset(number for entry in entries if isinstance(number := entry.get("id"), int))


def confidence_level(turn: Mapping[str, Any]) -> object:
    """What the user was told of it."""
    stated = turn.get("confidence")
    return stated.get("level") if is_object(stated) else None


def _known_outcomes(past: Sequence[Revised]) -> list[AnswerOutcome]:
    """The outcomes that the last calibration rests on."""
    pairs = past[0].evidence.get("outcomes") if past else None
    whole = (pair for pair in pairs if is_list(pair) and len(pair) == 2) if is_list(pairs) else ()
    return [AnswerOutcome(float(score), bool(held)) for score, held in whole if is_number(score) and _is_evident(score)]


class Own(NamedTuple):
    """A user's own calibration, and the outcomes it rests on."""

    calibration: Calibration
    outcomes: tuple[AnswerOutcome, ...]


async def read_calibration(store: Store, user_id: int, base: Calibration) -> Own:
    """How the confidence of a user is calibrated now, beginning with `base`."""
    return latest_calibration(await store.guidance.list_revisions(user_id, OWN, 1), base)


def latest_calibration(past: Sequence[Revised], base: Calibration) -> Own:
    """The calibration that the latest revision holds; `base` where there is none."""
    return Own(apply_own(base, past[0].content) if past else base, tuple(_known_outcomes(past)))


COUNTED = "It counts for how sure to be with you."
NOT_COUNTED = "It is kept; what you asked was nothing that memory had to answer, so it says nothing of how sure to be."


async def judge_answer(store: Store, user: str, session: str, turn: int, right: bool, base: Calibration) -> str:
    """Take a person's word on the answer of a turn; returns what comes of it, in a sentence.

    Args:
        store: where the turn stands.
        right: whether the answer was right.

    Raises:
        InputError: there is no such turn, or it was judged before.
    """
    following = await store.read(views.read_talk, user, session, turn + 1, 1)
    noticed = [entry for entry in following.noticed if entry.turn == turn] if following else []
    over = next((entry for entry in noticed if entry.kind == TURN), None)
    if over is None:
        raise InputError(f"There is no turn {turn} with an answer in this conversation; look at it again.")
    if any(entry.kind == JUDGED for entry in noticed):
        raise InputError("This answer was judged before; one word on each counts.")
    place = await store.resolve_place(user, session)
    score = _evidence_score(over.data, await _asserted_memories(store, user, [over.data]))
    said = Signal(
        kind=JUDGED,
        user=user,
        session=session,
        turn=turn,
        reason="the user says that it was right" if right else "the user says that it was wrong",
        at=datetime.fromtimestamp(store.now(), UTC),
        data=JudgedRecord(right=right),
    )
    await store.run(statements.append_signals, place, [said])
    if score is None:
        return NOT_COUNTED
    await _count_outcome(store, place, AnswerOutcome(score, right, confidence_level(over.data) == "high"), base)
    return COUNTED


async def _count_outcome(store: Store, place: Place, outcome: AnswerOutcome, base: Calibration) -> None:
    before = await read_calibration(store, place.user_id, base)
    await store.guidance.write_changes(place.user_id, _refit_calibration(before, [outcome], base)[1])


def _refit_calibration(
    before: Own, outcomes: Sequence[AnswerOutcome], base: Calibration, made_from: int | None = None
) -> tuple[Own, RevisionChange]:
    """A user's calibration with some more outcomes, and the change that writes it."""
    known = (*before.outcomes, *outcomes)[-KEPT:]
    after = replace(refit_user(base, known), high=move_threshold(before.calibration, outcomes).high)
    evidence = {"outcomes": [[outcome.score, outcome.held] for outcome in known]}
    return Own(after, known), RevisionChange(OWN, NIGHT, dump_own(after), evidence, made_from)


# The phase.


async def calibrate_confidence(night: Night) -> Result:
    """The phase: a user's own calibration from the outcomes of all nights, with the threshold of "high" moved on."""
    past = await night.store.guidance.list_revisions(night.user_id, OWN, 1)
    outcomes, last = await _outcomes_since(night)
    right = sum(outcome.held for outcome in outcomes)
    report: dict[str, float] = {UP_TO: last, "right": right, "wrong": len(outcomes) - right}
    if not outcomes:
        return Result(report, skipped="Nobody thanked, corrected or asked again where memory had something to say.")
    base = night.calibration or load_shipped()
    before = latest_calibration(past, base)
    made_from = past[0].id if past else 0  # a word on an answer while the night is at work comes first
    after, change = _refit_calibration(before, outcomes, base, made_from)
    fitted = {name: round(getattr(after.calibration, name), 4) for name in ("shift", "slope", "high")}
    report |= fitted | {"outcomes": len(after.outcomes), "held": sum(outcome.held for outcome in after.outcomes)}
    said = f"What memory said held for {count_noun(right, 'answer')}, and did not for {len(outcomes) - right}."
    return Result(
        report,
        [change],
        says=[f"{said} From {100 * after.calibration.high:.0f} % on it is now sure."],
    )


async def _outcomes_since(night: Night) -> tuple[list[AnswerOutcome], int]:
    """The outcomes since the last night, oldest first, and the last message that was looked at."""
    heard, turns = await since_last_night(night)
    evidence = await _asserted_memories(night.store, night.user, (turn.data for turn in turns))
    outcomes: list[AnswerOutcome] = []
    for session, lines in ((each.session, each.lines) for each in heard):
        # What is said while the night looks on is of the next one.
        new = [line for line in lines if line.id <= session.last]
        mine = [turn for turn in turns if turn.session_id == session.id]
        outcomes.extend(find_outcomes(new, mine, evidence, night.embed, after=night.last_seen))
    return outcomes, max((each.session.last for each in heard), default=night.last_seen)
