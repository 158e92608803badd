"""The nights of a date share no cap any more: what was left of one, and the grants out of it."""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.execute("DELETE FROM spending WHERE user_id = 0")
    op.drop_column("spending", "taken")
    op.drop_column("spending", "cap")
