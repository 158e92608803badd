"""The first schema: users, their sessions and messages, what is remembered, and the ledger."""

import sqlalchemy as sa
from alembic import op

from insula.memory.storage.schema import Number

revision = "0001"
down_revision = None

FULL_TEXT = """CREATE VIRTUAL TABLE memory_index USING fts5(terms, content='', tokenize="ascii tokenchars '_'")"""


def upgrade() -> None:
    op.create_table(
        "snapshots",
        sa.Column("id", Number, nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("turn_counter", sa.Integer(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_snapshots_service"), "snapshots", ["service"], unique=False)
    op.create_table(
        "users",
        sa.Column("id", Number, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("memories", sa.Integer(), server_default="0", nullable=False),
        sa.Column("terms", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
    )
    op.create_table(
        "revisions",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_revisions_user_id_subject"), "revisions", ["user_id", "subject"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "name", name=op.f("uq_sessions_user_id_name")),
    )
    op.create_table(
        "terms",
        sa.Column("user_id", Number, nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("memories", sa.Integer(), nullable=False),
        sa.Column("semantic", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "term"),
    )
    op.create_table(
        "messages",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("session_id", Number, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("said_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_messages_session_id_turn"), "messages", ["session_id", "turn"], unique=False)
    op.create_table(
        "signals",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("session_id", Number, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_signals_session_id_turn"), "signals", ["session_id", "turn"], unique=False)
    op.create_index(op.f("ix_signals_user_id_kind"), "signals", ["user_id", "kind"], unique=False)
    op.create_table(
        "memories",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("session_id", Number, nullable=False),
        sa.Column("message_id", Number, nullable=True),
        sa.Column("after_id", Number, nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("withheld", sa.Text(), server_default="", nullable=False),
        sa.Column("claims", sa.Text(), nullable=False),
        sa.Column("importance", sa.Double(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("salience", sa.Double(), nullable=False),
        sa.Column("uses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("used_at", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.Column("said_at", sa.Double(), nullable=False),
        sa.Column("promoted_at", sa.Double(), nullable=True),
        sa.Column("retired_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["message_id"], ["messages.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_memories_after_id"), "memories", ["after_id"], unique=False)
    op.create_index(
        op.f("ix_memories_user_id_session_id_promoted_at"),
        "memories",
        ["user_id", "session_id", "promoted_at"],
        unique=False,
    )
    op.create_table(
        "relations",
        sa.Column("id", Number, nullable=False),
        sa.Column("user_id", Number, nullable=False),
        sa.Column("source_id", Number, nullable=False),
        sa.Column("target_id", Number, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["memories.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["memories.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_relations_source_id"), "relations", ["source_id"], unique=False)
    op.create_index(op.f("ix_relations_target_id"), "relations", ["target_id"], unique=False)
    # ### end Alembic commands ###
    if op.get_bind().dialect.name == "sqlite":  # others had their postings from the start on, in 0008
        op.execute(FULL_TEXT)
