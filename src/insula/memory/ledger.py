"""The ledger of guidance as a person sees it: what stands and stood, why, and decisions that can be undone."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from insula.memory import index, journal
from insula.memory.changes import Retired, Revision
from insula.memory.nights import kept, revisions_of
from insula.memory.rows import Kept, Revised
from insula.memory.schema import lessons, signals

Do = Literal["accept", "mute", "unmute", "pin", "unpin", "edit", "forget", "undo"]
PERSON = "person"
PAST = 50
"""Records of one piece of guidance that are looked back on."""
_MODES: Mapping[str, str] = {"mute": "muted", "unmute": "", "pin": "pinned", "unpin": ""}


class Piece(NamedTuple):
    """A piece of guidance with what became of it."""

    kept: Kept
    retired: str
    """Why it is told no more; empty while it stands."""
    by: str = ""
    """Key of what took its place."""


def pieces(connection: sa.Connection, user_id: int) -> list[Piece]:
    """All guidance of a user that stands or was retired; what was erased is gone."""
    standing = {one.key for one in kept(connection, user_id)}
    every = [one for one in kept(connection, user_id, retired=True) if one.advice]
    return [Piece(one, *(("", "") if one.key in standing else _ended(connection, user_id, one.key))) for one in every]


def _ended(connection: sa.Connection, user_id: int, key: str) -> tuple[str, str]:
    """Why guidance is told no more, and what took its place."""
    past = revisions_of(connection, user_id, f"lesson:{key}", PAST)
    last = next((one.evidence for one in past if one.evidence.get("retired")), None)
    return (str(last["why"]), str(last.get("by", ""))) if last else ("retired", "")


def last_told(connection: sa.Connection, user_id: int, number: int) -> float | None:
    """When a piece of guidance was last told; None where it never was."""
    mine = sa.and_(signals.c.user_id == user_id, signals.c.kind == "meta:turn")
    query = sa.select(signals.c.data, signals.c.at).where(mine).order_by(signals.c.id.desc()).limit(1_000)
    for data, at in connection.execute(query):
        if any(used.get("id") == number and used.get("arm") == "shown" for used in data.get("lessons", ())):
            return at
    return None


def decide(connection: sa.Connection, user_id: int, one: Kept, do: Do, at: float, text: str = "") -> bool:
    """Write down what a person decided; False where there is nothing to undo."""
    index.begin(connection, user_id)
    if do == "undo":
        return _undo(connection, user_id, one.key, at)
    if do == "forget":
        journal.apply(Retired(one.key, PERSON, "forgotten by you"), connection, user_id, at)
        return True
    before = {"advice": one.advice, "mode": one.mode, "author": one.author}
    _write(connection, user_id, one.key, _after(one, do, text))
    past = Revision(f"lesson:{one.key}", PERSON, one.advice, {"why": do, "before": before})
    journal.apply(past, connection, user_id, at)
    return True


def _after(one: Kept, do: Do, text: str) -> dict[str, Any]:
    if do == "edit":
        return {"advice": text, "author": PERSON}
    return {"author": PERSON} if do == "accept" else {"mode": _MODES[do]}


def _write(connection: sa.Connection, user_id: int, key: str, values: Mapping[str, Any]) -> None:
    mine = sa.and_(lessons.c.user_id == user_id, lessons.c.key == key)
    connection.execute(sa.update(lessons).where(mine).values(**values))


def _undo(connection: sa.Connection, user_id: int, key: str, at: float) -> bool:
    """Take back the last decision on a piece of guidance that still stands: a person's, or what retired it."""
    past = revisions_of(connection, user_id, f"lesson:{key}", PAST)
    undone = {one.evidence.get("undoes") for one in past}
    last = next((one for one in past if _can_be_undone(one) and one.id not in undone), None)
    if last is None:
        return False
    _write(connection, user_id, key, last.evidence.get("before", {"retired_at": None}))
    if by := str(last.evidence.get("by", "")):
        journal.apply(Retired(by, PERSON, "undone: what it had replaced is back", key), connection, user_id, at)
    back = Revision(f"lesson:{key}", PERSON, last.content, {"why": "undone", "undoes": last.id})
    journal.apply(back, connection, user_id, at)
    return True


def bring_back(connection: sa.Connection, user_id: int, names: frozenset[str], at: float) -> None:
    """Let what was retired stand again."""
    standing = {one.name for one in kept(connection, user_id)}
    for one in kept(connection, user_id, retired=True):
        if one.name in names - standing:
            _undo(connection, user_id, one.key, at)


def _can_be_undone(one: Revised) -> bool:
    return "before" in one.evidence or bool(one.evidence.get("retired"))
