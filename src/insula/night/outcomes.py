"""What users give for free says how sure to be: thanks, a correction, the same question again (K3, law 7).

An outcome belongs to a question to which memory had something to say that a user or a tool had asserted (law 2); the
rest the model answered from what it knows. Silence is no outcome. The night refits the calibration of confidence from
them, drawn to the shipped one by few.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, NamedTuple

from insula.calibration import OWN, AnswerOutcome, apply_own, dump_own, move_threshold, refit_user
from insula.errors import InputError
from insula.memory.storage import statements, views
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.rows import Place, Revised, StoredSignal, TranscriptLine
from insula.memory.storage.store import Store
from insula.memory.storage.views import find_memories
from insula.night.corrections import is_users
from insula.text.analysis import Sentence, analyse_text
from insula.text.corrections import correction_likeness, judge_correction
from insula.text.pasted import PLAIN_CHARS
from insula.text.questions import AskKind, asks_in, find_asks
from insula.text.thanks import doubts_statement, gives_thanks, says_no_more
from insula.types import JUDGED, TURN, Calibration, JudgedRecord, Signal
from insula.value import is_list, is_number, is_object

KEPT = 200
"""Outcomes that a calibration rests on, the latest: what users ask changes with time."""
AGAIN = 0.95
"""From this likeness on, two questions are the same one."""
PERSON = "person"
_FAILED = frozenset({"correction", "rejection", "repair"})
_FACTS: frozenset[AskKind] = frozenset({"person", "place", "time", "number", "name"})
"""What one goes on to ask who is content with an answer; others may doubt it ("Are you sure?", "What about Porto?")."""
_HARMLESS = frozenset({"emphasis", "similar"})
"""Cues of a correction that a new question may hold: it is loud, or put like the one before."""


def find_outcomes(
    lines: Sequence[TranscriptLine],
    turns: Sequence[StoredSignal],
    evidence: Collection[int],
    *,
    name: str = "",
    after: int = 0,
) -> Iterator[AnswerOutcome]:
    """What became of the answers in one session.

    Args:
        lines: its transcript, oldest first.
        turns: the records of its turns.
        evidence: ids of the memories that count as evidence.
        name: of the agent, who may be thanked by it.
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
                score, held = (
                    _evidence_score(turn, evidence),
                    _response_held(line.content, asked.content, response, name),
                )
                if score is not None and held is not None and find_asks(analyse_text(asked.content)):
                    yield AnswerOutcome(score, held, confidence_level(turn) == "high")
            asked, response = line, ""


def _response_held(message: str, question: str, response: str, name: str) -> bool | None:
    """Whether the next message of the user's says that the response held; None where it says nothing of it."""
    if judge_correction(message, question, response).kind in _FAILED or correction_likeness(message, question) >= AGAIN:
        return False
    return True if _is_content(message, question, response, name) else None


def _is_content(message: str, question: str, response: str, name: str) -> bool:
    """Whether a message thanks and says nothing else, or nothing but what one goes on to ask who is content."""
    if len(message) > PLAIN_CHARS:
        return False
    before = analyse_text(question)
    heard = analyse_text(message, default=before.language)
    polite = list(takewhile(lambda sentence: says_no_more(sentence.text, name), heard.sentences))
    further = heard.sentences[len(polite) :]
    return any(gives_thanks(sentence.text) for sentence in polite) and all(
        _goes_on(sentence, heard.language, before.terms)
        and _HARMLESS.issuperset(judge_correction(sentence.text, question, response).cues)
        for sentence in further
    )


def _goes_on(sentence: Sentence, language: str, asked: Collection[str]) -> bool:
    """Whether a sentence asks for facts, each time for one about something that was not asked for before.

    "Where did you get that?" asks for none: it doubts.
    """
    asks = list(asks_in(sentence, language))
    return (
        bool(asks)
        and not doubts_statement(sentence.text)
        and all(ask.kind in _FACTS and not set(asked).issuperset(ask.terms) for ask in asks)
    )


def _evidence_score(turn: Mapping[str, Any], evidence: Collection[int]) -> float | None:
    """The confidence of a turn before it was adjusted, where memory had evidence to show."""
    score = turn.get("unadjusted")
    return (
        float(score)
        if is_number(score) and _is_evident(score) and not shown_memories(turn).isdisjoint(evidence)
        else None
    )


async def score_of(store: Store, user: str, turn: Mapping[str, Any]) -> float | None:
    """The confidence of one turn before it was adjusted, where memory had evidence to show."""
    held = await store.read(find_memories, user, sorted(shown_memories(turn)))
    asserted = (
        memory for memory in held.values() if memory.provenance in {"user", "tool"} and memory.kind == "semantic"
    )
    return _evidence_score(turn, frozenset(memory.id for memory in asserted))


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
    """The outcomes that the last calibration rests on; none after a person began anew."""
    pairs = past[0].evidence.get("outcomes") if past else None
    whole = (pair for pair in pairs if is_list(pair) and len(pair) == 2) if is_list(pairs) else ()
    return [AnswerOutcome(float(score), bool(held)) for score, held in whole if is_number(score) and _is_evident(score)]


class Own(NamedTuple):
    """A user's own calibration, and the outcomes it rests on."""

    calibration: Calibration
    outcomes: tuple[AnswerOutcome, ...]

    def as_json(self) -> dict[str, Any]:
        """What of it is the user's own, and what it rests on."""
        held = sum(outcome.held for outcome in self.outcomes)
        return {**json.loads(dump_own(self.calibration)), "outcomes": len(self.outcomes), "held": held}


async def read_calibration(store: Store, user_id: int, base: Calibration) -> Own:
    """How the confidence of a user is calibrated now, beginning with `base`."""
    return latest_calibration(await store.guidance.list_revisions(user_id, OWN, 1), base)


def latest_calibration(past: Sequence[Revised], base: Calibration) -> Own:
    """The calibration that the latest revision holds; `base` where there is none."""
    return Own(apply_own(base, past[0].content) if past else base, tuple(_known_outcomes(past)))


async def reset_calibration(store: Store, user_id: int) -> None:
    """Go back to the calibration that everybody begins with, and count outcomes anew."""
    await store.guidance.add_revision(user_id, RevisionChange(OWN, PERSON, "{}", {}))


NIGHT = "night"
COUNTED = "It counts for how sure to be with you."
NOT_COUNTED = "It is kept; what you asked was nothing that memory had to answer, so it says nothing of how sure to be."


async def judge_answer(store: Store, user: str, session: str, turn: int, right: bool, base: Calibration) -> str:
    """Take a person's word on the answer of a turn; returns what comes of it, in a sentence.

    Args:
        store: where the turn stands.
        user: who says so.
        session: of the turn.
        turn: its number.
        right: whether the answer was right.
        base: the calibration that everybody begins with.

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
    score = await score_of(store, user, over.data)
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
    known = (*before.outcomes, outcome)[-KEPT:]
    after = replace(refit_user(base, known), high=move_threshold(before.calibration, [outcome]).high)
    evidence = {"outcomes": [[outcome.score, outcome.held] for outcome in known]}
    await store.guidance.add_revision(place.user_id, RevisionChange(OWN, NIGHT, dump_own(after), evidence))
