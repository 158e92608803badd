"""Row-level security on PostgreSQL: a transaction on behalf of a user meets that user's rows alone."""

from alembic import op

revision = "0009"
down_revision = "0008"

TABLES = (
    *("sessions", "messages", "memories", "statements", "terms", "postings", "relations", "signals", "revisions"),
    *("nights", "summaries", "lessons", "evidence", "spending"),
)
"""Whose rows have a `user_id`."""
WHOSE = "current_setting('insula.whose', true)"
HOUSE = f"(SELECT coalesce({WHOSE}, '') = '')"
OWN = f"(SELECT id FROM users WHERE name = {WHOSE})"  # noqa: S608 of this file's own words
"""Selected, and so found once for a statement and not for each row."""


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        return
    for table in ("users", *TABLES):
        mine = f"name = (SELECT {WHOSE})" if table == "users" else f"user_id = {OWN}"
        op.execute(f"CREATE POLICY insula_own ON {table} USING ({HOUSE} OR {mine})")
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")  # the tables' owner is who asks
