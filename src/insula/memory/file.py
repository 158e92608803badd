"""The file that a store lives in: made for its owner's eyes alone, told from any other, opened, brought up to date."""

import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from insula.errors import StoreFull, StoreNewer
from insula.memory import index
from insula.memory.schema import VERSION

ROOM_BYTES = 4_000_000
"""What is left on a disk that counts as full: the log of a busy minute."""


def make(path: Path) -> None:
    """Make the file and its folder, for their owner's eyes alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError as error:
        raise StoreFull(
            f"The folder {str(path.parent)!r} for the memory cannot be made ({error.strerror}); "
            f"make it, or point INSULA_HOME elsewhere."
        ) from error


def check_room(path: str) -> None:
    """See whether the disk has room for a turn: what is written goes into the log first, so SQLite would say it late.

    Raises:
        StoreFull: it has not.
    """
    if path == ":memory:":
        return
    folder = Path(path).parent
    with suppress(OSError):  # of a folder that is gone the store itself says so
        if shutil.disk_usage(folder).free < ROOM_BYTES:
            raise StoreFull(f"The disk that holds {path!r} is full; free some space: what is said now cannot be kept.")


def identity(path: str) -> tuple[int, int] | None:
    """What tells a file from any other, whatever its name; None where there is none."""
    if path == ":memory:":
        return 0, 0
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def engine_of(name: str) -> sa.Engine:
    """An engine of one connection, used by the store's thread alone."""
    url = sa.URL.create("sqlite+pysqlite", database=name)
    engine = sa.create_engine(
        url, poolclass=sa.StaticPool, hide_parameters=True, connect_args={"check_same_thread": False}
    )
    index.configure(engine)
    return engine


def reading_engine_of(name: str, readers: int) -> sa.Engine | None:
    """An engine of as many connections as there are readers, which cannot write; None where there is no file."""
    if name == ":memory:":
        return None

    def connected() -> sqlite3.Connection:
        there = f"{Path(name).absolute().as_uri()}?mode=rw"  # where there is none, none is made
        return sqlite3.connect(there, uri=True, check_same_thread=False)

    engine = sa.create_engine(
        "sqlite+pysqlite://",
        creator=connected,
        poolclass=sa.QueuePool,
        pool_size=readers,
        max_overflow=0,
        hide_parameters=True,
    )
    index.configure(engine, reads=True)
    return engine


def upgrade(connection: sa.Connection, path: str) -> None:
    """Bring the schema up to date in one transaction: a kill leaves the old one, or the new.

    Alembic (0.1 s) is imported only when there is something to do.
    """
    found = None
    index.begin(connection)
    if sa.inspect(connection).has_table("alembic_version"):
        found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    if found == VERSION:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreNewer(
            f"The memory at {path!r} was written by a newer version of Insula (schema {found}, this one knows "
            f"{VERSION}); upgrade Insula where you have it from"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")  # in the transaction that was begun above
