"""Vectors are those of a turn with the end of the one before: what there is, is made anew, beside the turns."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

TO_COME = "vector IS NULL AND retired_at IS NULL AND provenance != 'derived'"


def upgrade() -> None:
    op.execute("UPDATE memories SET vector = NULL WHERE vector IS NOT NULL")
    op.create_index(
        "ix_memories_unembedded",
        "memories",
        ["user_id"],
        sqlite_where=sa.text(TO_COME),
        postgresql_where=sa.text(TO_COME),
    )
