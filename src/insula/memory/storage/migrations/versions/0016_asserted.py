"""What was asserted in a session that its user has left is found without reading all that is left of their talk."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
ASSERTED = "promoted_at IS NULL AND retired_at IS NULL AND kind = 'semantic' AND provenance IN ('user', 'tool')"


def upgrade() -> None:
    where = sa.text(ASSERTED)
    op.create_index("ix_memories_asserted", "memories", ["user_id"], sqlite_where=where, postgresql_where=where)
    op.drop_index("ix_memories_working", "memories")
