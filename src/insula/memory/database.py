"""The database: one SQLite file, the thread that alone writes it, and a few that only read.

Readers see what was written last when they begin, and wait for nobody (WAL): a question that takes long delays neither
who writes nor other questions. Each unit of work runs whole in one thread: a caller that is cancelled leaves nothing
half written, and a statement costs 0.01 ms instead of the 0.3 ms that it takes to cross between threads one by one.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from insula.errors import StoreError
from insula.memory import file, index
from insula.memory.vectors import Neighbourhoods

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

READERS = 3
"""Threads that read beside the one that writes: more would only wait for the interpreter."""


class Database:
    """A file, its thread, and what is held of it in memory.

    Args:
        path: of the file; ":memory:" for one that is forgotten.
        now: the clock.
    """

    def __init__(self, path: str | Path, now: Callable[[], float] = time.time) -> None:
        self.path = str(path)
        self.now = now
        self._engine = file.engine_of(self.path)
        self._thread = ThreadPoolExecutor(1, "insula-store")
        self._reading = file.reading_engine_of(self.path, READERS)
        self._readers = ThreadPoolExecutor(READERS, "insula-reader")
        self._file: tuple[int, int] | None = None
        self.neighbourhoods = Neighbourhoods()

    @classmethod
    async def open(cls, path: str | Path, now: Callable[[], float] = time.time) -> Self:
        """Open the database at `path` (":memory:" for one that is forgotten), creating or upgrading it as needed.

        Raises:
            StoreFull: the folder or file cannot be written.
            StoreCorrupt: the file is not a database.
            StoreNewer: a newer version of Insula wrote it.
            StoreLocked: another process holds it.
        """
        store = cls(path, now)
        try:
            if store.path != ":memory:":
                file.make(Path(store.path))
            await store.run(_nothing)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is being written and let go of the file."""
        self._readers.shutdown()
        if self._reading is not None:
            self._reading.dispose()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work, a function of a connection, in a transaction: all or nothing, with errors of ours.

        The statements stand beside the tables in `memory`; not each of them needs a method here.
        """

        def unit() -> T:
            try:
                self._find()
                with self._engine.begin() as connection:
                    return work(connection, *args, **options)
            except DBAPIError as error:
                self.forget()  # a user may have been erased by another process
                raise index.explain(error, self.path) from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, unit)

    async def read(self, work: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Run one unit of work that only reads: all of it sees the memory as it is at one moment.

        It runs beside whoever writes; a memory that is in no file is read by the thread that writes it.
        """
        if (engine := self._reading) is None or self._file is None or file.identity(self.path) != self._file:
            return await self.run(work, *args, **options)

        def unit() -> T:
            try:
                with engine.connect() as connection:
                    index.snapshot(connection)
                    return work(connection, *args, **options)
            except DBAPIError as error:
                self.forget()
                raise index.explain(error, self.path) from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, unit)

    def _find(self) -> None:
        """See whether the file that is open is the one at its path: SQLite writes on into one that was deleted.

        Raises:
            StoreError: it is gone. Once it is back, or another one is in its place, that is opened.
        """
        found = file.identity(self.path)
        if found != self._file and self._file is not None:
            self._engine.dispose()
            if self._reading is not None:
                self._reading.dispose()
            self.forget()
            self._file = None
        if found is None:
            raise StoreError(f"The memory at {self.path!r} is gone; put the file back, or start anew without it.")
        if self._file is None:
            with self._engine.begin() as connection:
                file.upgrade(connection, self.path)
            self._file = found

    async def scrub(self) -> bool:
        """Leave nothing of what was erased in the file; False where another process that reads is in the way."""
        self.forget()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._scrub)

    def _scrub(self) -> bool:
        try:
            return self.path == ":memory:" or index.scrub(self._engine)
        except DBAPIError as error:
            log.warning("%s", index.explain(error, self.path))
            return False

    def forget(self) -> None:
        """Let go of what is held in memory of the file."""
        self.neighbourhoods.forget()


def _nothing(_: sa.Connection) -> None:
    """The unit of work that only opens."""
