"""The vectors of memories and of what they state: what is there, what is to come, what is taken off to be made anew.

What a memory states gets its vectors with the memory's own, so that the memory alone tells what is to come.
"""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from insula.memory.storage.among import is_among
from insula.memory.storage.rows import Embedded, Unembedded
from insula.memory.storage.schema import UNEMBEDDED, memories, statements
from insula.memory.storage.vectors import NOTHING

AT_ONCE = 1_000
"""Vectors that are read at once: what it takes to compare them is held on to."""


_BEFORE = memories.alias("before")
_PAIRS = sa.select(memories.c.id, memories.c.content, sa.func.coalesce(_BEFORE.c.content, "").label("before")).join(
    _BEFORE, sa.and_(_BEFORE.c.id == memories.c.after_id, _BEFORE.c.provenance != "derived"), isouter=True
)
_TO_COME = sa.text(UNEMBEDDED)
_AMONG = _PAIRS.where(
    memories.c.user_id + 0 == sa.bindparam("user"), is_among(memories.c.id, "ids"), memories.c.vector.is_(None)
)
_STATED = (
    sa.select(statements.c.memory_id, statements.c.text)
    .where(is_among(statements.c.memory_id, "ids"), statements.c.vector.is_(None))
    .order_by(statements.c.id)
)
_NEXT = (
    sa.select(memories.c.id, memories.c.vector)
    .where(memories.c.user_id == sa.bindparam("user"), memories.c.id > sa.bindparam("after"))
    .where(memories.c.vector.is_not(None), sa.func.length(memories.c.vector) == sa.bindparam("size"))
    .order_by(memories.c.id)
    .limit(AT_ONCE)
)
_EMBED = sa.update(memories).where(memories.c.id == sa.bindparam("one")).values(vector=sa.bindparam("made"))
_MEANT = (
    sa.update(statements)
    .where(statements.c.memory_id == sa.bindparam("one"), statements.c.text == sa.bindparam("said"))
    .values(vector=sa.bindparam("made"))
)


def read_vectors(connection: sa.Connection, user_id: int, after: int, size: int) -> Iterable[tuple[int, bytes]]:
    """The next vectors of a user's memories after an id, of a size in bytes, with their ids, in their order."""
    rows = connection.execute(_NEXT, {"user": user_id, "after": after, "size": size})
    return [(row.id, row.vector) for row in rows]


def list_unembedded(connection: sa.Connection, user_id: int, limit: int) -> list[Unembedded]:
    """The latest of a user's memories whose vector is to come, newest first."""
    mine = sa.select(memories.c.id).where(memories.c.user_id == user_id, _TO_COME)
    latest = mine.order_by(memories.c.id.desc()).limit(limit)
    rows = connection.execute(_PAIRS.where(memories.c.id.in_(latest)).order_by(memories.c.id.desc()))
    return _add_statements(connection, [Unembedded(*row) for row in rows])


def _add_statements(connection: sa.Connection, rows: Sequence[Unembedded]) -> list[Unembedded]:
    """The same with those of their statements whose vectors are to come."""
    texts: dict[int, dict[str, None]] = {}
    for row in connection.execute(_STATED, {"ids": [row.id for row in rows]}):
        texts.setdefault(row.memory_id, {})[row.text] = None
    return [row._replace(stated=tuple(texts.get(row.id, ()))) for row in rows]


def write_vectors(connection: sa.Connection, user_id: int, made: Sequence[Embedded]) -> list[tuple[int, bytes]]:
    """Write vectors, but of what has changed since it was read; returns those of memories that were written."""
    asked = {"user": user_id, "ids": [embedded.row.id for embedded in made]}
    as_before = {tuple(row) for row in connection.execute(_AMONG, asked)}
    there = [embedded for embedded in made if (embedded.row.id, embedded.row.content, embedded.row.before) in as_before]
    if there:
        connection.execute(_EMBED, [{"one": embedded.row.id, "made": embedded.vector} for embedded in there])
    meant = [
        {"one": embedded.row.id, "said": text, "made": made}
        for embedded in there
        for text, made in embedded.stated.items()
    ]
    if meant:
        connection.execute(_MEANT, meant)
    return [(embedded.row.id, embedded.vector) for embedded in there]


def clear_vectors(connection: sa.Connection, user_id: int, size: int) -> None:
    """Take vectors of another size, which another embedding made: they are made anew.

    They are made anew from the latest on, so that the oldest tells whether there are any.
    """
    length = sa.func.length(memories.c.vector)
    mine = sa.and_(memories.c.user_id == user_id, memories.c.vector.is_not(None), length > len(NOTHING))
    oldest = connection.execute(sa.select(length).where(mine).order_by(memories.c.id).limit(1)).scalar()
    if oldest not in (None, size):
        connection.execute(sa.update(memories).where(mine, length != size).values(vector=None))
        others = sa.and_(statements.c.user_id == user_id, sa.func.length(statements.c.vector) != size)
        connection.execute(sa.update(statements).where(others).values(vector=None))
