"""Which memories have an embedding, by user: what is new among them is read before each search for the nearest."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index(
        "ix_memories_embedded",
        "memories",
        ["user_id"],
        sqlite_where=sa.text("vector IS NOT NULL"),
        postgresql_where=sa.text("vector IS NOT NULL"),
    )
