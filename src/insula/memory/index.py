"""Full-text candidates: the one file that knows the dialect (SQLite's FTS5, upserts, pragmas, error codes).

Every indexed term carries its user ("7_lisbon"), so that a search can reach no one else's memories, and the rarity of
a term is that in the user's own memory.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.exc import DBAPIError

from insula.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked
from insula.memory.activation import KEPT_USES
from insula.memory.cue import MEAN_LENGTH, Statistics
from insula.memory.salience import USE
from insula.memory.schema import in_working_memory, memories, sessions, terms, users

CANDIDATES = 40
"""How many memories are proposed; the score that counts is `recall.score`. Recall is no better with 64, and dearer."""

NEAREST = 16
"""How many more are proposed for their meaning alone, where there are embeddings."""
BATCHES = 5
"""Batches of the nearest, 4,064 memories, among which they are looked for."""

POSTINGS = 2_500
"""Occurrences that one search reads at most (2 ms at 10^5 memories), whatever is asked with which words."""

BUSY_MS = 4_000

ROOM_BYTES = 65_536
"""What a turn may add to the file, and then some: the longest message and its index."""

_BEST = sa.text("SELECT rowid FROM memory_index WHERE memory_index MATCH :match ORDER BY rank LIMIT :limit")
_LATEST = sa.text("SELECT rowid FROM memory_index WHERE memory_index MATCH :match ORDER BY rowid DESC LIMIT :limit")
_LONG_TERM = sa.text("""
SELECT memories.id, vector FROM json_each(:ids) AS one JOIN memories ON memories.id = one.value
WHERE memories.user_id = :user AND promoted_at IS NOT NULL AND retired_at IS NULL ORDER BY one.key""")


_MINE = memories.c.user_id == sa.bindparam("user")
_IN_SESSION = sa.and_(_MINE, memories.c.session_id == sa.bindparam("session"))
_HITS = sa.union(
    sa.select(sa.text("SELECT value AS id FROM json_each(:hits)").columns(sa.column("id", sa.Integer)).subquery().c.id),
    sa.select(memories.c.id).where(_IN_SESSION, in_working_memory()),
).cte("hits")
_AROUND = sa.union(
    sa.select(_HITS.c.id),
    sa.select(memories.c.after_id).join_from(_HITS, memories, memories.c.id == _HITS.c.id),
    sa.select(memories.c.id).join_from(_HITS, memories, memories.c.after_id == _HITS.c.id),
).cte("around")
_PROPOSED = (
    sa.select(memories, sessions.c.name.label("session"))
    .join_from(_AROUND, memories, memories.c.id == _AROUND.c.id)
    .join(sessions, sessions.c.id == memories.c.session_id)
    .where(_MINE)
)

_TOUCH = sa.text("""
UPDATE memories SET
    uses = uses + 1,
    salience = min(salience + :worth, 1.0),
    used_at = CASE WHEN json_array_length(used_at) < :kept THEN json_insert(used_at, '$[#]', :at)
                   ELSE json_remove(json_insert(used_at, '$[#]', :at), '$[0]') END
WHERE user_id = :user AND id IN (SELECT value FROM json_each(:ids))""")

_CROWDED = sa.text("""
UPDATE memories SET retired_at = :at WHERE id IN (
    SELECT id FROM memories
    WHERE user_id = :user AND session_id = :session AND promoted_at IS NULL AND retired_at IS NULL
    ORDER BY salience DESC, id DESC LIMIT -1 OFFSET :capacity)""")

_DELETE = sa.text("INSERT INTO memory_index(memory_index, rowid, terms) VALUES ('delete', :id, :terms)")
_INSERT = sa.text("INSERT INTO memory_index(rowid, terms) VALUES (:id, :terms)")


_HERE = sa.and_(terms.c.user_id == users.c.id, terms.c.term.in_(sa.bindparam("wanted", expanding=True)))
_STATISTICS = (
    sa.select(users.c.memories, users.c.terms, terms.c.term, terms.c.memories.label("held"), terms.c.semantic)
    .select_from(users.outerjoin(terms, _HERE))
    .where(users.c.id == sa.bindparam("user"))
)
_ADDED = upsert(terms)
_COUNT = _ADDED.on_conflict_do_update(
    index_elements=["user_id", "term"],
    set_={
        "memories": terms.c.memories + _ADDED.excluded.memories,
        "semantic": terms.c.semantic + _ADDED.excluded.semantic,
    },
)


def configure(engine: sa.Engine, *, reads: bool = False) -> None:
    """Set each new connection up: write-ahead log, foreign keys, patience with other writers; or that it only reads."""
    writes = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON")

    def pragmas(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={BUSY_MS}", *(("query_only=ON",) if reads else writes)):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    event.listen(engine, "connect", pragmas)


def begin(connection: sa.Connection) -> None:
    """Begin to write now, so that what changes the schema is part of the transaction, too."""
    if not getattr(connection.connection.dbapi_connection, "in_transaction", False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def snapshot(connection: sa.Connection) -> None:
    """Begin to read: all that is read from now on is as it stands at one moment, whoever writes meanwhile."""
    if not getattr(connection.connection.dbapi_connection, "in_transaction", False):
        connection.exec_driver_sql("BEGIN")


def check_room(connection: sa.Connection) -> None:
    """See, within a transaction, whether the file may grow; what was tried is taken back."""
    connection.exec_driver_sql("SAVEPOINT room")
    connection.exec_driver_sql("CREATE TABLE room (x)")
    connection.exec_driver_sql("INSERT INTO room VALUES (zeroblob(?))", (ROOM_BYTES,))
    connection.exec_driver_sql("ROLLBACK TO room")
    connection.exec_driver_sql("RELEASE room")


def settle(connection: sa.Connection) -> None:
    """Let go of the words of what was taken out: of terms that nothing holds any more, and of the index's segments."""
    connection.execute(sa.delete(terms).where(terms.c.memories <= 0))
    connection.exec_driver_sql("INSERT INTO memory_index(memory_index) VALUES ('optimize')")


def scrub(engine: sa.Engine) -> bool:
    """Write the file anew without its free pages, and empty the log of what was written; False where a reader is in
    the way, so that the log still holds what was.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM")
        return connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0] == 0


def add_missing(connection: sa.Connection, table: sa.Table, values: Mapping[str, object]) -> None:
    """Insert a row unless its unique key is there: another process may be faster."""
    connection.execute(upsert(table).values(values).on_conflict_do_nothing())


def statistics(connection: sa.Connection, user_id: int, wanted: Iterable[str]) -> Statistics:
    """How much is indexed of a user, and where the wanted terms stand."""
    rows = connection.execute(_STATISTICS, {"user": user_id, "wanted": list(wanted)}).all()
    total, length = rows[0].memories, rows[0].terms
    found = [row for row in rows if row.held]
    return Statistics(
        memories=total,
        mean_length=length / total if total else MEAN_LENGTH,
        containing={row.term: row.held for row in found},
        asserting={row.term: row.semantic for row in found},
    )


def candidates(connection: sa.Connection, user_id: int, session_id: int, found: Iterable[int]) -> Sequence[sa.Row[Any]]:
    """The memories worth scoring: those that were found, the session's working memory, and the turns around them."""
    values = {"user": user_id, "session": session_id, "hits": json.dumps(list(found))}
    return connection.execute(_PROPOSED, values).all()


def long_term(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> list[tuple[int, bytes]]:
    """Those of some ids, in their order, that are in a user's long-term memory, with their vectors."""
    rows = connection.execute(_LONG_TERM, {"user": user_id, "ids": json.dumps(list(ids))})
    return [(row.id, row.vector) for row in rows]


def search(connection: sa.Connection, user_id: int, containing: Mapping[str, int], limit: int) -> list[int]:
    """Ids of the memories that share the rarest of the given terms, best first.

    The rarest decide, by BM25, as long as they occur no more than `POSTINGS` times together. Where each of the terms is
    more common than that, none of them tells much: the latest occurrences of each are read, `POSTINGS` together, and
    those that hold the most of the terms come first, the latest of them before the others.
    """
    if rare := _rarest(containing):
        query = " OR ".join(_quoted(user_id, term) for term in rare)
        return list(connection.execute(_BEST, {"match": query, "limit": limit}).scalars())
    held = Counter[int]()
    for term in containing:
        values = {"match": _quoted(user_id, term), "limit": POSTINGS // len(containing)}
        held.update(connection.execute(_LATEST, values).scalars())
    return sorted(held, key=lambda one: (-held[one], -one))[:limit]


def _rarest(containing: Mapping[str, int]) -> list[str]:
    """The terms to search for: from the rarest on, while they occur no more than `POSTINGS` times together."""
    ordered = sorted(containing.items(), key=lambda entry: entry[1])
    read = accumulate(found for _, found in ordered)
    return [term for (term, _), so_far in zip(ordered, read, strict=True) if so_far <= POSTINGS]


def touch(connection: sa.Connection, user_id: int, ids: Sequence[int], at: float) -> None:
    """Record a use of memories: it feeds activation, and salience while they are in working memory."""
    values = {"user": user_id, "ids": json.dumps(list(ids)), "at": at, "worth": USE, "kept": KEPT_USES}
    connection.execute(_TOUCH, values)


def make_room(connection: sa.Connection, user_id: int, session_id: int, capacity: int, at: float) -> None:
    """Retire the least salient items of a working memory that holds more than `capacity`."""
    values = {"user": user_id, "session": session_id, "capacity": capacity, "at": at}
    connection.execute(_CROWDED, values)


def add(connection: sa.Connection, user_id: int, entries: Sequence[tuple[int, Sequence[str], bool]]) -> None:
    """Index memories given as (id, terms with repeats, whether semantic)."""
    connection.execute(_INSERT, [{"id": i, "terms": _line(user_id, words)} for i, words, _ in entries])
    _count(connection, user_id, entries)


def remove(connection: sa.Connection, user_id: int, entries: Sequence[tuple[int, Sequence[str], bool]]) -> None:
    """Take memories, given as they were added, out of the index."""
    connection.execute(_DELETE, [{"id": i, "terms": _line(user_id, words)} for i, words, _ in entries])
    _count(connection, user_id, entries, -1)


def _count(
    connection: sa.Connection, user_id: int, entries: Sequence[tuple[int, Sequence[str], bool]], sign: int = 1
) -> None:
    found: dict[str, list[int]] = {}
    for _, words, semantic in entries:
        for term in set(words):
            counts = found.setdefault(term, [0, 0])
            counts[0] += sign
            counts[1] += sign * semantic
    if found:
        rows = [{"user_id": user_id, "term": t, "memories": m, "semantic": s} for t, (m, s) in found.items()]
        connection.execute(_COUNT, rows)
    length = sign * sum(len(words) for _, words, _ in entries)
    totals = {"memories": users.c.memories + sign * len(entries), "terms": users.c.terms + length}
    connection.execute(sa.update(users).where(users.c.id == user_id).values(totals))


def _owned(user_id: int, term: str) -> str:
    return f"{user_id}_{term}"


def _quoted(user_id: int, term: str) -> str:
    return f'"{_owned(user_id, term)}"'


def _line(user_id: int, words: Sequence[str]) -> str:
    return " ".join(_owned(user_id, word) for word in words)


def explain(error: DBAPIError, path: str) -> StoreError:
    """The database's error as one of ours, with what to do about it."""
    code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    name = getattr(error.orig, "sqlite_errorname", "an error")
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreLocked(
            f"The memory at {path!r} is locked by another process; close the other program that uses it and try again."
        )
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return StoreCorrupt(
            f"The memory at {path!r} is damaged or not a database; move it aside (it is left as it is) "
            f"or put a copy back, then start again."
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(
            f"The disk that holds {path!r} is full; free some space and say it again: "
            "what was said just now is not kept."
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR}:
        return StoreFull(
            f"The memory at {path!r} cannot be written ({name}); check that the folder exists, that you may write "
            f"there and that the disk has room, or point INSULA_HOME elsewhere."
        )
    return StoreError(f"The memory at {path!r} could not be used ({name}: {error.orig}); see the log and try again.")
