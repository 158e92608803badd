"""How each user's night stands, for who looks after the nights of all."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    for name in ("state", "why"):
        op.add_column("spending", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.add_column("spending", sa.Column("tries", sa.Integer(), nullable=False, server_default="0"))
    for name in ("began", "ended"):
        op.add_column("spending", sa.Column(name, sa.Double(), nullable=False, server_default="0"))
    op.add_column("spending", sa.Column("cap", sa.JSON()))
