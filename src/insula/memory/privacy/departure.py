"""Erasure of a user: nothing of them is left in the database, not in its index and not in its free pages."""

import sqlalchemy as sa

from insula.memory.privacy import archive
from insula.memory.retrieval import index
from insula.memory.retrieval.encoding import load, terms_of
from insula.memory.storage.schema import memories, spending, users


def leave(connection: sa.Connection, user: str) -> None:
    """Erase all that is stored of a user.

    Raises:
        InputError: nothing is.
    """
    index.begin(connection)
    user_id = archive.found(connection, user)
    indexed = sa.and_(
        memories.c.user_id == user_id, memories.c.promoted_at.is_not(None), memories.c.retired_at.is_(None)
    )
    rows = connection.execute(sa.select(memories.c.id, memories.c.claims, memories.c.kind).where(indexed)).all()
    index.begin(connection, user_id)
    if rows:
        entries = [(row.id, terms_of(load(row.claims)), row.kind == "semantic") for row in rows]
        index.remove(connection, user_id, entries)
    connection.execute(sa.delete(spending).where(spending.c.user_id == user_id))
    connection.execute(sa.delete(users).where(users.c.id == user_id))  # and with it every row that is the user's
    index.settle(connection)
