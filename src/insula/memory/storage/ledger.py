"""The ledger of guidance as a person sees it: what stands and stood, why, and decisions that can be undone."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from insula.memory.retrieval import index
from insula.memory.storage import journal
from insula.memory.storage.changes import Retired, RevisionChange
from insula.memory.storage.nights import list_guidance, revisions_of
from insula.memory.storage.rows import StoredGuidance
from insula.memory.storage.schema import lessons, revisions, signals

Do = Literal["accept", "mute", "unmute", "pin", "unpin", "edit", "forget", "undo"]
PERSON = "person"
SUBJECT = "lesson:"
"""Before the key of a piece: the subject of its revisions."""
PAST = 50
"""Records of one piece of guidance that are looked back on."""
_MODES: Mapping[str, str] = {"mute": "muted", "unmute": "", "pin": "pinned", "unpin": ""}


class GuidancePiece(NamedTuple):
    """A piece of guidance with what became of it."""

    kept: StoredGuidance
    retired: str
    """Why it is told no more; empty while it stands."""
    by: str = ""
    """Key of what took its place."""
    is_decided: bool = False
    """Whether something was decided on it that can be undone."""


Past = Sequence[tuple[int, Mapping[str, Any]]]
"""What became of a piece, newest first: the numbers and the evidence of its revisions."""


def list_pieces(connection: sa.Connection, user_id: int) -> list[GuidancePiece]:
    """All guidance of a user that stands or was retired; what was erased is gone."""
    past = _read_past(connection, user_id)
    every = (guidance for guidance in list_guidance(connection, user_id, retired=True) if guidance.advice)
    return [_make_piece(guidance, past.get(guidance.key, ())) for guidance in every]


def _read_past(connection: sa.Connection, user_id: int) -> Mapping[str, Past]:
    """What became of each piece of guidance, by its key."""
    mine = sa.and_(revisions.c.user_id == user_id, revisions.c.subject.startswith(SUBJECT, autoescape=True))
    query = sa.select(revisions.c.subject, revisions.c.id, revisions.c.evidence).where(mine)
    past: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for subject, number, evidence in connection.execute(query.order_by(revisions.c.id.desc())):
        past.setdefault(subject.removeprefix(SUBJECT), []).append((number, evidence))
    return past


def _make_piece(guidance: StoredGuidance, past: Past) -> GuidancePiece:
    is_decided = _last_decided(past) is not None
    if not guidance.is_retired:
        return GuidancePiece(guidance, "", "", is_decided)
    last = next((evidence for _, evidence in past if evidence.get("retired")), None)
    why, by = (str(last["why"]), str(last.get("by", ""))) if last else ("retired", "")
    return GuidancePiece(guidance, why, by, is_decided)


def _last_decided(past: Past) -> int | None:
    """The number of the last decision that was not taken back."""
    undone = {evidence.get("undoes") for _, evidence in past}
    return next((number for number, evidence in past if _can_be_undone(evidence) and number not in undone), None)


def last_told(connection: sa.Connection, user_id: int, number: int) -> float | None:
    """When a piece of guidance was last told; None where it never was."""
    mine = sa.and_(signals.c.user_id == user_id, signals.c.kind == "meta:turn")
    query = sa.select(signals.c.data, signals.c.at).where(mine).order_by(signals.c.id.desc()).limit(1_000)
    for data, at in connection.execute(query):
        if any(used.get("id") == number and used.get("arm") == "shown" for used in data.get("lessons", ())):
            return at
    return None


def record_decision(
    connection: sa.Connection, user_id: int, guidance: StoredGuidance, do: Do, at: float, text: str = ""
) -> bool:
    """Write down what a person decided; False where there is nothing to undo."""
    index.begin_write(connection, user_id)
    if do == "undo":
        return _undo_decision(connection, user_id, guidance.key, at)
    if do == "forget":
        journal.apply_change(Retired(guidance.key, PERSON, "forgotten by you"), connection, user_id, at)
        return True
    before = {"advice": guidance.advice, "mode": guidance.mode, "author": guidance.author}
    _update_lesson(connection, user_id, guidance.key, _apply_decision(guidance, do, text))
    past = RevisionChange(f"{SUBJECT}{guidance.key}", PERSON, guidance.advice, {"why": do, "before": before})
    journal.apply_change(past, connection, user_id, at)
    return True


def _apply_decision(guidance: StoredGuidance, do: Do, text: str) -> dict[str, Any]:
    if do == "edit":
        return {"advice": text, "author": PERSON}
    return {"author": PERSON} if do == "accept" else {"mode": _MODES[do]}


def _update_lesson(connection: sa.Connection, user_id: int, key: str, values: Mapping[str, Any]) -> None:
    mine = sa.and_(lessons.c.user_id == user_id, lessons.c.key == key)
    connection.execute(sa.update(lessons).where(mine).values(**values))


def _undo_decision(connection: sa.Connection, user_id: int, key: str, at: float) -> bool:
    """Take back the last decision on a piece of guidance that still stands: a person's, or what retired it."""
    past = revisions_of(connection, user_id, f"{SUBJECT}{key}", PAST)
    number = _last_decided([(revision.id, revision.evidence) for revision in past])
    last = next((revision for revision in past if revision.id == number), None)
    if last is None:
        return False
    _update_lesson(connection, user_id, key, last.evidence.get("before", {"retired_at": None}))
    if by := str(last.evidence.get("by", "")):
        journal.apply_change(Retired(by, PERSON, "undone: what it had replaced is back", key), connection, user_id, at)
    back = RevisionChange(f"{SUBJECT}{key}", PERSON, last.content, {"why": "undone", "undoes": last.id})
    journal.apply_change(back, connection, user_id, at)
    return True


def bring_back(connection: sa.Connection, user_id: int, names: frozenset[str], at: float) -> None:
    """Let what was retired stand again."""
    every = list_guidance(connection, user_id, retired=True)
    standing = {guidance.name for guidance in every if not guidance.is_retired}
    for guidance in every:
        if guidance.name in names - standing:
            _undo_decision(connection, user_id, guidance.key, at)


def _can_be_undone(evidence: Mapping[str, Any]) -> bool:
    return "before" in evidence or bool(evidence.get("retired"))
