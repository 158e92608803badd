"""The database of a store, and the threads that alone speak to it.

Each unit of work runs whole in one of those threads: a caller that is cancelled leaves nothing half written, and no
statement waits for the event loop.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from insula.caches import clear_caches
from insula.errors import StoreError
from insula.memory.storage.postgres import PostgresServer, is_server
from insula.memory.storage.sqlite import SqliteFile
from insula.memory.storage.vectors import Neighbourhoods

P = ParamSpec("P")
T = TypeVar("T")

CLOSED = "This memory is closed; open it again with Metacognition.open or Metacognition.sync."


class Database:
    """A file or a server, the threads that use it, and what is held of it in memory.

    Args:
        path: of the file; ":memory:" for one that is forgotten; or a URL of PostgreSQL's.
        now: the clock.
    """

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.closed = False
        self.neighbourhoods = Neighbourhoods()
        self._backend = open_backend(str(path), self.drop_cached)
        self._threads = ThreadPoolExecutor(self._backend.threads, "insula-store")
        self._readers = ThreadPoolExecutor(max(1, self._backend.readers), "insula-reader")

    @property
    def path(self) -> str:
        """The file, or the URL without its password."""
        return self._backend.name

    @classmethod
    async def open(cls, path: str | Path, now: Callable[[], float] = time.time) -> Self:
        """Open the database at `path`, creating or upgrading its tables as needed.

        Raises:
            SettingsError: the URL cannot be read, or its driver is not installed.
            StoreFull: the folder, file or database cannot be written.
            StoreCorrupt: the file is not a database.
            StoreNewer: a newer version of Insula wrote it.
            StoreLocked: another process holds it.
            StoreError: the server is away, lets nobody in, or is too old.
        """
        store = cls(path, now)
        try:
            store._backend.prepare_storage()
            await store.run(_open_only)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is being written and let go of the database."""
        self.closed = True
        await asyncio.to_thread(self._readers.shutdown)
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._backend.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work, a function of a connection, in a transaction: all or nothing, with errors of ours.

        The statements stand beside the tables in `memory`; not each of them needs a method here.
        """

        if self.closed:
            raise StoreError(CLOSED)

        def unit() -> T:
            try:
                return self._backend.run_unit(lambda connection: work(connection, *args, **options))
            except StoreError:
                self.drop_cached()  # a user may have been erased by another process
                raise

        return await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, unit)

    async def read(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work that only reads, beside whoever writes and beside other readers.

        All of it sees the memory as it is at one moment. A memory that is in no file is read by the thread that writes
        it.
        """
        if self.closed or not (self._backend.readers and self._backend.is_open()):
            return await self.run(work, *args, **options)

        def unit() -> T:
            try:
                return self._backend.read_unit(lambda connection: work(connection, *args, **options))
            except StoreError:
                self.drop_cached()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._readers, unit)

    @property
    def is_shared(self) -> bool:
        """Whether other machines may use it, so that what is remembered of it here grows old."""
        return self._backend.shared

    def hold_night(self, user_id: int) -> AbstractAsyncContextManager[bool]:
        """Hold a user's night, with whether nobody else does; who is killed lets go of it."""
        return self._backend.hold_night(user_id)

    async def scrub_erased(self) -> bool:
        """Leave nothing of what was erased, in memory or files; False where another process reads and is in the way."""
        self.drop_cached()
        clear_caches()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._backend.scrub_erased)

    @property
    def residue(self) -> str:
        """What of an erasure stays in the database's files, and what takes that away; empty where nothing does."""
        return self._backend.residue

    def drop_cached(self) -> None:
        """Let go of what is held in memory of the database."""
        self.neighbourhoods.drop_cached()


def open_backend(address: str, forget: Callable[[], None]) -> SqliteFile | PostgresServer:
    """The database at an address: a path, `:memory:`, or a URL of PostgreSQL's."""
    return PostgresServer(address, forget) if is_server(address) else SqliteFile(address, forget)


def _open_only(_: sa.Connection) -> None:
    """The unit of work that only opens."""
