"""Queries that the user's own model predicts for what it reads are kept beside the statements."""

import sqlalchemy as sa
from alembic import op

from insula.memory.storage.postgres import isolate_table
from insula.memory.storage.schema import Number

revision = "0015"
down_revision = "0014"
TABLE = "predicted_queries"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", Number, primary_key=True),
        sa.Column("user_id", Number, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("memory_id", Number, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("preference", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{TABLE}_memory_id", TABLE, ["memory_id"])
    op.create_index(f"ix_{TABLE}_user_id_id", TABLE, ["user_id", "id"])
    if op.get_bind().dialect.name == "postgresql":
        isolate_table(op.get_bind(), TABLE)
