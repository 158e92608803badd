"""The tables of a store, made where there are none and brought up to date where an earlier version made them.

Every version so far added tables, columns and indexes, so these are added by comparison with the schema; what a version
changed in the rows that there were stands in `_CHANGES`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from insula.errors import StoreNewer
from insula.memory.retrieval.encoding import load_terms
from insula.memory.storage.schema import VERSION, memories, metadata, postings

BATCH = 1_000
"""Memories that are indexed at a time."""
_STAMP = sa.text(
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def make_tables(connection: sa.Connection, name: str) -> bool:
    """Make the tables in the transaction that is under way, or bring older ones up to date; returns whether it had to.

    A kill leaves the old ones, or the new.

    Raises:
        StoreNewer: a newer version of Insula wrote them.
    """
    if not sa.inspect(connection).has_table("alembic_version"):
        metadata.create_all(connection, checkfirst=False)
        connection.execute(_STAMP)
        connection.execute(sa.text("INSERT INTO alembic_version VALUES (:version)"), {"version": VERSION})
        return True
    version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() or ""
    if version > VERSION:
        raise StoreNewer(
            f"The memory at {name!r} was written by a newer version of Insula (schema {version}, this one knows "
            f"{VERSION}); upgrade Insula where you have it from"
        )
    if version < VERSION:
        _add_missing(connection)
        for changed_in, change in _CHANGES.items():
            if version < changed_in:
                change(connection)
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": VERSION})
    return version < VERSION


def _add_missing(connection: sa.Connection) -> None:
    """Add the tables, columns and indexes that are not there yet."""
    metadata.create_all(connection)
    there = sa.inspect(connection)
    for table in metadata.sorted_tables:
        columns = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                added = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {added}")
        indexes = {index["name"] for index in there.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in indexes:
                index.create(connection)


def _forget_vectors(connection: sa.Connection) -> None:
    """Vectors are of a turn with the end of the one before: what there is, is made anew, beside the turns."""
    connection.execute(sa.update(memories).values(vector=None))


def _index_terms(connection: sa.Connection) -> None:
    """Postings propose, in place of SQLite's full-text index."""
    for rows in _list_promoted(connection):
        entries = [(row.id, row.user_id, load_terms(row.claims)) for row in rows]
        posted = [
            {"user_id": user, "term": term, "memory_id": number, "count": count, "length": len(words)}
            for number, user, words in entries
            for term, count in Counter(words).items()
        ]
        if posted:
            connection.execute(sa.insert(postings), posted)
    connection.exec_driver_sql("DROP TABLE IF EXISTS memory_index")


def _list_promoted(connection: sa.Connection) -> Iterator[Sequence[sa.Row[Any, Any, Any]]]:
    """What stands in long-term memory, some at a time."""
    row, last = memories.c, 0
    query = sa.select(row.id, row.user_id, row.claims).order_by(row.id).limit(BATCH)
    query = query.where(row.promoted_at.is_not(None), row.retired_at.is_(None), row.claims != "")
    while rows := connection.execute(query.where(row.id > last)).all():
        yield rows
        last = rows[-1].id


_CHANGES = {"0006": _forget_vectors, "0008": _index_terms}
"""Version -> what it changed in the rows of those before."""
