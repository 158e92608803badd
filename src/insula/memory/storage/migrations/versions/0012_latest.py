"""A user's memories, newest first, are read page by page and not sorted anew for each."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_index("ix_memories_user_id_id", "memories", ["user_id", "id"])
