"""What somebody looks at, as functions of a connection for `Store.run`: each reads one user's rows and writes none."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from insula.memory.retrieval import index
from insula.memory.storage.filters import Filter
from insula.memory.storage.nights import REST, user_id, words_on
from insula.memory.storage.rows import (
    Change,
    LedgerEntry,
    Revised,
    SessionStretch,
    Sitting,
    StoredPhaseReport,
    TranscriptLine,
)
from insula.memory.storage.schema import memories, messages, nights, revisions, sessions, signals, users
from insula.memory.storage.statements import LINE, utc_moment
from insula.memory.storage.statements import read_memory as as_memory
from insula.types import Memory

MOST = 500
"""Rows that one look brings at most."""
_MEMORY = (*memories.c, sessions.c.name.label("session"))
ANY = Filter()
"""The filter of all that is remembered."""
LOOKED_THROUGH = 5_000
"""Memories, the latest, that are looked through for a text as it stands: what is in working memory has no index."""
LONGEST_SOUGHT = 10_000
"""Characters of a text that is looked for so: SQLite takes a pattern of 50,000 bytes."""


def check_ready(connection: sa.Connection) -> None:
    """Whether the tables can be read, and might be written and grow now; raises where not."""
    index.begin_write(connection)
    connection.execute(sa.select(users.c.id).limit(1)).first()
    index.check_room(connection)


def find_grown_ledgers(connection: sa.Connection, after: int) -> tuple[int, list[str]]:
    """The last place on the ledger, and whose ledgers have grown beyond `after`: names alone, to wake who waits."""
    query = sa.select(users.c.name, sa.func.max(signals.c.id)).join(users, users.c.id == signals.c.user_id)
    rows = connection.execute(query.where(signals.c.id > after).group_by(users.c.name)).all()
    return max((row[1] for row in rows), default=after), [row[0] for row in rows]


def ledger_end(connection: sa.Connection) -> int:
    """The last place on the ledger, whoever's it is; 0 where it is empty."""
    return connection.execute(sa.select(sa.func.max(signals.c.id))).scalar() or 0


def last_entry(connection: sa.Connection, user: str) -> int:
    """The last place on a user's ledger; 0 where it is empty."""
    last = sa.select(sa.func.max(signals.c.id)).where(signals.c.user_id == _id_of(user))
    return connection.execute(last).scalar() or 0


def list_entries(connection: sa.Connection, user: str, after: int, limit: int) -> list[LedgerEntry]:
    """A user's ledger beyond a place, oldest first."""
    mine = signals.c.user_id == _id_of(user)
    query = _select_entries().where(mine, signals.c.id > after).order_by(signals.c.id).limit(min(limit, MOST))
    return [LedgerEntry(*row) for row in connection.execute(query)]


def list_latest_entries(connection: sa.Connection, user: str, kinds: Sequence[str], limit: int) -> list[LedgerEntry]:
    """The last entries of some kinds on a user's ledger, newest first; of all kinds where none is named."""
    mine = signals.c.user_id == _id_of(user)
    query = _select_entries().where(mine).order_by(signals.c.id.desc()).limit(min(limit, MOST))
    if kinds:
        query = query.where(signals.c.kind.in_(kinds))
    return [LedgerEntry(*row) for row in connection.execute(query)]


def list_sittings(connection: sa.Connection, user: str, before: int | None, limit: int) -> list[Sitting]:
    """A user's sessions, those begun last first; `before` is the id of one that was seen already."""
    columns = (sessions.c.id, sessions.c.name, sa.func.max(messages.c.turn), sessions.c.started_at)
    query = (
        sa.select(*columns, sa.func.max(messages.c.said_at))
        .join(messages, messages.c.session_id == sessions.c.id)
        .where(sessions.c.user_id == _id_of(user))
        .group_by(sessions.c.id)
        .order_by(sessions.c.id.desc())
        .limit(min(limit, MOST))
    )
    if before is not None:
        query = query.where(sessions.c.id < before)
    return [Sitting(*row) for row in connection.execute(query)]


def read_talk(
    connection: sa.Connection, user: str, session: str, before: int | None, turns: int
) -> SessionStretch | None:
    """The last turns of a session, oldest first; None where there is no such session.

    Args:
        before: a turn that was seen already.
        turns: how many at most.
    """
    matching = sa.select(sessions.c.id).where(sessions.c.user_id == _id_of(user), sessions.c.name == session)
    here = connection.execute(matching).scalar()
    if here is None:
        return None
    wanted = sa.select(messages.c.turn).where(messages.c.session_id == here).distinct()
    if before is not None:
        wanted = wanted.where(messages.c.turn < before)
    numbers = connection.execute(wanted.order_by(messages.c.turn.desc()).limit(min(turns, MOST))).scalars().all()
    said = messages.c
    lines = sa.select(*LINE).where(said.session_id == here, said.turn.in_(numbers)).order_by(said.turn, said.id)
    noticed = _select_entries().where(signals.c.session_id == here, signals.c.turn.in_(numbers)).order_by(signals.c.id)
    return SessionStretch(
        tuple(TranscriptLine(*row) for row in connection.execute(lines)),
        tuple(LedgerEntry(*row) for row in connection.execute(noticed)),
    )


def first_lines(connection: sa.Connection, user: str, within: Sequence[int]) -> Mapping[int, str]:
    """How some of a user's sessions begin: session -> the first line of it that stands, the user's where they spoke.

    Of a session of which all is erased that the user said there is none.
    """
    mine = sa.and_(messages.c.user_id == _id_of(user), messages.c.session_id.in_(within))
    stands, own = messages.c.content != "", messages.c.provenance == "user"
    others = sa.case((sa.func.count().filter(own) == 0, sa.func.min(messages.c.id).filter(stands)))
    first = sa.func.coalesce(sa.func.min(messages.c.id).filter(stands, own), others)
    begins = sa.select(first).where(mine).group_by(messages.c.session_id)
    query = sa.select(messages.c.session_id, messages.c.content).where(messages.c.id.in_(begins.scalar_subquery()))
    return {row.session_id: row.content for row in connection.execute(query)}


def said_in(connection: sa.Connection, user: str, session: str, turn: int) -> list[int]:
    """The ids of what a user said in a turn."""
    mine = sa.and_(messages.c.user_id == _id_of(user), messages.c.turn == turn, messages.c.provenance == "user")
    here = sa.select(messages.c.id).join(sessions, sessions.c.id == messages.c.session_id)
    return list(connection.execute(here.where(mine, sessions.c.name == session)).scalars())


def list_memories(
    connection: sa.Connection, user: str, wanted: Filter = ANY, before: int | None = None, limit: int = MOST
) -> list[Memory]:
    """A user's memories, newest first.

    Args:
        before: the id of a memory that was seen already.
        limit: how many at most.
    """
    query = _select_memories(user, *wanted.sql_conditions()).order_by(memories.c.id.desc()).limit(limit)
    return _read_memories(connection, user, query if before is None else query.where(memories.c.id < before))


def count_memories(connection: sa.Connection, user: str, wanted: Filter) -> int:
    """How many of a user's memories are wanted."""
    query = _select_memories(user, *wanted.sql_conditions(), columns=[sa.func.count(memories.c.id)])
    return connection.execute(query).scalar_one()


def list_matching_ids(connection: sa.Connection, user: str, wanted: Filter) -> list[int]:
    """The ids of a user's memories that are wanted and hold something, newest first, also of what nights let go."""
    either = wanted._replace(retired=None).sql_conditions()
    query = _select_memories(user, memories.c.content != "", *either, columns=[memories.c.id])
    return list(connection.execute(query.order_by(memories.c.id.desc())).scalars())


def find_memories(
    connection: sa.Connection, user: str, ids: Sequence[int], wanted: Filter | None = None
) -> Mapping[int, Memory]:
    """Some of a user's memories by id, retired ones too unless others are wanted; whose is another's is left out."""
    these = _select_memories(user, memories.c.id.in_(ids), *(wanted.sql_conditions() if wanted else ()))
    return {memory.id: memory for memory in _read_memories(connection, user, these)}


def find_lines(connection: sa.Connection, user: str, ids: Sequence[int]) -> Mapping[int, TranscriptLine]:
    """The lines of the transcript that memories come from, by the id of the memory: as they were said, whatever became
    of the memory since."""
    mine = sa.and_(memories.c.user_id == _id_of(user), memories.c.id.in_(ids))
    joined: Any = sa.select(memories.c.id, *LINE).join(messages, messages.c.id == memories.c.message_id)
    return {number: TranscriptLine(*line) for number, *line in connection.execute(joined.where(mine)).all()}


def find_containing(connection: sa.Connection, user: str, text: str, wanted: Filter, limit: int) -> list[int]:
    """The ids of the latest of a user's memories that hold a text as it stands; of a very long one none."""
    if len(text) > LONGEST_SOUGHT:
        return []
    mine = _select_memories(user, *wanted.sql_conditions(), columns=[memories.c.id, memories.c.content])
    latest = mine.order_by(memories.c.id.desc()).limit(LOOKED_THROUGH).subquery()
    matching = sa.select(latest.c.id).where(latest.c.content.icontains(text, autoescape=True))
    return list(connection.execute(matching.order_by(latest.c.id.desc()).limit(limit)).scalars())


def read_history(connection: sa.Connection, user: str, number: int) -> list[Change]:
    """What became of a memory, oldest first."""
    revision = revisions.c
    past = sa.select(revision.author, revision.evidence, revision.at).where(
        revision.user_id == _id_of(user), revision.subject == f"memory:{number}"
    )
    rows = connection.execute(past.order_by(revision.id))
    return [Change(author=row.author, why=str(row.evidence.get("why", "")), at=utc_moment(row.at)) for row in rows]


def _select_memories(
    user: str, *where: sa.ColumnElement[bool], columns: Sequence[sa.ColumnElement[Any]] = _MEMORY
) -> sa.Select[Any]:
    joined: Any = sa.select(*columns).join(sessions, sessions.c.id == memories.c.session_id)
    return joined.where(memories.c.user_id == _id_of(user), *where)


def _read_memories(connection: sa.Connection, user: str, query: sa.Select[Any]) -> list[Memory]:
    found_memories = [as_memory(row) for row in connection.execute(query).all()]
    mine = user_id(connection, user) if found_memories else None
    modes = words_on(connection, mine, [memory.id for memory in found_memories]) if mine is not None else {}
    return [replace(memory, mode=modes[memory.id]) if modes.get(memory.id) else memory for memory in found_memories]


def list_phase_reports(connection: sa.Connection, user: str, before: int | None, limit: int) -> list[StoredPhaseReport]:
    """What the phases of a user's last nights reported, oldest first.

    Args:
        before: the id of a report that was seen already.
        limit: how many nights at most.
    """
    if (mine := user_id(connection, user)) is None:
        return []
    done = sa.and_(nights.c.user_id == mine, nights.c.state == "done", nights.c.night.not_like(f"{REST}%"))
    if before is not None:
        done = sa.and_(done, nights.c.id < before)
    ended = sa.func.max(nights.c.id)
    last = sa.select(nights.c.night).where(done).group_by(nights.c.night).order_by(ended.desc()).limit(min(limit, MOST))
    columns = (nights.c.id, nights.c.night, nights.c.phase, nights.c.report, nights.c.at)
    query = sa.select(*columns).where(done, nights.c.night.in_(last.scalar_subquery())).order_by(nights.c.id)
    return [StoredPhaseReport(*row) for row in connection.execute(query)]


def find_revision(connection: sa.Connection, user: str, subject: str, number: int) -> Revised | None:
    """One state of something derived; None where there is none such."""
    mine = revisions.c
    query = sa.select(mine.id, mine.author, mine.content, mine.evidence, mine.at)
    matching = query.where(mine.user_id == _id_of(user), mine.subject == subject, mine.id == number)
    row = connection.execute(matching).one_or_none()
    return Revised(*row) if row else None


def memory_record(memory: Memory) -> dict[str, object]:
    """A memory as JSON shows it."""
    return {
        "id": memory.id,
        "content": memory.content,
        "provenance": memory.provenance,
        "speaker": memory.speaker,
        "kind": memory.kind,
        "session": memory.session,
        "said_at": memory.said_at.isoformat(),
        "stands": memory.state,
        "mode": memory.mode,
        "uses": memory.uses,
        "importance": round(memory.importance, 4),
        "withheld": list(memory.withheld),
        "metadata": dict(memory.metadata),
    }


def _id_of(user: str) -> sa.ScalarSelect[int]:
    return sa.select(users.c.id).where(users.c.name == user).scalar_subquery()


def _select_entries() -> sa.Select[Any, Any, Any, Any, Any, Any, Any]:
    signal = signals.c
    columns = (signal.id, sessions.c.name, signal.turn, signal.kind, signal.reason, signal.at, signal.data)
    return sa.select(*columns).join(sessions, sessions.c.id == signals.c.session_id)


MOST_CHARS = 2_000_000
"""Characters of a transcript that are told at once: ten of the longest messages; other turns come on the next page."""


def list_exchanges(talk: SessionStretch) -> list[tuple[int, list[TranscriptLine], list[LedgerEntry]]]:
    """The last turns of a stretch, oldest first, each with what was said in it and what was noticed."""
    said, noticed = defaultdict[int, list[TranscriptLine]](list), defaultdict[int, list[LedgerEntry]](list)
    for line in _latest_lines(talk.lines):
        said[line.turn].append(line)
    for entry in talk.noticed:
        noticed[entry.turn].append(entry)
    return [(turn, said[turn], noticed[turn]) for turn in sorted(said)]


def _latest_lines(lines: Sequence[TranscriptLine]) -> Sequence[TranscriptLine]:
    """Of lines, oldest first, those of the last turns that there is room for; of the very last one all."""
    room = MOST_CHARS
    for line in reversed(lines):
        room -= len(line.content)
        if room < 0 and line.turn < lines[-1].turn:
            return [talk_line for talk_line in lines if talk_line.turn > line.turn]
    return lines
