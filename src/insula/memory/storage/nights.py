"""What a night reads, as functions of a connection; `Store` runs them in transactions."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from insula.guidance import Evidence
from insula.memory.retrieval.query import load_terms
from insula.memory.storage.prepared import is_among
from insula.memory.storage.rows import (
    RememberedItem,
    Revised,
    StoredGuidance,
    StoredSession,
    StoredSignal,
    Summarised,
    Understood,
)
from insula.memory.storage.schema import (
    evidence,
    lessons,
    memories,
    messages,
    nights,
    relations,
    revisions,
    sessions,
    signals,
    summaries,
    users,
)

MEMORY = "memory:"
"""How the subject of a revision begins that is a memory."""
DERIVES = "DERIVES"
"""The relation from an insight to the summary of a session that it cites."""

_USER: sa.BindParameter[int] = sa.bindparam("user", type_=sa.BigInteger)
_SESSIONS = (
    sa.select(
        sessions.c.id,
        sessions.c.name,
        sa.func.count(messages.c.id),
        sa.func.max(messages.c.id).label("last"),
        sa.func.max(messages.c.said_at),
        sa.func.coalesce(sa.func.max(summaries.c.up_to), 0),
    )
    .join(messages, messages.c.session_id == sessions.c.id)
    .outerjoin(summaries, summaries.c.session_id == sessions.c.id)
    .where(sessions.c.user_id == _USER)
    .group_by(sessions.c.id)
    .order_by(sa.func.max(messages.c.id))
)
_LESSONS = sa.select(lessons).where(lessons.c.user_id == _USER).order_by(lessons.c.id)
_STANDING = _LESSONS.where(lessons.c.retired_at.is_(None))
_LIVED = sa.select(
    evidence.c.lesson_id, evidence.c.session_id, evidence.c.arm, evidence.c.happened, evidence.c.at
).where(evidence.c.user_id == _USER)
_NOTICED = (
    sa.select(signals.c.session_id, signals.c.turn, signals.c.kind, signals.c.data, signals.c.at)
    .where(signals.c.user_id == _USER, is_among(signals.c.kind, "kinds"))
    .order_by(signals.c.id)
)
_NOTICED_IN = _NOTICED.where(is_among(signals.c.session_id, "within"))
_NOTICED_SINCE = _NOTICED.where(signals.c.at >= sa.bindparam("since"))
_REVISED = (
    sa.select(revisions.c.id, revisions.c.author, revisions.c.content, revisions.c.evidence, revisions.c.at)
    .where(revisions.c.user_id == _USER, revisions.c.subject == sa.bindparam("subject"))
    .order_by(revisions.c.id.desc())
    .limit(sa.bindparam("most", type_=sa.Integer))
)


def sessions_of(connection: sa.Connection, user_id: int) -> list[StoredSession]:
    """A user's sessions, oldest first."""
    return [StoredSession(*row) for row in connection.execute(_SESSIONS, {"user": user_id})]


def user_id(connection: sa.Connection, user: str) -> int | None:
    """The id of a user; None where there is none of that name."""
    return connection.execute(sa.select(users.c.id).where(users.c.name == user)).scalar()


def summaries_of(connection: sa.Connection, user_id: int, limit: int) -> list[Summarised]:
    """The summaries that were written last, in the order of their sessions."""
    ended = sa.select(messages.c.said_at).where(messages.c.id == summaries.c.up_to).scalar_subquery()
    held = summaries.c
    query = (
        sa.select(held.session_id, memories.c.content, held.topics, held.messages, ended, held.memory_id, held.up_to)
        .join(memories, memories.c.id == summaries.c.memory_id)
        .where(summaries.c.user_id == user_id)
        .order_by(summaries.c.memory_id.desc())
        .limit(limit)
    )
    rows = sorted(connection.execute(query), key=lambda row: row.up_to)
    return [Summarised(r[0], r[1], tuple(r[2]), r[3], r[4] or 0.0, r[5]) for r in rows]


def insights_of(connection: sa.Connection, user_id: int, limit: int) -> list[Understood]:
    """The latest insights, newest first, each with the sessions that it cites."""
    mine, source = memories.alias("mine"), memories.alias("source")
    query = (
        sa.select(mine.c.id, mine.c.content, mine.c.importance, mine.c.confidence)
        .where(mine.c.user_id == user_id, mine.c.kind == "insight", mine.c.retired_at.is_(None))
        .order_by(mine.c.id.desc())
        .limit(limit)
    )
    rows = connection.execute(query).all()
    cited = (
        sa.select(relations.c.source_id, source.c.session_id)
        .join(source, source.c.id == relations.c.target_id)
        .where(relations.c.user_id == user_id, relations.c.kind == DERIVES)
        .where(relations.c.source_id.in_([row.id for row in rows]))
    )
    within: dict[int, set[int]] = {row.id: set() for row in rows}
    for insight, session in connection.execute(cited):
        within[insight].add(session)
    return [
        Understood(row.id, row.content, tuple(sorted(within[row.id])), row.importance, row.confidence) for row in rows
    ]


def list_remembered(connection: sa.Connection, user_id: int, limit: int) -> list[RememberedItem]:
    """The latest items of long-term memory that somebody said, newest first."""
    mine = memories.c
    query = (
        sa.select(memories)
        .where(mine.user_id == user_id, mine.promoted_at.is_not(None), mine.retired_at.is_(None))
        .where(mine.provenance != "derived")
        .order_by(mine.id.desc())
        .limit(limit)
    )
    said = words_on(connection, user_id)
    return [_make_remembered(row, said.get(row.id, "") != "") for row in connection.execute(query)]


def words_on(connection: sa.Connection, user_id: int, ids: Sequence[int] | None = None) -> dict[int, str | None]:
    """A person's last word on memories, of some or of all: `pinned`, `muted`, nothing; None where they brought it back.

    Of a memory on which nothing was said nothing is told.
    """
    mine = sa.and_(revisions.c.user_id == user_id, revisions.c.author == "person")
    these = (
        revisions.c.subject.startswith(MEMORY) if ids is None else revisions.c.subject.in_(map(_revision_subject, ids))
    )
    query = sa.select(revisions.c.subject, revisions.c.evidence).where(mine, these).order_by(revisions.c.id)
    return {int(subject.removeprefix(MEMORY)): said.get("mode") for subject, said in connection.execute(query)}


def _revision_subject(number: int) -> str:
    return f"{MEMORY}{number}"


def _make_remembered(row: sa.Row[Any], restored: bool) -> RememberedItem:
    return RememberedItem(
        id=row.id,
        session_id=row.session_id,
        kind=row.kind,
        provenance=row.provenance,
        speaker=row.speaker,
        language=row.language,
        content=row.content,
        importance=row.importance,
        terms=frozenset(load_terms(row.claims)),
        said_at=row.said_at,
        uses=row.uses,
        used_at=tuple(json.loads(row.used_at)),
        restored=restored,
    )


def list_guidance(connection: sa.Connection, user_id: int, *, retired: bool = False) -> list[StoredGuidance]:
    """A user's lessons and guidelines with their evidence; those that were retired only where they are asked for."""
    rows = connection.execute(_LESSONS if retired else _STANDING, {"user": user_id}).all()
    if not rows:
        return []
    said: dict[int, list[Evidence]] = {}
    for lesson, session, arm, happened, at in connection.execute(_LIVED, {"user": user_id}):
        said.setdefault(lesson, []).append(Evidence(session=str(session), at=at, arm=arm, happened=happened))
    return [
        StoredGuidance(
            id=row.id,
            key=row.key,
            advice=row.advice,
            trigger=tuple(row.trigger),
            section=row.section,
            author=row.author,
            mode=row.mode,
            citations=tuple(row.citations),
            created_at=row.created_at,
            evidence=tuple(said.get(row.id, ())),
            is_retired=row.retired_at is not None,
        )
        for row in rows
    ]


def list_session_signals(
    connection: sa.Connection, user_id: int, kinds: Sequence[str], within: Sequence[int]
) -> list[StoredSignal]:
    """The signals of some kinds in some sessions, oldest first."""
    if not within:
        return []
    asked = {"user": user_id, "kinds": [*kinds], "within": [*within]}
    return [StoredSignal(*row) for row in connection.execute(_NOTICED_IN, asked)]


def list_signals(connection: sa.Connection, user_id: int, kinds: Sequence[str], since: float) -> list[StoredSignal]:
    """The signals of some kinds since a moment, oldest first."""
    asked = {"user": user_id, "kinds": [*kinds], "since": since}
    return [StoredSignal(*row) for row in connection.execute(_NOTICED_SINCE, asked)]


def list_users(connection: sa.Connection) -> list[str]:
    """The names of all users."""
    return list(connection.execute(sa.select(users.c.name).order_by(users.c.id)).scalars())


CADENCE = 20 * 3600.0
"""Seconds between two nights of a user (seed 004)."""
END = "end"
"""What stands in the journal when all phases of a night are done."""
MIN_MESSAGES = 3
"""Messages of a session that is worth a night (seed 004)."""
REST = "rest:"
"""How the name of an entry begins that no night wrote, but a rest between two turns."""
UP_TO = "up_to"
"""Where a phase reports the last message that it has seen."""


def list_waiting(connection: sa.Connection, after: int, now: float, limit: int) -> list[tuple[int, str]]:
    """The users, by id and name, of whom a night may find something new: the gate before any of them is looked at.

    Args:
        after: the id of a user who was seen already.
        now: the time; after a night that ended in the future the clock went back, and it hinders none.
        limit: how many users at most.
    """
    query = _select_waiting(after, now, limit)
    return [(row.id, row.name) for row in connection.execute(query)]


def many_waiting(connection: sa.Connection, now: float, limit: int) -> int:
    """How many users that are; none above the limit is counted."""
    query = sa.select(sa.func.count()).select_from(_select_waiting(0, now, limit).subquery())
    return connection.execute(query).scalar_one()


def _select_waiting(after: int, now: float, limit: int) -> sa.Select[Any, Any]:
    slept_before = now - CADENCE
    ended = sa.select(nights).where(nights.c.user_id == users.c.id, nights.c.phase == END, nights.c.state == "done")
    last = ended.with_only_columns(sa.func.max(nights.c.id)).correlate(users).scalar_subquery()
    end = nights.alias("ended")
    seen = sa.func.coalesce(end.c.report[UP_TO].as_integer(), 0)
    fellow = messages.alias("fellow")
    many = sa.select(sa.func.count()).where(fellow.c.session_id == messages.c.session_id).scalar_subquery()
    new = sa.exists().where(messages.c.user_id == users.c.id, messages.c.id > seen, many >= MIN_MESSAGES)
    begun = nights.alias("begun")
    stopped = sa.exists().where(
        begun.c.user_id == users.c.id,
        begun.c.at >= slept_before,
        begun.c.id > sa.func.coalesce(end.c.id, 0),
        begun.c.night.not_like(f"{REST}%"),
    )
    rested = sa.or_(end.c.at.is_(None), end.c.at <= slept_before, end.c.at > now)
    return (
        sa.select(users.c.id, users.c.name)
        .select_from(users.outerjoin(end, end.c.id == last))
        .where(users.c.id > after, sa.or_(sa.and_(rested, new), stopped))
        .order_by(users.c.id)
        .limit(limit)
    )


def revisions_of(connection: sa.Connection, user_id: int, subject: str, limit: int = 50) -> list[Revised]:
    """The latest states of something derived, newest first."""
    asked = {"user": user_id, "subject": subject, "most": limit}
    return [Revised(*row) for row in connection.execute(_REVISED, asked)]
