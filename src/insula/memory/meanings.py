"""The vectors of memories in the store: what is there, what is to come, and what is taken off to be made anew."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from insula.memory.rows import Unembedded
from insula.memory.schema import UNEMBEDDED, memories
from insula.memory.vectors import NOTHING

AT_ONCE = 5_000
"""Vectors that are read at once: 5 MB."""


_BEFORE = memories.alias("before")
_PAIRS = sa.select(memories.c.id, memories.c.content, sa.func.coalesce(_BEFORE.c.content, "").label("before")).join(
    _BEFORE, sa.and_(_BEFORE.c.id == memories.c.after_id, _BEFORE.c.provenance != "derived"), isouter=True
)
_TO_COME = sa.text(UNEMBEDDED)


def vectors(connection: sa.Connection, user_id: int, after: int, size: int) -> Iterable[tuple[int, bytes]]:
    """The next vectors of a user's memories after an id, of a size in bytes, with their ids, in their order."""
    query = (
        sa.select(memories.c.id, memories.c.vector)
        .where(memories.c.user_id == user_id, memories.c.id > after, memories.c.vector.is_not(None))
        .where(sa.func.length(memories.c.vector) == size)
        .order_by(memories.c.id)
        .limit(AT_ONCE)
    )
    return [(row.id, row.vector) for row in connection.execute(query)]


def unembedded(connection: sa.Connection, user_id: int, limit: int) -> list[Unembedded]:
    """The latest of a user's memories whose vector is to come, newest first."""
    mine = sa.select(memories.c.id).where(memories.c.user_id == user_id, _TO_COME)
    latest = mine.order_by(memories.c.id.desc()).limit(limit)
    found = connection.execute(_PAIRS.where(memories.c.id.in_(latest)).order_by(memories.c.id.desc()))
    return [Unembedded(*row) for row in found]


def embed(connection: sa.Connection, user_id: int, made: Sequence[tuple[Unembedded, bytes]]) -> list[tuple[int, bytes]]:
    """Write vectors, but of what has changed since it was read; returns what was written."""
    asked = _PAIRS.where(memories.c.user_id == user_id, memories.c.id.in_([one.id for one, _ in made]))
    as_before = {Unembedded(*row) for row in connection.execute(asked.where(memories.c.vector.is_(None)))}
    rows = [(one.id, vector) for one, vector in made if one in as_before]
    for number, vector in rows:
        connection.execute(sa.update(memories).where(memories.c.id == number).values(vector=vector))
    return rows


def unembed(connection: sa.Connection, user_id: int, size: int) -> None:
    """Take vectors of another size, which another embedding made: they are made anew.

    They are made anew from the latest on, so that the oldest tells whether there are any.
    """
    length = sa.func.length(memories.c.vector)
    mine = sa.and_(memories.c.user_id == user_id, memories.c.vector.is_not(None), length > len(NOTHING))
    oldest = connection.execute(sa.select(length).where(mine).order_by(memories.c.id).limit(1)).scalar()
    if oldest not in (None, size):
        connection.execute(sa.update(memories).where(mine, length != size).values(vector=None))
