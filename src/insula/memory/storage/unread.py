"""The lines that a user's own model has not read yet, as functions of a connection: the queue is the journal's own.

What was read last stands in the report of the nights' phase, whoever wrote it: a night, or a rest between two turns.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from insula.language.owner import USER
from insula.language.statements import Statement
from insula.memory.item import REMEMBERED_CHARS
from insula.memory.storage import facts, journal
from insula.memory.storage.journal import DONE
from insula.memory.storage.nights import REST
from insula.memory.storage.schema import memories, messages, nights, users
from insula.types import Provenance

PHASE = "statements"
"""The phase of a night, and of a rest, that reads them."""
READ = "read"
"""Where its report holds the id of the last message that was read."""
USAGE = "usage"
TOKENS_A_DAY = 50_000
"""Tokens that reading one user's lines may take in a day, unless the settings say otherwise."""
DAY = 86_400.0
LOOK_BACK = 7 * DAY
"""What was said longer ago is not read any more: of a past without a model, or with understanding off."""
BEFORE = 4
"""Lines of a session before the first new one that are read along."""


class Unread(NamedTuple):
    """A line of a session, with its memory; no words where they may not be read."""

    message: int
    session: int
    turn: int
    provenance: Provenance
    content: str
    language: str
    memory: int
    said_at: float
    is_new: bool = True


class KnownMemory(NamedTuple):
    """A memory with what it states."""

    memory: int
    line: str
    """What may be shown of it."""
    content: str
    said_at: float
    statements: tuple[Statement, ...]


_COLUMNS = (
    messages.c.id,
    messages.c.session_id,
    messages.c.turn,
    messages.c.provenance,
    messages.c.content,
    sa.func.coalesce(memories.c.language, "").label("language"),
    sa.func.coalesce(memories.c.id, 0).label("memory"),
    messages.c.said_at,
    memories.c.content.label("kept"),
    memories.c.withheld,
    memories.c.retired_at,
    messages.c.speaker,
)
_OF_MESSAGE = sa.and_(  # by its user and session, which there is an index of
    memories.c.user_id == messages.c.user_id,
    memories.c.session_id == messages.c.session_id,
    memories.c.message_id == messages.c.id,
)
_LINES = sa.select(*_COLUMNS).outerjoin(memories, _OF_MESSAGE)
_TALK = sa.and_(
    messages.c.user_id == sa.bindparam("user"),
    messages.c.provenance.in_(("user", "assistant")),
)
_NEXT = (
    _LINES.where(_TALK, messages.c.id > sa.bindparam("after"), messages.c.said_at >= sa.bindparam("since"))
    .order_by(messages.c.id)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_EARLIER = (
    _LINES.where(_TALK, messages.c.session_id == sa.bindparam("session"), messages.c.id < sa.bindparam("first"))
    .order_by(messages.c.id.desc())
    .limit(BEFORE)
)
_REPORTS = sa.select(nights.c.report, nights.c.at).where(
    nights.c.user_id == sa.bindparam("user"), nights.c.phase == PHASE, nights.c.state == DONE
)


def last_read(connection: sa.Connection, user_id: int) -> int:
    """The id of the last message that was read; 0 where none was."""
    return _read_up_to(journal.last_reports(connection, user_id).get(PHASE, {}))


def _read_up_to(report: Mapping[str, Any]) -> int:
    last = report.get(READ, 0)
    return last if isinstance(last, int) else 0


def next_lines(connection: sa.Connection, user_id: int, now: float, limit: int) -> tuple[int, list[Unread]]:
    """The id of the last message that was read, and the next lines: session by session, each with a few before it."""
    after = last_read(connection, user_id)
    asked = {"user": user_id, "after": after, "since": now - LOOK_BACK, "most": limit}
    new = [_read_line(row, is_new=True) for row in connection.execute(_NEXT, asked)]
    sessions = dict.fromkeys(line.session for line in new)
    lines: list[Unread] = []
    for session in sessions:
        here = [line for line in new if line.session == session]
        earlier = connection.execute(_EARLIER, {"user": user_id, "session": session, "first": here[0].message}).all()
        lines += [*(_read_line(row, is_new=False) for row in reversed(earlier)), *here]
    return after, lines


def _read_line(row: Any, *, is_new: bool) -> Unread:
    """A line as it may be read: nothing of what was erased, withheld or let go, nor of what a person put otherwise."""
    whole = row.content[:REMEMBERED_CHARS]
    own = row.provenance != "user" or row.speaker == USER
    readable = own and row.kept == whole and not row.withheld and row.retired_at is None
    content = row.content if readable else ""
    return Unread(
        row.id, row.session_id, row.turn, row.provenance, content, row.language, row.memory, row.said_at, is_new
    )


def tokens_spent(connection: sa.Connection, user_id: int, now: float) -> int:
    """The tokens that reading a user's lines took in the last day, at night and at rest."""
    reports = connection.execute(_REPORTS.where(nights.c.at > now - DAY), {"user": user_id}).all()
    usages = [row.report[USAGE] for row in reports if USAGE in row.report]
    return sum(int(usage["input_tokens"]) + int(usage["output_tokens"]) for usage in usages)


def list_resting(connection: sa.Connection, now: float, rest: float, limit: int) -> list[str]:
    """The users who said something that is unread, and nothing since some seconds; who waits longest stands first.

    What was said in the future was said before the clock went back: nobody waits for that hour to come again.
    """
    last = (
        sa.select(sa.func.max(nights.c.id))
        .where(nights.c.user_id == users.c.id, nights.c.phase == PHASE, nights.c.state == DONE)
        .correlate(users)
        .scalar_subquery()
    )
    done = nights.alias("done")
    seen = sa.func.coalesce(done.c.report[READ].as_integer(), 0)
    newest = messages.alias("newest")
    latest = sa.select(sa.func.max(newest.c.id)).where(newest.c.user_id == users.c.id).scalar_subquery()
    query = (
        sa.select(users.c.name)
        .select_from(users.outerjoin(done, done.c.id == last))
        .join(messages, messages.c.id == latest)
        .where(sa.or_(messages.c.said_at <= now - rest, messages.c.said_at > now))
    )
    fellow = messages.alias("fellow")
    new = sa.exists().where(
        fellow.c.user_id == users.c.id,
        fellow.c.id > seen,
        fellow.c.provenance == "user",
        fellow.c.said_at >= now - LOOK_BACK,
    )
    return list(connection.execute(query.where(new).order_by(messages.c.said_at).limit(limit)).scalars())


def forget_rests(connection: sa.Connection, user_id: int, now: float) -> None:
    """Let go of the rests of days that are over, but for the last one."""
    mine = sa.and_(nights.c.user_id == user_id, nights.c.night.startswith(REST))
    last = sa.select(sa.func.max(nights.c.id)).where(mine).scalar_subquery()
    connection.execute(sa.delete(nights).where(mine, nights.c.at <= now - DAY, nights.c.id < last))


def read_known_facts(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> list[KnownMemory]:
    """Some of a user's memories that tell of their life and may be shown, oldest first, with what they state."""
    mine = sa.and_(memories.c.user_id == user_id, memories.c.id.in_(ids), memories.c.retired_at.is_(None))
    told = sa.and_(memories.c.provenance == "user", memories.c.speaker == USER, memories.c.withheld == "")
    columns = (memories.c.id, memories.c.line, memories.c.content, memories.c.said_at)
    rows = connection.execute(sa.select(*columns).where(mine, told).order_by(memories.c.id)).all()
    stated = facts.read_statements(connection, user_id, [row.id for row in rows])
    return [KnownMemory(row.id, row.line, row.content, row.said_at, tuple(stated.get(row.id, ()))) for row in rows]
