"""Queries that the user's own model predicted for what a memory states: written with its statements, read by recall."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from insula.language.statements import PredictedQuery, QueryKind
from insula.memory.storage.prepared import Prepared, is_among
from insula.memory.storage.schema import predicted_queries as table
from insula.memory.storage.vectors import AT_ONCE, Vector, pack_vector, unpack_vectors

_MINE = table.c.user_id + 0 == sa.bindparam("user")
_OF = Prepared(
    sa.select(table.c.memory_id, table.c.kind, table.c.preference, table.c.vector)
    .where(is_among(table.c.memory_id, "ids"), _MINE)
    .order_by(table.c.id)
)
_MEMORIES = Prepared(sa.select(table.c.id, table.c.memory_id).where(is_among(table.c.id, "ids"), _MINE))
_NEXT = Prepared(
    sa.select(table.c.id, table.c.vector)
    .where(table.c.user_id == sa.bindparam("user"), table.c.id > sa.bindparam("after"))
    .where(sa.func.length(table.c.vector) == sa.bindparam("size"))
    .order_by(table.c.id)
    .limit(AT_ONCE)
)


class StoredQuery(NamedTuple):
    """What a predicted query means, and for which memory."""

    memory: int
    kind: QueryKind
    vector: Vector
    preference: str = ""
    """The key of the preference that is limited to it."""


def add_queries(
    connection: sa.Connection, user_id: int, memory_id: int, made: Iterable[PredictedQuery], preference: str = ""
) -> None:
    """Write queries that were predicted for a memory, or for a preference that it states."""
    common = {"user_id": user_id, "memory_id": memory_id, "preference": preference}
    rows = [
        {**common, "kind": kind, "text": text, "vector": pack_vector(vector)}
        for kind, text, vector in made
        if vector is not None
    ]
    if rows:
        connection.execute(sa.insert(table), rows)


def erase_queries(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> None:
    """Erase what was predicted for some memories."""
    connection.execute(sa.delete(table).where(table.c.user_id == user_id, table.c.memory_id.in_(ids)))


def erase_tasks(connection: sa.Connection, user_id: int, preference: str) -> None:
    """Erase what was predicted for a preference."""
    connection.execute(sa.delete(table).where(table.c.user_id == user_id, table.c.preference == preference))


def read_queries(connection: sa.Connection, user_id: int, ids: Iterable[int]) -> list[StoredQuery]:
    """What was predicted for some memories."""
    rows = _OF.fetch_rows(connection, {"user": user_id, "ids": sorted(ids)})
    read = zip(rows, unpack_vectors([row[3] for row in rows]), strict=True)
    return [StoredQuery(row[0], row[1], vector, row[2]) for row, vector in read if vector is not None]


def read_vectors(connection: sa.Connection, user_id: int, after: int, size: int) -> Iterable[tuple[int, bytes]]:
    """The next vectors of a user's queries after an id, of a size in bytes, with their ids, in their order."""
    return _NEXT.fetch_rows(connection, {"user": user_id, "after": after, "size": size})


def find_memories(connection: sa.Connection, user_id: int, ids: Sequence[int]) -> list[int]:
    """The memories for which some queries were predicted, each once, in the order of the queries."""
    found: dict[int, int] = dict(_MEMORIES.fetch_rows(connection, {"user": user_id, "ids": list(ids)}))
    return list(dict.fromkeys(found[number] for number in ids if number in found))
