"""The tables. Text is redacted before it gets here; a user's rows are reached through that user's id alone."""

from collections.abc import Collection
from pathlib import Path

import sqlalchemy as sa

from insula.errors import StoreError, StoreNewer

VERSION = "0016"
"""The version of the tables that this code reads and writes."""
OLDEST = "0012"
"""The oldest that is brought up to date: those before were of no release."""

metadata = sa.MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s"}
)


Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""An id. SQLite's integers have 64 bits, and its own ids are of no other type; PostgreSQL's have 32."""


def _id_column() -> sa.Column[int]:
    return sa.Column("id", Number, primary_key=True)


def _user_column() -> sa.Column[int]:
    return sa.Column("user_id", Number, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False)


def _text_columns(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _session_column() -> sa.Column[int]:
    return sa.Column("session_id", Number, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False)


def _partial_index(name: str, where: str) -> sa.Index:
    """An index of some of a user's memories."""
    return sa.Index(name, "user_id", sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _time_column(name: str) -> sa.Column[float]:
    """A moment as seconds since the epoch, UTC: one type that sorts alike everywhere."""
    return sa.Column(name, sa.Double, nullable=False)


users = sa.Table(
    "users",
    metadata,
    _id_column(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("memories", sa.Integer, nullable=False, server_default="0"),
    sa.Column("terms", sa.Integer, nullable=False, server_default="0"),
    _time_column("created_at"),
)
"""`memories` and `terms` count what is indexed: the size and mean length that rarity and saturation need."""

sessions = sa.Table(
    "sessions",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("name", sa.Text, nullable=False),
    _time_column("started_at"),
    sa.UniqueConstraint("user_id", "name"),
)

messages = sa.Table(
    "messages",
    metadata,
    _id_column(),
    _user_column(),
    _session_column(),
    sa.Column("turn", sa.Integer, nullable=False),
    *_text_columns("provenance", "speaker", "content"),
    sa.Column("score", sa.Double),
    _time_column("said_at"),
    sa.Index(None, "session_id", "turn"),
    sa.Index(None, "user_id", "id"),
)
"""The transcript, word for word; `score` is the assessment of a response."""

UNEMBEDDED = "vector IS NULL AND retired_at IS NULL AND provenance != 'derived'"
"""The memories whose vector is to come: of an older store, without an embedding at hand, or after an erasure."""

ASSERTED = "promoted_at IS NULL AND retired_at IS NULL AND kind = 'semantic' AND provenance IN ('user', 'tool')"
"""What a user or a tool asserts and working memory holds, of whatever session: it is forgotten by nobody's full working
memory. All else stays there, line by line, and is not to be read through in each turn."""
UNSTATED = "stated IS NULL AND retired_at IS NULL AND provenance IN ('user', 'tool')"
"""The memories whose statements are to come: of an older store, or after an erasure."""

memories = sa.Table(
    "memories",
    metadata,
    _id_column(),
    _user_column(),
    _session_column(),
    sa.Column("message_id", Number, sa.ForeignKey("messages.id", ondelete="SET NULL")),
    sa.Column("after_id", Number, index=True),
    *_text_columns("kind", "provenance", "speaker", "language", "content", "line"),
    sa.Column("withheld", sa.Text, nullable=False, server_default=""),
    sa.Column("claims", sa.Text, nullable=False),
    *(sa.Column(name, sa.Double, nullable=False) for name in ("importance", "confidence", "salience")),
    sa.Column("uses", sa.Integer, nullable=False, server_default="0"),
    sa.Column("used_at", sa.Text, nullable=False),
    sa.Column("vector", sa.LargeBinary),
    _time_column("said_at"),
    sa.Column("promoted_at", sa.Double),
    sa.Column("retired_at", sa.Double),
    sa.Column("stated", sa.Boolean),
    sa.Column("metadata", sa.Text, nullable=False, server_default=""),
    sa.Column("source_id", sa.Text),
    sa.Index(None, "user_id", "session_id", "promoted_at"),
    sa.Index(None, "user_id", "id"),
    _partial_index("ix_memories_embedded", "vector IS NOT NULL"),
    _partial_index("ix_memories_unembedded", UNEMBEDDED),
    _partial_index("ix_memories_asserted", ASSERTED),
    _partial_index("ix_memories_unstated", UNSTATED),
    sa.Index("ix_memories_source", "user_id", "source_id"),
)
"""`after_id` is the item said just before in the session; `promoted_at` is empty while an item is in working memory;
`line` is what a prompt may show of it, unless `withheld` says why not; `used_at` holds the last moments of use as a
JSON list; `vector` is float16, empty where nothing of the text is remembered, and NULL until it is made; `metadata`
is the host's own, as JSON; `source_id` tells a line that was taken in before, and outlives its erasure."""


def in_working_memory() -> sa.ColumnElement[bool]:
    """A memory that is neither promoted to long-term memory nor let go."""
    return sa.and_(memories.c.promoted_at.is_(None), memories.c.retired_at.is_(None))


def is_of(user: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """A memory of a user, where its id is known: without statistics SQLite would else read through all of theirs."""
    return memories.c.user_id + 0 == user


statements = sa.Table(
    "statements",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("memory_id", Number, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False, index=True),
    *_text_columns("subject", "subjects", "mentions", "language", "modality", "marks", "terms", "text"),
    sa.Column("vector", sa.LargeBinary),
    sa.Index(None, "user_id", "subject"),
)
"""What a memory asserts, clause by clause (`assertion.Statement`), a row for each whom it is about."""

predicted_queries = sa.Table(
    "predicted_queries",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("memory_id", Number, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False, index=True),
    *_text_columns("kind", "preference", "text"),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.Index(None, "user_id", "id"),
    sqlite_autoincrement=True,
)
"""What the user may ask later for which a memory is needed, or the preference of a key, as their own model predicts it.
An id is never given twice: vectors are held in memory by it."""

terms = sa.Table(
    "terms",
    metadata,
    sa.Column("user_id", Number, sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("term", sa.Text, primary_key=True),
    sa.Column("memories", sa.Integer, nullable=False),
    sa.Column("semantic", sa.Integer, nullable=False),
)
"""In how many memories of a user a term stands, and in how many semantic ones (rarity, topic familiarity)."""

postings = sa.Table(
    "postings",
    metadata,
    sa.Column("user_id", Number, primary_key=True),
    sa.Column("term", sa.Text, primary_key=True),
    sa.Column("memory_id", Number, primary_key=True),
    sa.Column("count", sa.Integer, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""How often a term stands in a memory of long-term memory, and how many terms that holds: what is searched by words."""

relations = sa.Table(
    "relations",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("source_id", Number, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("target_id", Number, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("confidence", sa.Double, nullable=False),
    _time_column("created_at"),
)

signals = sa.Table(
    "signals",
    metadata,
    _id_column(),
    _user_column(),
    _session_column(),
    sa.Column("turn", sa.Integer, nullable=False),
    *_text_columns("kind", "reason"),
    sa.Column("data", sa.JSON, nullable=False),
    _time_column("at"),
    sa.Index(None, "user_id", "kind"),
    sa.Index(None, "session_id", "turn"),
)
"""The append-only ledger."""

snapshots = sa.Table(
    "snapshots",
    metadata,
    _id_column(),
    sa.Column("service", sa.Text, nullable=False, index=True),
    sa.Column("turn_counter", sa.Integer, nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    _time_column("at"),
)

"""The snapshots of service instances, which hold no text of anybody and are never recalled."""

services = sa.Table(
    "services",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("data", sa.JSON, nullable=False),
    _time_column("at"),
)
"""What a service instance remembers of itself across restarts."""

revisions = sa.Table(
    "revisions",
    metadata,
    _id_column(),
    _user_column(),
    *_text_columns("subject", "author", "content"),
    sa.Column("evidence", sa.JSON, nullable=False),
    _time_column("at"),
    sa.Index(None, "user_id", "subject"),
)
"""Earlier states of whatever is derived, so that it can be undone (law 8)."""

nights = sa.Table(
    "nights",
    metadata,
    _id_column(),
    _user_column(),
    *_text_columns("night", "phase", "state"),
    sa.Column("report", sa.JSON, nullable=False),
    _time_column("at"),
    sa.UniqueConstraint("user_id", "night", "phase"),
)
"""The journal of the nights. A row is written in the transaction that changes what the phase changes, so that a phase
is done exactly once whatever is killed when."""

summaries = sa.Table(
    "summaries",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("session_id", Number, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False, unique=True),
    sa.Column("memory_id", Number, sa.ForeignKey("memories.id", ondelete="CASCADE"), nullable=False),
    sa.Column("topics", sa.JSON, nullable=False),
    sa.Column("messages", sa.Integer, nullable=False),
    sa.Column("up_to", Number, nullable=False),
    _time_column("at"),
)
"""What a session was about; its text is a derived memory, which is never recalled. `up_to` is the last message seen."""

lessons = sa.Table(
    "lessons",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("section", sa.Text, nullable=False, server_default=""),
    sa.Column("trigger", sa.JSON, nullable=False),
    sa.Column("advice", sa.Text, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("mode", sa.Text, nullable=False, server_default=""),
    sa.Column("citations", sa.JSON, nullable=False),
    _time_column("created_at"),
    sa.Column("retired_at", sa.Double),
    sa.UniqueConstraint("user_id", "key"),
)
"""Guidance: a lesson has a trigger (terms of a message), a guideline a section of SOUL.md. `citations` are the ids of
the user's messages that it was learned from, `mode` is a person's word on it (`pinned`, `muted`)."""

evidence = sa.Table(
    "evidence",
    metadata,
    _id_column(),
    _user_column(),
    sa.Column("lesson_id", Number, sa.ForeignKey("lessons.id", ondelete="CASCADE"), nullable=False),
    _session_column(),
    sa.Column("arm", sa.Text, nullable=False),
    sa.Column("happened", sa.Boolean, nullable=False),
    _time_column("at"),
    sa.UniqueConstraint("lesson_id", "session_id"),
)
"""What a session in which its trigger appeared says of a lesson; a session counts once."""

spending = sa.Table(
    "spending",
    metadata,
    sa.Column("night", sa.Text, primary_key=True),
    sa.Column("user_id", Number, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Double, nullable=False, server_default="0") for name in ("calls", "tokens")),
    sa.Column("state", sa.Text, nullable=False, server_default=""),
    sa.Column("why", sa.Text, nullable=False, server_default=""),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    sa.Column("began", sa.Double, nullable=False, server_default="0"),
    sa.Column("ended", sa.Double, nullable=False, server_default="0"),
)
"""How each user's night of a date stands and what it has spent; `why` names what failed, never in anybody's words."""

strategies = sa.Table(
    "strategies",
    metadata,
    *(sa.Column(name, sa.Text, primary_key=True) for name in ("model", "kind", "strategy")),
    sa.Column("successes", sa.Integer, nullable=False),
    sa.Column("failures", sa.Integer, nullable=False),
    _time_column("at"),
)
"""How the solver's strategies did, by the model that carried them out and the class of problem; of nobody's words."""


_STAMP = sa.text(
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def make_tables(connection: sa.Connection, name: str) -> bool:
    """Make the tables in the transaction that is under way, where there are none; returns whether they were made.

    Older ones are brought up to date.

    Raises:
        StoreNewer: a newer version of Insula wrote them.
        StoreError: they are of a version before the first release, or another program's.
    """
    tables = sa.inspect(connection).get_table_names()
    if not {"alembic_version", memories.name} <= {*tables}:
        _check_free(tables, connection.dialect.name, name)
        metadata.create_all(connection, checkfirst=False)
        connection.execute(_STAMP)
        connection.execute(sa.text("INSERT INTO alembic_version VALUES (:version)"), {"version": VERSION})
        return True
    version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() or ""
    if version > VERSION:
        raise StoreNewer(
            f"The memory at {name!r} was written by a newer version of Insula (schema {version}, this one knows "
            f"{VERSION}); upgrade Insula where you have it from"
        )
    if version < OLDEST:
        raise StoreError(
            f"The memory at {name!r} was written before the first release of Insula (schema {version}), and is left as "
            "it is; write each user to a file with the Insula that made it (insula user export), and import those here."
        )
    if version < VERSION:
        _upgrade_tables(connection)
    return False


def _check_free(tables: Collection[str], dialect: str, name: str) -> None:
    """Whether ours may be made beside other tables: in a file that has any it is another program's; on a server that
    is usual, while none has the name of one of ours.
    """
    if tables if dialect == "sqlite" else {"alembic_version", *metadata.tables} & {*tables}:
        raise StoreError(
            f"The database at {name!r} holds tables of another program and no memory of Insula's; name another one."
        )


def _upgrade_tables(connection: sa.Connection) -> None:
    """Bring the tables up to date in the transaction that is under way: a kill leaves the old ones, or the new.

    Alembic (0.2 s of CPU) is imported here alone, so only where the tables are older.
    """
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
