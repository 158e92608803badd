"""What is asserted, by whom it is about; of the memories that there are it is made later, beside the turns."""

import sqlalchemy as sa
from alembic import op

from insula.memory.storage.schema import Number

revision = "0007"
down_revision = "0006"

WORKING = "promoted_at IS NULL AND retired_at IS NULL"
TO_COME = "stated IS NULL AND retired_at IS NULL AND provenance IN ('user', 'tool')"


def upgrade() -> None:
    op.add_column("memories", sa.Column("stated", sa.Boolean()))
    op.create_index(
        "ix_memories_unstated",
        "memories",
        ["user_id"],
        sqlite_where=sa.text(TO_COME),
        postgresql_where=sa.text(TO_COME),
    )
    op.create_index(
        "ix_memories_working", "memories", ["user_id"], sqlite_where=sa.text(WORKING), postgresql_where=sa.text(WORKING)
    )
    op.create_table(
        "statements",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("memory_id", Number, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("subjects", sa.Text(), nullable=False),
        sa.Column("mentions", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("modality", sa.Text(), nullable=False),
        sa.Column("marks", sa.Text(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["memory_id"], ["memories.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_statements_user_id_subject", "statements", ["user_id", "subject"])
    op.create_index("ix_statements_memory_id", "statements", ["memory_id"])
