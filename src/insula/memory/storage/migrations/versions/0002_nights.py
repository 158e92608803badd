"""What the night leaves: its journal, summaries of sessions, lessons and what sessions say of them."""

import sqlalchemy as sa
from alembic import op

from insula.memory.storage.schema import Number

revision = "0002"
down_revision = "0001"


def _user() -> list[sa.schema.SchemaItem]:
    return [
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    ]


def upgrade() -> None:
    op.create_table(
        "nights",
        *_user(),
        sa.Column("night", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.UniqueConstraint("user_id", "night", "phase", name=op.f("uq_nights_user_id_night_phase")),
    )
    op.create_table(
        "summaries",
        *_user(),
        sa.Column("session_id", Number, nullable=False),
        sa.Column("memory_id", Number, nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("up_to", Number, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["memory_id"], ["memories.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("session_id", name=op.f("uq_summaries_session_id")),
    )
    op.create_table(
        "lessons",
        *_user(),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), server_default="", nullable=False),
        sa.Column("trigger", sa.JSON(), nullable=False),
        sa.Column("advice", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), server_default="", nullable=False),
        sa.Column("citations", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("retired_at", sa.Double(), nullable=True),
        sa.UniqueConstraint("user_id", "key", name=op.f("uq_lessons_user_id_key")),
    )
    op.create_table(
        "evidence",
        *_user(),
        sa.Column("lesson_id", Number, nullable=False),
        sa.Column("session_id", Number, nullable=False),
        sa.Column("arm", sa.Text(), nullable=False),
        sa.Column("happened", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["lesson_id"], ["lessons.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("lesson_id", "session_id", name=op.f("uq_evidence_lesson_id_session_id")),
    )
