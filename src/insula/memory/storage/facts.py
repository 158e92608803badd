"""The statements of memories in the store: written with the text, read for what is asked, to come for old ones."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from insula.language.statements import Statement
from insula.memory.storage.prepared import Prepared, is_among
from insula.memory.storage.queries import erase_queries
from insula.memory.storage.rows import CandidateMemory, StoredStatement, Unstated
from insula.memory.storage.schema import UNSTATED, memories, relations, statements
from insula.memory.storage.vectors import Vector, pack_vector, unpack_vectors

_BEFORE = memories.alias("before")
_COLUMNS = ("id", "content", "provenance", "speaker", "line")
_TEXTS = sa.select(
    *(memories.c[name] for name in _COLUMNS),
    sa.func.coalesce(_BEFORE.c.content, "").label("before"),
    sa.func.coalesce(_BEFORE.c.speaker, "").label("before_speaker"),
).join(_BEFORE, sa.and_(_BEFORE.c.id == memories.c.after_id, _BEFORE.c.provenance != "derived"), isouter=True)
_READ = ("id", "memory_id", "text", "language", "subjects", "mentions", "modality", "marks", "terms", "vector")
_OF = sa.select(*(statements.c[name] for name in _READ)).where(
    is_among(statements.c.memory_id, "ids"),
    statements.c.user_id + 0 == sa.bindparam("user"),  # by their memories: a user's statements are too many
)
_STATED = Prepared(_OF)
ENDS = "ENDS"
"""The relation from a memory to one that its words end, as the user's own model read them."""
_ENDER = memories.alias("ender")
_ENDED = Prepared(
    sa.select(relations.c.target_id, relations.c.source_id, _ENDER.c.said_at)
    .join(_ENDER, sa.and_(_ENDER.c.id == relations.c.source_id, _ENDER.c.retired_at.is_(None)))
    .where(
        is_among(relations.c.target_id, "ids"),
        relations.c.user_id + 0 == sa.bindparam("user"),
        relations.c.kind == ENDS,
    )
    .order_by(relations.c.source_id)
)
_WRITTEN = Prepared(sa.insert(statements))
_STANDS = 0, 0.0
"""By what, and when, a memory ended that did not."""


def insert_statements(connection: sa.Connection, user_id: int, memory_id: int, made: Iterable[Statement]) -> None:
    """Write the statements of a memory that says that it has them."""
    if new := as_stored(user_id, memory_id, made):
        _WRITTEN.write_rows(connection, new)


def fill_statements(connection: sa.Connection, user_id: int, memory_id: int, made: Iterable[Statement]) -> None:
    """Write the statements of a memory that had none."""
    insert_statements(connection, user_id, memory_id, made)
    connection.execute(sa.update(memories).where(memories.c.id == memory_id).values(stated=True))


def as_stored(user_id: int, memory_id: int, made: Iterable[Statement]) -> list[dict[str, Any]]:
    """The statements of a memory as they are stored, a row for each subject."""
    return [
        {
            "user_id": user_id,
            "memory_id": memory_id,
            "subject": subject,
            "subjects": " ".join(sorted(statement.subjects)),
            "mentions": " ".join(sorted(statement.mentions)),
            "language": statement.language,
            "modality": statement.modality,
            "marks": " ".join(sorted(statement.marks)),
            "terms": " ".join(sorted(statement.terms)),
            "text": statement.text,
            "vector": None if statement.vector is None else pack_vector(statement.vector),
        }
        for statement in made
        for subject in (sorted(statement.subjects) or [""])
    ]


def statements_of(connection: sa.Connection, user_id: int, rows: Iterable[CandidateMemory]) -> list[StoredStatement]:
    """The statements of some memories, in the order they were made."""
    known = {row.id: row for row in rows}
    ended = _find_ended(connection, user_id, known)
    by_key: dict[tuple[int, str, str], Sequence[Any]] = {}
    read = _STATED.fetch_rows(connection, {"user": user_id, "ids": sorted(known)})
    for row in sorted(read, key=itemgetter(0)):  # by SQLite it takes twice as long, vectors and all
        by_key.setdefault((row[1], row[2], row[8]), row)  # a statement has a row for each whom it is about
    vectors = unpack_vectors([row[9] for row in by_key.values()])
    words = cache(_split_words)  # the same few beings and marks in hundreds of them
    rows_read = zip(by_key.values(), vectors, strict=True)
    return [
        _stored_statement(row, known[row[1]], ended.get(row[1], _STANDS), vector, words) for row, vector in rows_read
    ]


def _find_ended(connection: sa.Connection, user_id: int, among: Collection[int]) -> dict[int, tuple[int, float]]:
    """Those of some memories that a newer one ended which still stands, each with the first and when it was said."""
    asked = {"user": user_id, "ids": sorted(among)}
    ended: dict[int, tuple[int, float]] = {}
    for target, source, at in _ENDED.fetch_rows(connection, asked) if among else ():
        ended.setdefault(target, (source, at))
    return ended


def read_statements(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> dict[int, list[Statement]]:
    """The statements of some memories, by the memory."""
    by_memory: dict[int, dict[str, Statement]] = {}
    for row in connection.execute(_OF.order_by(statements.c.id), {"user": user_id, "ids": [*ids]}):
        by_memory.setdefault(row.memory_id, {}).setdefault(row.text, _read_statement(row, None, _split_words))
    return {memory: list(made.values()) for memory, made in by_memory.items()}


def read_superseded(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> dict[int, datetime]:
    """Those of some memories that a newer one ended, each with when that was said."""
    return {
        number: datetime.fromtimestamp(at, UTC) for number, (_, at) in _find_ended(connection, user_id, ids).items()
    }


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stored_statement(
    row: Sequence[Any],
    memory: CandidateMemory,
    ended: tuple[int, float],
    vector: Vector | None,
    words: Callable[[str], frozenset[Any]],
) -> StoredStatement:
    return StoredStatement(
        row[1], memory.said_at, _read_statement(row, vector, words), memory.provenance == "tool", *ended
    )


def _read_statement(row: Sequence[Any], vector: Vector | None, words: Callable[[str], frozenset[Any]]) -> Statement:
    _, _, text, language, subjects, mentions, modality, marks, terms, _ = row
    held = frozenset(terms.split())
    return Statement(text, language, words(subjects), words(mentions), modality, words(marks), held, vector)


def list_unstated(connection: sa.Connection, user_id: int, limit: int) -> list[Unstated]:
    """The latest of a user's memories whose statements are to come, newest first."""
    mine = sa.select(memories.c.id).where(memories.c.user_id == user_id, sa.text(UNSTATED))
    latest = mine.order_by(memories.c.id.desc()).limit(limit)
    rows = connection.execute(_TEXTS.where(memories.c.id.in_(latest)).order_by(memories.c.id.desc()))
    return [Unstated(*row) for row in rows]


def fill_all_statements(
    connection: sa.Connection, user_id: int, made: Sequence[tuple[Unstated, Sequence[Statement]]]
) -> int:
    """Write the statements of memories that had none, but of what has changed since it was read; returns how many."""
    asked = _TEXTS.where(memories.c.user_id == user_id, memories.c.id.in_([memory.id for memory, _ in made]))
    as_before = {Unstated(*row) for row in connection.execute(asked.where(sa.text("memories.stated IS NULL")))}
    rows = [(memory, statements_made) for memory, statements_made in made if memory in as_before]
    for memory, statements_made in rows:
        fill_statements(connection, user_id, memory.id, statements_made)
    return len(rows)


def erase_statements(connection: sa.Connection, user_id: int, ids: Sequence[int], after: Sequence[int] = ()) -> None:
    """Erase the statements of memories, and what was predicted for them; those of the memories after them, which may
    quote them, are made anew."""
    both = sa.and_(statements.c.user_id == user_id, statements.c.memory_id.in_([*ids, *after]))
    connection.execute(sa.delete(statements).where(both))
    connection.execute(sa.update(memories).where(memories.c.id.in_(after)).values(stated=None))
    erase_queries(connection, user_id, ids)


def clear_endings(connection: sa.Connection, user_id: int, memory_id: int) -> None:
    """Let go of what the words of a memory ended, and of what ended them: they are other words now, or none."""
    either = sa.or_(relations.c.source_id == memory_id, relations.c.target_id == memory_id)
    connection.execute(sa.delete(relations).where(relations.c.user_id == user_id, relations.c.kind == ENDS, either))
