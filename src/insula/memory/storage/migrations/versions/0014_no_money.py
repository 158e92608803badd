"""What models took is counted in calls and tokens, and no more in money."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.drop_column("spending", "cost")
