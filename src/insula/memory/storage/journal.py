"""What a night writes: its journal, and the changes of its phases; what brings them back; and what a night begins with.

A phase and its entry in the journal are written in one transaction, so that it is done exactly once.
"""

import json
from collections.abc import Mapping
from functools import singledispatch
from itertools import count
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert  # SQLite's own statement reads the same

from insula.errors import StoreError
from insula.memory.retrieval import index
from insula.memory.storage.changes import (
    Changes,
    Forget,
    InsightChange,
    LessonChange,
    Lived,
    Merge,
    Noted,
    Retired,
    RevisionChange,
    Reworded,
    Summary,
)
from insula.memory.storage.nights import CADENCE, DERIVES, END, MIN_MESSAGES, REST, UP_TO, sessions_of
from insula.memory.storage.rows import StoredSession
from insula.memory.storage.schema import (
    evidence,
    lessons,
    memories,
    messages,
    nights,
    relations,
    revisions,
    signals,
    summaries,
)
from insula.memory.storage.statements import GENERATED

MERGES = "MERGES"
DONE, ASKED = "done", "asked"
"""States of an entry: a phase that is done, and the answer to a question that a phase asked on its way."""
RESTORED = "restored"
"""Why a memory is back: a person said so, and no night takes it away again."""
DERIVED_CONFIDENCE = 0.9
"""Confidence of the relation from an insight to a session that it cites (seed 004)."""


_REPORT = sa.cast(nights.c.report, sa.Text).label("report")
"""As it stands on the disk: one broken entry must not hide the others."""
_MINE = nights.c.user_id == sa.bindparam("user")
_JOURNAL = sa.select(nights.c.phase, _REPORT).where(
    _MINE, nights.c.night == sa.bindparam("one"), nights.c.state.in_((DONE, ASKED))
)
_LAST = sa.select(sa.func.max(nights.c.id)).where(_MINE, nights.c.state == DONE).group_by(nights.c.phase)
_LAST_REPORTS = sa.select(nights.c.phase, _REPORT).where(nights.c.id.in_(_LAST))
_ENTRY = insert(nights).on_conflict_do_nothing().returning(nights.c.id)


def write_changes(connection: sa.Connection, user_id: int, changes: Changes, at: float) -> None:
    """Write some changes that no phase of a night made."""
    index.begin_write(connection, user_id)
    for change in changes:
        apply_change(change, connection, user_id, at)


def read_journal(connection: sa.Connection, user_id: int, night: str) -> dict[str, Mapping[str, Any]]:
    """The reports of the phases of a night that are done, and the answers that they got."""
    return {
        row.phase: _parse_report(row.report) for row in connection.execute(_JOURNAL, {"user": user_id, "one": night})
    }


def _parse_report(text: str) -> Mapping[str, Any]:
    """A report; of an entry that somebody broke nothing but that there is one."""
    try:
        report: object = json.loads(text)
    except ValueError:
        return {}
    return cast("Mapping[str, Any]", report) if isinstance(report, dict) else {}


def last_reports(connection: sa.Connection, user_id: int) -> dict[str, Mapping[str, Any]]:
    """What each phase reported when it was last done."""
    return {row.phase: _parse_report(row.report) for row in connection.execute(_LAST_REPORTS, {"user": user_id})}


def reports_after(connection: sa.Connection, user_id: int, phase: str, other: str) -> list[Mapping[str, Any]]:
    """The reports of a phase since another one was last done, oldest first."""
    mine = sa.and_(nights.c.user_id == user_id, nights.c.state == DONE)
    last = sa.select(sa.func.coalesce(sa.func.max(nights.c.id), 0)).where(mine, nights.c.phase == other)
    query = sa.select(_REPORT).where(mine, nights.c.phase == phase, nights.c.id > last.scalar_subquery())
    return [_parse_report(text) for text in connection.execute(query.order_by(nights.c.id)).scalars()]


def _find_unfinished(connection: sa.Connection, user_id: int) -> tuple[str, float] | None:
    """The latest night where it was begun and not ended, and when its last entry was written."""
    mine = sa.and_(nights.c.user_id == user_id, nights.c.night.not_like(f"{REST}%"))
    query = sa.select(nights.c.night, nights.c.at).where(mine)
    last = connection.execute(query.order_by(nights.c.id.desc()).limit(1)).one_or_none()
    return (last.night, last.at) if last and END not in read_journal(connection, user_id, last.night) else None


def last_night(connection: sa.Connection, user_id: int, phase: str) -> tuple[str, float] | None:
    """The last night in which a phase was done, and when; None where it never was."""
    query = (
        sa.select(nights.c.night, nights.c.at)
        .where(nights.c.user_id == user_id, nights.c.phase == phase, nights.c.state == DONE)
        .order_by(nights.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return (row.night, row.at) if row else None


def record_phase(
    connection: sa.Connection,
    user_id: int,
    night: str,
    phase: str,
    report: Mapping[str, Any],
    changes: Changes,
    at: float,
    state: str = DONE,
) -> bool:
    """Write what a phase changes, and that it is done; False, and nothing written, where it was done already."""
    index.begin_write(connection, user_id)  # between the look and the entry no other process writes one
    row = {"user_id": user_id, "night": night, "phase": phase, "state": state, "report": dict(report), "at": at}
    if connection.execute(_ENTRY, row).scalar() is None:
        return False
    for change in changes:
        apply_change(change, connection, user_id, at)
    return True


@singledispatch
def apply_change(change: object, connection: sa.Connection, user_id: int, at: float) -> None:
    """Write one change."""
    raise TypeError(f"{type(change).__name__} is no change.")


@apply_change.register
def _(change: Summary, connection: sa.Connection, user_id: int, at: float) -> None:
    memory = _write_derived(connection, user_id, change.session_id, "episodic", change.content, at, 0.5, GENERATED)
    old = sa.select(summaries.c.memory_id).where(summaries.c.session_id == change.session_id)
    if (before := connection.execute(old).scalar()) is not None:
        connection.execute(sa.delete(summaries).where(summaries.c.session_id == change.session_id))
        connection.execute(sa.update(memories).where(memories.c.id == before).values(retired_at=at))
    values = {"topics": list(change.topics), "messages": change.messages, "up_to": change.up_to, "at": at}
    connection.execute(
        sa.insert(summaries).values(user_id=user_id, session_id=change.session_id, memory_id=memory, **values)
    )


@apply_change.register
def _(change: InsightChange, connection: sa.Connection, user_id: int, at: float) -> None:
    memory = _write_insight(change, connection, user_id, at)
    linked = sa.select(relations.c.target_id).where(relations.c.source_id == memory, relations.c.kind == DERIVES)
    known = connection.execute(sa.select(memories.c.session_id).where(memories.c.id.in_(linked))).scalars().all()
    for session in sorted({*change.sessions} - {*known}):
        if (target := _standing_for(connection, user_id, session)) is not None:
            relate_memories(connection, user_id, memory, target, DERIVES, DERIVED_CONFIDENCE, at)


def _standing_for(connection: sa.Connection, user_id: int, session_id: int) -> int | None:
    """The memory that stands for a session: its summary, else what was said last in it."""
    summary = sa.select(summaries.c.memory_id).where(
        summaries.c.user_id == user_id, summaries.c.session_id == session_id
    )
    said = sa.and_(memories.c.session_id == session_id, memories.c.message_id.is_not(None))
    last = sa.select(sa.func.max(memories.c.id)).where(memories.c.user_id == user_id, said)
    return connection.execute(summary).scalar() or connection.execute(last).scalar()


def _write_insight(change: InsightChange, connection: sa.Connection, user_id: int, at: float) -> int:
    """The row of an insight: one, however often more sessions bear it out."""
    same = sa.and_(memories.c.user_id == user_id, memories.c.kind == "insight", memories.c.content == change.content)
    query = sa.select(memories.c.id).where(same, memories.c.retired_at.is_(None)).order_by(memories.c.id.desc())
    memory_id = connection.execute(query.limit(1)).scalar()
    sure = {"importance": change.importance, "confidence": change.confidence}
    if memory_id is None:
        return _write_derived(connection, user_id, change.sessions[-1], "insight", change.content, at, **sure)
    connection.execute(sa.update(memories).where(memories.c.id == memory_id).values(**sure))
    return memory_id


@apply_change.register
def _(change: Merge, connection: sa.Connection, user_id: int, at: float) -> None:
    others = sa.and_(memories.c.user_id == user_id, memories.c.id.in_(change.others))
    uses = connection.execute(sa.select(sa.func.coalesce(sa.func.sum(memories.c.uses), 0)).where(others)).scalar_one()
    condition = sa.and_(memories.c.user_id == user_id, memories.c.id == change.kept)
    connection.execute(sa.update(memories).where(condition).values(uses=memories.c.uses + uses))
    for other in change.others:
        relate_memories(connection, user_id, change.kept, other, MERGES, 1.0, at)
        _retire_memory(connection, user_id, other, f"merged into {change.kept}: {change.why}", at)


@apply_change.register
def _(change: Forget, connection: sa.Connection, user_id: int, at: float) -> None:
    _retire_memory(connection, user_id, change.memory_id, change.why, at)


@apply_change.register
def _(change: LessonChange, connection: sa.Connection, user_id: int, at: float) -> None:
    mine = sa.and_(lessons.c.user_id == user_id, lessons.c.key == change.key)
    row = connection.execute(sa.select(lessons.c.citations, lessons.c.retired_at).where(mine)).one_or_none()
    if row is None:
        values = change._asdict() | {"trigger": list(change.trigger), "citations": list(change.citations)}
        connection.execute(sa.insert(lessons).values(user_id=user_id, created_at=at, **values))
        return
    together = sorted({*row.citations, *change.citations})
    sharper = {} if change.section else {"trigger": list(change.trigger), "advice": change.advice}
    connection.execute(sa.update(lessons).where(mine).values(citations=together, retired_at=None, **sharper))


@apply_change.register
def _(change: Retired, connection: sa.Connection, user_id: int, at: float) -> None:
    mine = sa.and_(lessons.c.user_id == user_id, lessons.c.key == change.key, lessons.c.retired_at.is_(None))
    advice = connection.execute(sa.select(lessons.c.advice).where(mine)).scalar()
    if advice is None:
        return
    connection.execute(sa.update(lessons).where(mine).values(retired_at=at))
    why = {"why": change.why, "retired": True, "by": change.by, "message": change.message}
    apply_change(RevisionChange(f"lesson:{change.key}", change.author, advice, why), connection, user_id, at)


@apply_change.register
def _(change: Reworded, connection: sa.Connection, user_id: int, at: float) -> None:
    mine = sa.and_(lessons.c.user_id == user_id, lessons.c.key == change.key)
    query = sa.select(lessons.c.advice, lessons.c.mode, lessons.c.author)
    old = connection.execute(query.where(mine)).one_or_none()
    if old is None:
        return
    connection.execute(sa.update(lessons).where(mine).values(advice=change.advice))
    why = {"why": change.why, "before": {"advice": old.advice, "mode": old.mode, "author": old.author}}
    apply_change(RevisionChange(f"lesson:{change.key}", "night", old.advice, why), connection, user_id, at)


@apply_change.register
def _(change: Noted, connection: sa.Connection, user_id: int, at: float) -> None:
    turn = sa.select(sa.func.coalesce(sa.func.max(messages.c.turn), 0)).where(
        messages.c.session_id == change.session_id
    )
    values = {"turn": connection.execute(turn).scalar_one(), "data": dict(change.data), "at": at}
    row = {"user_id": user_id, "session_id": change.session_id, "kind": change.kind, "reason": change.reason}
    connection.execute(sa.insert(signals), row | values)


@apply_change.register
def _(change: Lived, connection: sa.Connection, user_id: int, at: float) -> None:
    index.add_missing(connection, evidence, {"user_id": user_id, "at": at, **change._asdict()})


@apply_change.register
def _(change: RevisionChange, connection: sa.Connection, user_id: int, at: float) -> None:
    values = change._asdict() | {"evidence": dict(change.evidence)}
    after = values.pop("after")
    if after is not None and after != _latest_revision(connection, user_id, change.subject):
        raise StoreError(
            f"Somebody changed the {change.subject} in the meantime, and that stands; start the night again, and it "
            "begins with that."
        )
    connection.execute(sa.insert(revisions).values(user_id=user_id, at=at, **values))


def _latest_revision(connection: sa.Connection, user_id: int, subject: str) -> int:
    """The id of the state of something derived that stands; 0 where there is none."""
    mine = sa.and_(revisions.c.user_id == user_id, revisions.c.subject == subject)
    return connection.execute(sa.select(sa.func.coalesce(sa.func.max(revisions.c.id), 0)).where(mine)).scalar_one()


def _write_derived(
    connection: sa.Connection,
    user_id: int,
    session_id: int,
    kind: str,
    content: str,
    at: float,
    importance: float,
    confidence: float,
) -> int:
    """A memory of the night's own: kept, and never recalled (law 2)."""
    statement = sa.insert(memories).values(
        user_id=user_id,
        session_id=session_id,
        kind=kind,
        provenance="derived",
        speaker="assistant",
        language="",
        content=content,
        line="",
        claims="",
        importance=importance,
        confidence=confidence,
        salience=0.0,
        used_at="[]",
        said_at=at,
        promoted_at=at,
    )
    return connection.execute(statement.returning(memories.c.id)).scalar_one()


def relate_memories(
    connection: sa.Connection, user_id: int, source: int, target: int, kind: str, confidence: float, at: float
) -> None:
    """Write a relation between two memories."""
    values = {"source_id": source, "target_id": target, "kind": kind, "confidence": confidence, "created_at": at}
    connection.execute(sa.insert(relations).values(user_id=user_id, **values))


def _retire_memory(connection: sa.Connection, user_id: int, memory_id: int, why: str, at: float) -> None:
    """Take a memory out of recall, with a record of what it was (law 8)."""
    condition = sa.and_(memories.c.user_id == user_id, memories.c.id == memory_id, memories.c.retired_at.is_(None))
    row = connection.execute(sa.select(memories).where(condition)).one_or_none()
    if row is None:
        return
    connection.execute(sa.update(memories).where(condition).values(retired_at=at))
    index.remove_entries(connection, user_id, index.entries_of(row))
    apply_change(RevisionChange(f"memory:{memory_id}", "night", row.content, {"why": why}), connection, user_id, at)


def restore_memory(connection: sa.Connection, user_id: int, memory_id: int, at: float) -> bool:
    """Bring a retired memory back into long-term memory; False where there is none such, or it was erased."""
    index.begin_write(connection, user_id)
    condition = sa.and_(memories.c.user_id == user_id, memories.c.id == memory_id, memories.c.retired_at.is_not(None))
    held = sa.and_(memories.c.provenance != "derived", memories.c.content != "")
    row = connection.execute(sa.select(memories).where(condition, held)).one_or_none()
    if row is None:
        return False
    connection.execute(sa.update(memories).where(condition).values(retired_at=None, promoted_at=at))
    index.add_entries(connection, user_id, index.entries_of(row))
    apply_change(RevisionChange(f"memory:{memory_id}", "person", "", {"why": RESTORED}), connection, user_id, at)
    return True


class Evening(NamedTuple):
    """How a user's nights stand before one of them begins, or goes on."""

    night: str
    """Its name."""
    done: Mapping[str, Mapping[str, Any]]
    """What stands in its journal."""
    why: str
    """Why there is to be no night (R1); nothing where there is."""
    since: float
    """When the last one ended; 0 before the first."""
    last: Mapping[str, Mapping[str, Any]]
    """What each phase reported when it was last done."""
    sessions: list[StoredSession]


def check_preconditions(
    connection: sa.Connection, user_id: int, day: str, now: float, *, night: str | None = None, force: bool = False
) -> Evening:
    """How a user's nights stand now.

    Args:
        day: the date where the user is.
        night: its name; by default that of the one that was stopped lately, else the first of today that has not
            ended: a second night of a day is one of its own, not a repetition.
        force: whether there is to be one though the last was lately or nothing happened since.
    """
    name, done = (
        (night, read_journal(connection, user_id, night)) if night else _find_night(connection, user_id, day, now)
    )
    ended = last_night(connection, user_id, END)
    last = last_reports(connection, user_id)
    sessions = sessions_of(connection, user_id)
    why = (
        ""
        if force or (done and END not in done)
        else _explain_wait(now, ended and ended[1], last.get(END, {}), sessions)
    )
    return Evening(name, done, why, ended[1] if ended else 0.0, last, sessions)


def _find_night(
    connection: sa.Connection, user_id: int, day: str, now: float
) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
    stopped = _find_unfinished(connection, user_id)
    if stopped and abs(now - stopped[1]) < CADENCE:
        return stopped[0], read_journal(connection, user_id, stopped[0])
    names = (day if number == 1 else f"{day}-{number}" for number in count(1))
    return next((name, done) for name in names if END not in (done := read_journal(connection, user_id, name)))


def _explain_wait(now: float, ended: float | None, end: Mapping[str, Any], sessions: list[StoredSession]) -> str:
    if ended is not None and 0 <= now - ended < CADENCE:
        return "The last night was less than 20 hours ago."
    if not any(session.messages >= MIN_MESSAGES and session.last > end.get(UP_TO, 0) for session in sessions):
        return f"No session with {MIN_MESSAGES} messages or more since the last night."
    return ""
