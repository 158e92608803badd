"""Every statement that reads or writes the store, as functions of a connection; `Store` runs them in transactions."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from insula.memory.item import REMEMBERED_CHARS, NewItem
from insula.memory.retrieval import index
from insula.memory.retrieval.query import load_terms
from insula.memory.storage import facts
from insula.memory.storage.filters import load_metadata
from insula.memory.storage.prepared import Prepared
from insula.memory.storage.rows import CandidateMemory, Consolidated, Place, TranscriptLine, Voices
from insula.memory.storage.schema import ASSERTED, in_working_memory, memories, messages, sessions, signals, users
from insula.memory.storage.vectors import pack_vector
from insula.types import TURN, Controls, Memory, Signal

EXCHANGE = 2
"""Items that a turn brings: the message and the response."""
CERTAIN, GENERATED = 1.0, 0.5
"""Confidence of a memory that a user or tool stated, and of one that the assistant made."""


def _select_last(
    table: sa.Table, column: sa.ColumnElement[int], *where: sa.ColumnElement[bool]
) -> sa.ScalarSelect[int]:
    """The greatest value of a column in a session, which is bound as "here"."""
    here = table.c.session_id == sa.bindparam("here")
    return sa.select(sa.func.max(column)).where(here, *where).scalar_subquery()


# What every turn runs is put together once: that costs SQLAlchemy more than running it.

_USER = Prepared(sa.select(users.c.id).where(users.c.name == sa.bindparam("name")))
_SESSION = Prepared(
    sa.select(sessions.c.id).where(
        sessions.c.user_id == sa.bindparam("user_id"), sessions.c.name == sa.bindparam("name")
    )
)
_HERE_SAID = sa.and_(messages.c.user_id == sa.bindparam("user"), messages.c.session_id == sa.bindparam("session"))
_HELD_HERE = sa.and_(
    memories.c.user_id == sa.bindparam("user"), memories.c.session_id == sa.bindparam("session"), in_working_memory()
)
LINE = tuple(messages.c[name] for name in ("id", "turn", "provenance", "content", "said_at", "score", "speaker"))
"""The columns of a line of a transcript."""
_LINES = Prepared(
    sa.select(*LINE).where(_HERE_SAID).order_by(messages.c.id.desc()).limit(sa.bindparam("limit", type_=sa.Integer))
)
_INSERTED = sa.insert(messages).returning(messages.c.id, messages.c.turn)
_MESSAGE = Prepared(_INSERTED)
_NEXT = Prepared(_INSERTED.values(turn=sa.func.coalesce(_select_last(messages, messages.c.turn), 0) + 1))
_SAID = memories.c.provenance != "derived"
_OWN = memories.c.user_id == sa.bindparam("mine")
"""Named beside the session, whose index begins with it: else a session's first line is sought through all memories."""
_NUMBER = memories.c.id + 0
"""No column to the planner, which would else walk the user's memories from the latest until one is of the session."""
_MEMORY = Prepared(
    sa.insert(memories).values(after_id=_select_last(memories, _NUMBER, _OWN, _SAID)).returning(memories.c.id)
)
_PROMOTED = Prepared(
    sa.update(memories)
    .where(_HELD_HERE, memories.c.salience >= sa.bindparam("threshold"))
    .values(promoted_at=sa.bindparam("now"))
    .returning(memories.c.id, memories.c.claims, memories.c.kind, memories.c.said_at)
)
_EVERYWHERE = (
    sa.update(memories)
    .where(memories.c.user_id == sa.bindparam("user"), sa.text(ASSERTED))
    .values(promoted_at=sa.bindparam("now"))
    .returning(memories.c.id, memories.c.claims, memories.c.kind)
)
_ELSEWHERE = _EVERYWHERE.where(memories.c.session_id != sa.bindparam("session"))
_LEAST = (
    sa.select(memories.c.id)
    .where(_HELD_HERE)
    .order_by(memories.c.salience.desc(), memories.c.id.desc())
    .offset(sa.bindparam("capacity", type_=sa.Integer))
)
_CROWDED = _EVERYWHERE.where(memories.c.id.in_(_LEAST))
_LET_GO = sa.update(memories).where(memories.c.id.in_(_LEAST)).values(retired_at=sa.bindparam("now"))
_SALIENCES = (
    sa.select(memories.c.salience)
    .join(messages, messages.c.id == memories.c.message_id)
    .where(
        _HELD_HERE, messages.c.turn > _select_last(messages, messages.c.turn) - sa.bindparam("turns", type_=sa.Integer)
    )
)


_WORKING = Prepared(
    sa.select(memories.c.salience, messages.c.turn, _select_last(messages, messages.c.turn).label("last"))
    .join(messages, messages.c.id == memories.c.message_id, isouter=True)
    .where(_HELD_HERE)
)
_THIS_TURN = sa.and_(_HERE_SAID, messages.c.turn == sa.bindparam("turn"))
_PROGRESS = Prepared(
    sa.select(
        sa.exists().where(_THIS_TURN, users.c.id == messages.c.user_id, users.c.name == sa.bindparam("name")),
        sa.exists().where(
            signals.c.session_id == sa.bindparam("session"),
            signals.c.turn == sa.bindparam("turn"),
            signals.c.kind == TURN,
        ),
    )
)
_SIGNAL = Prepared(sa.insert(signals))

_NOTED = (
    sa.select(signals, sessions.c.name.label("session"))
    .join(sessions, sessions.c.id == signals.c.session_id)
    .where(signals.c.kind == sa.bindparam("kind"))
    .order_by(signals.c.id.desc())
    .limit(sa.bindparam("limit", type_=sa.Integer))
)
_OF_USER = _NOTED.where(signals.c.user_id == sa.bindparam("user"))
# Of a session without `+ 0` SQLite would read all that a user's other sessions noted, too.
_OF_SESSION = _NOTED.where(
    signals.c.user_id + 0 == sa.bindparam("user"), signals.c.session_id == sa.bindparam("session")
)


def _place_values(here: Place) -> dict[str, object]:
    return {"user": here.user_id, "session": here.session_id}


def resolve_place(connection: sa.Connection, user: str, session: str, at: float) -> Place:
    """The ids of a user and a session, made when they are new."""
    user_id = _find_or_add(connection, _USER, users, {"name": user}, {"created_at": at})
    keys = {"user_id": user_id, "name": session}
    return Place(user_id, _find_or_add(connection, _SESSION, sessions, keys, {"started_at": at}), user, session)


def _find_or_add(
    connection: sa.Connection,
    known: Prepared,
    table: sa.Table,
    keys: Mapping[str, object],
    values: Mapping[str, object],
) -> int:
    if not known.fetch_rows(connection, keys):
        index.add_missing(connection, table, {**keys, **values})
    return known.fetch_row(connection, keys)[0]


def read_lines(connection: sa.Connection, here: Place, limit: int) -> tuple[TranscriptLine, ...]:
    """The last lines of a session, oldest first."""
    return tuple(read_transcripts(connection, here.user_id, [here.session_id], limit)[here.session_id])


def read_transcripts(
    connection: sa.Connection, user_id: int, within: Sequence[int], limit: int
) -> dict[int, list[TranscriptLine]]:
    """The last lines of some sessions, each oldest first."""
    asked = {"user": user_id, "limit": limit}
    read = {session: _LINES.fetch_rows(connection, {**asked, "session": session}) for session in within}
    return {session: [TranscriptLine(*row) for row in rows[::-1]] for session, rows in read.items()}


def write_message(
    connection: sa.Connection, here: Place, turn: int | None, item: NewItem, at: float
) -> tuple[int, int]:
    """Write a message and its item of working memory; without a turn, it begins the next one.

    Returns:
        The turn and the id of the memory.
    """
    common = {
        "user_id": here.user_id,
        "session_id": here.session_id,
        "provenance": item.provenance,
        "speaker": item.speaker,
        "content": item.content,
        "said_at": at,
    }
    index.begin_write(connection, here.user_id)
    message = common | {"score": item.score, "here": here.session_id}
    insertion, values = (_NEXT, message) if turn is None else (_MESSAGE, message | {"turn": turn})
    message_id, number = insertion.fetch_row(connection, values)
    memory = common | {
        "here": here.session_id,
        "mine": here.user_id,
        "content": item.content[:REMEMBERED_CHARS],
        "message_id": message_id,
        "kind": item.kind,
        "language": item.language,
        "line": item.line,
        "withheld": " ".join(item.withheld),
        "claims": item.claims,
        "importance": item.importance,
        "confidence": CERTAIN if item.provenance in {"user", "tool"} else GENERATED,
        "salience": item.salience,
        "used_at": f"[{at!r}]",
        "uses": 1,
        "vector": None if item.vector is None else pack_vector(item.vector),
        "metadata": item.metadata,
        "source_id": item.source_id,
    }
    asserts = item.provenance in {"user", "tool"}
    memory_id = _MEMORY.fetch_row(connection, memory | {"stated": True if asserts else None})[0]
    if asserts:
        facts.insert_statements(connection, here.user_id, memory_id, item.statements)
    return number, memory_id


def promote_items(connection: sa.Connection, here: Place, controls: Controls, at: float) -> Consolidated:
    """Move salient items to long-term memory; of the rest keep the `stm_capacity` most salient."""
    index.begin_write(connection, here.user_id)
    capacity, threshold = controls.stm_capacity, controls.consolidation_threshold
    held = _WORKING.fetch_rows(connection, {**_place_values(here), "here": here.session_id})
    left = [(salience, turn) for salience, turn, _ in held if salience < threshold]
    ages: tuple[float, ...] = ()
    if len(left) < len(held):
        salient = _PROMOTED.fetch_rows(connection, {**_place_values(here), "threshold": threshold, "now": at})
        entries = [(number, load_terms(claims), kind == "semantic") for number, claims, kind, _ in salient]
        index.add_entries(connection, here.user_id, entries)
        ages = tuple(at - said_at for *_, said_at in salient)
    if len(left) <= capacity:
        since = max((last for *_, last in held), default=0) - _count_turns(capacity)
        return Consolidated(ages, tuple(salience for salience, turn in left if turn is not None and turn > since))
    crowded = {**_place_values(here), "capacity": capacity, "now": at}
    _move_memories(connection, here.user_id, _CROWDED, crowded)
    connection.execute(_LET_GO, crowded)
    return Consolidated(ages, list_saliences(connection, here, capacity))


def promote_elsewhere(connection: sa.Connection, here: Place, at: float) -> int:
    """Move what users and tools asserted in a user's other sessions to long-term memory; returns how many.

    Whoever talks here has left the others, and what stays in their working memory is seen from nowhere else.
    """
    return _move_memories(
        connection, here.user_id, _ELSEWHERE, {"user": here.user_id, "session": here.session_id, "now": at}
    )


def promote_all(connection: sa.Connection, user_id: int, at: float) -> int:
    """Move all that was asserted to a user's long-term memory, as the night does; returns how many."""
    return _move_memories(connection, user_id, _EVERYWHERE, {"user": user_id, "now": at})


def _move_memories(connection: sa.Connection, user_id: int, move: sa.Executable, values: Mapping[str, object]) -> int:
    index.begin_write(connection, user_id)
    rows = connection.execute(move, dict(values)).all()
    if rows:
        index.add_entries(connection, user_id, index.entries_of(*rows))
    return len(rows)


def list_saliences(connection: sa.Connection, here: Place, capacity: int) -> tuple[float, ...]:
    """The saliences of what was said lately and is in the working memory of a session.

    What leaves a full working memory is what matters least, so that in the end all that stays is nearly worth keeping:
    counted for ever, a long session would be full to its end.
    """
    values = {**_place_values(here), "here": here.session_id, "turns": _count_turns(capacity)}
    return tuple(connection.execute(_SALIENCES, values).scalars())


def _count_turns(capacity: int) -> int:
    """Turns that fill a working memory."""
    return max(1, capacity // EXCHANGE)


def taken_in(connection: sa.Connection, user_id: int, sources: Sequence[str | None]) -> frozenset[str | None]:
    """Which of some lines, by the hash of where each is from, were taken in before; erased ones were, too."""
    ids = sorted({source for source in sources if source is not None})
    mine = sa.and_(memories.c.user_id == user_id, memories.c.source_id.in_(ids))
    return frozenset(connection.execute(sa.select(memories.c.source_id).where(mine)).scalars() if ids else ())


def read_turn_state(connection: sa.Connection, here: Place, turn: int) -> tuple[bool, bool]:
    """Whether what began a turn is there, and whether it was finished.

    Its user may have been erased, or brought back as they were before it. The name is compared, too: the next user may
    have the number of one who is gone.
    """
    is_begun, is_over = _PROGRESS.fetch_row(connection, {**_place_values(here), "turn": turn, "name": here.user})
    return bool(is_begun), bool(is_over)


def find_present(
    connection: sa.Connection, here: Place, turn: int, content: str, known: Sequence[int]
) -> frozenset[int] | None:
    """Which of some memories are still there; None where the message that began the turn is not."""
    mine = sa.and_(messages.c.session_id == here.session_id, messages.c.turn == turn, messages.c.content == content)
    if connection.execute(sa.select(messages.c.id).where(mine).limit(1)).first() is None:
        return None
    own = sa.and_(memories.c.user_id == here.user_id, memories.c.id.in_(known), memories.c.retired_at.is_(None))
    return frozenset(connection.execute(sa.select(memories.c.id).where(own)).scalars())


def append_signals(connection: sa.Connection, here: Place, noticed: Sequence[Signal]) -> None:
    """Write signals to the ledger."""
    rows = [
        {
            "user_id": here.user_id,
            "session_id": here.session_id,
            "turn": signal.turn,
            "kind": signal.kind,
            "reason": signal.reason,
            "data": dict(signal.data),
            "at": signal.at.timestamp(),
        }
        for signal in noticed
    ]
    if rows:
        index.begin_write(connection, here.user_id)  # a place on the ledger that is seen has none before it that is not
        _SIGNAL.write_rows(connection, rows)


def read_voices(connection: sa.Connection, user_id: int) -> Voices:
    """Who talks in what is remembered of a user, and in which languages."""
    query = sa.select(memories.c.language, memories.c.speaker).where(memories.c.user_id == user_id).distinct()
    rows = connection.execute(query).all()
    return Voices(frozenset(row.language for row in rows), frozenset(row.speaker for row in rows))


def read_ledger(
    connection: sa.Connection, here: Place, kind: str, *, session_only: bool = True, limit: int = 50
) -> list[Signal]:
    """The last signals of a kind of a user (or of this session), newest first."""
    query = _OF_SESSION if session_only else _OF_USER
    rows = connection.execute(query, {**_place_values(here), "limit": limit, "kind": kind})
    return [
        Signal(
            kind=row.kind,
            user=here.user,
            session=row.session,
            turn=row.turn,
            reason=row.reason,
            at=utc_moment(row.at),
            data=row.data,
        )
        for row in rows
    ]


def count_rows(connection: sa.Connection, here: Place) -> dict[str, int]:
    """How much is stored of a user, and in the working memory of a session."""
    mine = memories.c.user_id == here.user_id
    working = sa.and_(mine, memories.c.session_id == here.session_id, in_working_memory())
    total = sa.func.count()
    talks = sa.func.count(messages.c.session_id.distinct())  # a session in which nothing was said is none
    queries = {
        "sessions": sa.select(talks).where(messages.c.user_id == here.user_id),
        "messages": sa.select(total).where(messages.c.user_id == here.user_id),
        "long_term": sa.select(users.c.memories).where(users.c.id == here.user_id),
        "working": sa.select(total).select_from(memories).where(working),
        "signals": sa.select(total).where(signals.c.user_id == here.user_id),
    }
    return {name: connection.execute(query).scalar_one() for name, query in queries.items()}


def read_memory(row: sa.Row[Any] | CandidateMemory) -> Memory:
    """A row of `memories`, joined with the name of its session, as a value."""
    return Memory(
        id=row.id,
        kind=row.kind,
        provenance=row.provenance,
        speaker=row.speaker,
        content=row.content,
        said_at=utc_moment(row.said_at),
        session=row.session,
        importance=row.importance,
        confidence=row.confidence,
        line=row.line,
        withheld=tuple(row.withheld.split()),
        uses=row.uses,
        state="retired" if row.retired_at is not None else "working" if row.promoted_at is None else "long-term",
        metadata=load_metadata(row.metadata),
    )


def utc_moment(seconds: float) -> datetime:
    """Seconds since the epoch as a moment in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
