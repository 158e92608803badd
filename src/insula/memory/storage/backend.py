"""What holds a store: a file of SQLite's, or a server of PostgreSQL's, behind the same few functions."""

import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

import sqlalchemy as sa

from insula.memory.storage.postgres import SCHEMES, Server
from insula.memory.storage.sqlite import File

T = TypeVar("T")


class Backend(Protocol):
    """One that a store is in."""

    name: str
    """As sentences and people call it: a path, or a URL without its password."""
    threads: int
    """Units of work that it can do at once."""

    @property
    def readers(self) -> int:
        """Units of work that may read beside those; 0 where none need to."""
        ...

    shared: bool
    """Whether others on other machines may use it, so that what is remembered of it here grows old."""

    residue: str
    """What of an erasure stays in its files all the same, and what takes that away; empty where nothing does."""

    def make(self) -> None:
        """Make what can be made of it beforehand."""
        ...

    def unit(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one unit of work in a transaction: all of it or nothing, with errors of ours."""
        ...

    def is_open(self) -> bool:
        """Whether readers may look at it now."""
        ...

    def look(self, work: Callable[[sa.Connection], T]) -> T:
        """Do one unit of work that only reads, all of it at one moment, with errors of ours."""
        ...

    def scrub(self) -> bool:
        """Leave nothing of what was erased; False where somebody is in the way."""
        ...

    def alone(self, user_id: int) -> AbstractAsyncContextManager[bool]:
        """Hold a user's night, with whether nobody else does."""
        ...

    def listen(self, heard: Callable[[], object], until: threading.Event) -> None:
        """Call `heard`, from this thread, whenever another process announces that ledgers grew; where that is not told,
        return at once.
        """
        ...

    def announce(self) -> None:
        """Tell other processes that ledgers grew."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def at(address: str, forget: Callable[[], None]) -> Backend:
    """The database at an address: a path, `:memory:`, or a URL of PostgreSQL's."""
    return Server(address, forget) if is_server(address) else File(address, forget)


def is_server(address: str) -> bool:
    """Whether an address is that of a server."""
    return address.startswith(SCHEMES)
