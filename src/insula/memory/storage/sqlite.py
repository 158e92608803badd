"""What is SQLite's own: the file, for its owner's eyes alone and told from any other, pragmas, locks, error codes."""

import logging
import os
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from insula.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked
from insula.locks import hold_lock
from insula.memory.storage.prepared import Prepared, sqlite_of
from insula.memory.storage.schema import make_tables

log = logging.getLogger(__name__)

T = TypeVar("T")

MEMORY = ":memory:"
"""The name of a store that is forgotten."""
BUSY_MS = 4_000
READERS = 3
"""Threads that read beside the one that writes: more would only wait for the interpreter."""
TURN_BYTES = 65_536
"""What a turn may add to the file, and then some: the longest message and its index."""
ROOM_BYTES = 4 * TURN_BYTES
"""What a disk that is not full has left: a message and its response, each in the log first and then in the file."""

BEST = Prepared(
    sa.text("""
SELECT memory_id FROM json_each(:weights) AS weight JOIN postings ON postings.term = weight.key
WHERE postings.user_id = :user GROUP BY memory_id
ORDER BY sum(CAST(weight.value * count / (count + :short + :long * length) AS INTEGER)) DESC, memory_id DESC
LIMIT :limit""")
)
"""The memories that hold some weighted terms, best first."""


class SqliteFile:
    """A store in a file, with one connection that one thread uses to write, and a few that others use to read.

    Who reads sees what was written last when it begins, and waits for nobody (WAL).

    A statement costs 0.01 ms there instead of the 0.3 ms that it takes to cross between threads one by one.

    Args:
        path: the file, or ":memory:".
        forget: called where what is known of the rows may be wrong from now on.
    """

    threads = 1
    shared = False
    residue = ""

    def __init__(self, path: str, forget: Callable[[], None]) -> None:
        self.name = path
        self._forget = forget
        url = sa.URL.create("sqlite+pysqlite", database=path)
        self._engine = sa.create_engine(
            url, poolclass=sa.StaticPool, hide_parameters=True, connect_args={"check_same_thread": False}
        )
        event.listen(self._engine, "connect", _set_pragmas)
        self._reading = _reading_engine(path) if path != MEMORY else None
        self._writing: sa.Connection | None = None
        """Open as long as the file: to open one for each unit of work costs as much as a statement."""
        self._file: tuple[int, int] | None = None

    def reads_apart(self) -> bool:
        """Whether others may read beside whoever writes: the file at its path is open; else who writes opens it."""
        return self._reading is not None and self._file is not None and _file_identity(self.name) == self._file

    def read_unit(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one unit of work that only reads, all of it at one moment.

        Raises:
            StoreError: the file cannot be used.
        """
        try:
            with (self._reading or self._engine).connect() as connection:
                begin_read(connection)
                return work(connection)
        except (DBAPIError, sqlite3.Error) as error:
            raise explain_error(error, self.name) from error

    def prepare_storage(self) -> None:
        """Make the file and its folder, for their owner's eyes alone.

        Raises:
            StoreFull: they cannot be made.
        """
        if self.name == MEMORY:
            return
        path = Path(self.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            raise StoreFull(
                f"The memory at {self.name!r} cannot be made or opened ({error.strerror}); allow writing in its "
                "folder, or put it elsewhere, as by INSULA_HOME."
            ) from error

    def run_unit(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one unit of work in a transaction.

        Raises:
            StoreError: the file cannot be used; the message says why and what to do.
        """
        try:
            connection = self._open_file()
            with connection.begin():
                return work(connection)
        except (DBAPIError, sqlite3.Error) as error:
            raise explain_error(error, self.name) from error

    def _open_file(self) -> sa.Connection:
        """The connection that writes, to the file that is at its path: SQLite writes on into one that was deleted.

        Raises:
            StoreError: it is gone. Once it is back, or another one is in its place, that is opened.
        """
        identity = _file_identity(self.name)
        if identity != self._file and self._file is not None:
            self.close()
            self._forget()
            self._file = None
        if identity is None:
            raise StoreError(f"The memory at {self.name!r} is gone; put the file back, or start anew without it.")
        if self._file is None:
            with self._engine.begin() as connection:
                begin_write(connection)
                make_tables(connection, self.name)
            self._file = identity
        if self._writing is None:
            self._writing = self._engine.connect()
        return self._writing

    def scrub_erased(self) -> bool:
        """Write the file anew without its free pages, and empty the log of what was written; False where a reader is
        in the way, so that the log still holds what was.
        """
        if self.name == MEMORY:
            return True
        try:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")
                return connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0] == 0
        except DBAPIError as error:
            log.warning("%s", explain_error(error, self.name))
            return False

    @asynccontextmanager
    async def hold_night(self, user_id: int) -> AsyncGenerator[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it."""
        if self.name == MEMORY:
            yield True
            return
        with hold_lock(Path(f"{self.name}.night{user_id}")) as mine:
            yield mine

    def close(self) -> None:
        """Let go of the file."""
        if self._writing:
            self._writing.close()
            self._writing = None
        if self._reading:
            self._reading.dispose()
        self._engine.dispose()


def _reading_engine(path: str) -> sa.Engine:
    """An engine of as many connections as there are readers; they cannot write, nor make a file."""

    def connect_readonly() -> sqlite3.Connection:
        made = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=rw", uri=True, check_same_thread=False)
        for pragma in (f"busy_timeout={BUSY_MS}", "query_only=ON"):
            made.execute(f"PRAGMA {pragma}")
        return made

    return sa.create_engine(
        "sqlite+pysqlite://",
        creator=connect_readonly,
        poolclass=sa.QueuePool,
        pool_size=READERS,
        max_overflow=0,
        hide_parameters=True,
    )


def _set_pragmas(connection: Any, _: object) -> None:
    """Set a new connection up: write-ahead log, foreign keys, patience, and no temporary files."""
    cursor = connection.cursor()
    kept = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "temp_store=MEMORY")
    for pragma in (f"busy_timeout={BUSY_MS}", *kept):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _file_identity(path: str) -> tuple[int, int] | None:
    """What tells a file from any other, whatever its name; None where there is none."""
    if path == MEMORY:
        return 0, 0
    try:
        stat = os.stat(path)  # noqa: PTH116 each unit of work asks, and a Path costs more than the answer
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def begin_write(connection: sa.Connection, _: int | None = None) -> None:
    """Begin to write now, so that what changes the schema is part of the transaction, too; one writes at a time."""
    _begin_transaction(connection, "BEGIN IMMEDIATE")


def begin_read(connection: sa.Connection) -> None:
    """Begin to read: all that is read from now on is as it stands at one moment, whoever writes meanwhile."""
    _begin_transaction(connection, "BEGIN")


def _begin_transaction(connection: sa.Connection, how: str) -> None:
    file = sqlite_of(connection)
    if file and not file.in_transaction:
        file.execute(how)


def check_room(connection: sa.Connection) -> None:
    """See, within a transaction, whether the file may grow; what was tried is taken back.

    What is written goes into the log first, so that a full disk is said late: its room is asked for, too.

    Raises:
        StoreFull: there is no room.
    """
    connection.exec_driver_sql("SAVEPOINT room")
    connection.exec_driver_sql("CREATE TABLE room (x)")
    connection.exec_driver_sql("INSERT INTO room VALUES (zeroblob(?))", (TURN_BYTES,))
    connection.exec_driver_sql("ROLLBACK TO room")
    connection.exec_driver_sql("RELEASE room")
    path = connection.engine.url.database
    with suppress(OSError):  # of a folder that is gone the store itself says so
        if path and path != MEMORY and shutil.disk_usage(Path(path).parent).free < ROOM_BYTES:
            raise StoreFull(f"The disk that holds {path!r} is full; free some space: what is said now cannot be kept.")


def reserve_ids(connection: sa.Connection, table: sa.Table, first: int, _: int) -> int:
    """What is to be added to some ids for them to be free: nothing where they are."""
    greatest = connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0
    return greatest if first <= greatest else 0


def explain_error(error: DBAPIError | sqlite3.Error, path: str) -> StoreError:
    """The database's error as one of ours, with what to do about it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    name = getattr(cause, "sqlite_errorname", "an error")
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreLocked(
            f"The memory at {path!r} is locked by another process; close the other program that uses it and try again."
        )
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return StoreCorrupt(
            f"The memory at {path!r} is damaged or not a database; move it aside (it is left as it is) "
            f"or put a copy back, then start again."
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(
            f"The disk that holds {path!r} is full; free some space and say it again: "
            "what was said just now is not kept."
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR}:
        return StoreFull(
            f"The memory at {path!r} cannot be written ({name}); check that the folder exists, that you may write "
            f"there and that the disk has room, or point INSULA_HOME elsewhere."
        )
    return StoreError(f"The memory at {path!r} could not be used ({name}: {cause}); see the log and try again.")
