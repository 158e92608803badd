"""What a host says of a memory, and by what a line that is taken in twice is known."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("memories", sa.Column("metadata", sa.Text(), nullable=False, server_default=""))
    op.add_column("memories", sa.Column("source_id", sa.Text()))
    op.create_index("ix_memories_source", "memories", ["user_id", "source_id"])
