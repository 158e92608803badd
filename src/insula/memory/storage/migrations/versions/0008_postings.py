"""Postings in place of SQLite's full-text index, what nights may spend, and whose messages are new."""

from collections import Counter
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from insula.memory.retrieval.encoding import load_terms
from insula.memory.storage.schema import Number

revision = "0008"
down_revision = "0007"

INDEXED = (
    "SELECT id, user_id, claims FROM memories WHERE promoted_at IS NOT NULL AND retired_at IS NULL AND claims != ''"
)
BATCH = 1_000


def upgrade() -> None:
    made = op.create_table(
        "postings",
        sa.Column("user_id", Number, nullable=False, autoincrement=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("memory_id", Number, nullable=False, autoincrement=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "term", "memory_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "spending",
        sa.Column("night", sa.Text(), nullable=False),
        sa.Column("user_id", Number, nullable=False, autoincrement=False),
        sa.Column("calls", sa.Double(), nullable=False, server_default="0"),
        sa.Column("tokens", sa.Double(), nullable=False, server_default="0"),
        sa.Column("cost", sa.Double(), nullable=False, server_default="0"),
        sa.Column("taken", sa.Integer(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("night", "user_id"),
    )
    op.create_index("ix_messages_user_id_id", "messages", ["user_id", "id"])
    for rows in indexed():
        entries = [(row.id, row.user_id, load_terms(row.claims)) for row in rows]
        posted = [
            {"user_id": user, "term": term, "memory_id": number, "count": count, "length": len(words)}
            for number, user, words in entries
            for term, count in Counter(words).items()
        ]
        if posted:
            op.bulk_insert(made, posted)
    if op.get_bind().dialect.name == "sqlite":
        op.drop_table("memory_index")


def indexed() -> Iterator[list[sa.Row]]:
    """What is in the index, some at a time."""
    last = 0
    query = sa.text(f"{INDEXED} AND id > :last ORDER BY id LIMIT {BATCH}")
    while rows := list(op.get_bind().execute(query, {"last": last})):
        yield rows
        last = rows[-1].id
