"""The schema of a store, brought up to date or back in the transaction of whoever asks."""

from pathlib import Path

import sqlalchemy as sa

from insula.errors import StoreNewer
from insula.memory.storage.schema import VERSION, metadata

_STAMPED = sa.text(
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
"""As Alembic makes it."""


def upgrade(connection: sa.Connection, name: str) -> None:
    """Bring the schema up to date in the transaction that is under way: a kill leaves the old one, or the new.

    A new file gets the tables as they are now; Alembic (0.2 s of CPU) is imported only where there is an older schema,
    or a server, whose policies stand in the migrations alone.

    Raises:
        StoreNewer: a newer version of Insula wrote it.
    """
    found, tables = None, sa.inspect(connection).get_table_names()
    if not tables and connection.dialect.name == "sqlite":
        metadata.create_all(connection, checkfirst=False)
        connection.execute(_STAMPED)
        connection.execute(sa.text("INSERT INTO alembic_version VALUES (:version)"), {"version": VERSION})
        return
    if "alembic_version" in tables:
        found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    if found != VERSION:
        move(connection, name, found)


def move(connection: sa.Connection, name: str, found: str | None, to: str = "head") -> None:
    """Bring the schema from one version to another, forth or back.

    Raises:
        StoreNewer: a newer version of Insula wrote it.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreNewer(
            f"The memory at {name!r} was written by a newer version of Insula (schema {found}, this one knows "
            f"{VERSION}); upgrade Insula where you have it from"
        )
    config.attributes["connection"] = connection
    (command.upgrade if to == "head" else command.downgrade)(config, to)
