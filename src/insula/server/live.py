"""Who waits for a user's ledger to grow. Nothing is kept for a listener: each reads the ledger when it can."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException

from insula.errors import StoreError
from insula.memory.storage import views
from insula.memory.storage.store import Store
from insula.types import Signal

log = logging.getLogger(__name__)

LISTENERS = 64
"""Streams that one user may have open at once."""
POLL_SECONDS = 1.0
"""How soon is seen what another process wrote, a night or a terminal; our own signals are told at once."""
BACK = 3
"""Looks that one reaches back where several write: what has an earlier place may be seen later."""


@dataclass(slots=True, eq=False)
class ListenerRoom:
    """Where the listeners of one user wait."""

    listeners: int = 0
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the ledger has grown. Who takes it before looking at the ledger misses nothing."""
    reads: dict[int, "asyncio.Task[Any]"] = field(default_factory=dict[int, "asyncio.Task[Any]"])
    """Looks at the ledger that are under way, by the place after which they look: listeners share them."""


class LiveLedger:
    """Wakes the listeners of a user whose ledger has grown.

    Attributes:
        closed: whether the server stops, and all streams with it.
    """

    def __init__(self) -> None:
        self.closed = False
        self._rooms: dict[str, ListenerRoom] = {}
        self._ends: deque[int] = deque(maxlen=BACK)

    @contextmanager
    def add_listener(self, user: str) -> Generator[ListenerRoom]:
        """Be a listener of a user within the block."""
        room = self._rooms.setdefault(user, ListenerRoom())
        if room.listeners >= LISTENERS:
            raise HTTPException(429, f"{LISTENERS} streams of this user are open already; close one of them.")
        room.listeners += 1
        try:
            yield room
        finally:
            room.listeners -= 1
            if not room.listeners:
                del self._rooms[user]

    def wake_listeners(self, signal: Signal) -> None:
        """Wake the listeners of the user of a signal."""
        self._wake_user(signal.user)

    def close_streams(self) -> None:
        """End all streams."""
        self.closed = True
        for user in list(self._rooms):
            self._wake_user(user)

    async def watch_store(self, store: Store, tokens: Callable[[], object] = lambda: None) -> None:
        """Look again and again, as long as anybody listens, for what other processes wrote, and for other tokens."""
        known = tokens()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if known != (known := tokens()):
                self._ends.clear()  # wakes all: whose token is gone goes
            if not self._rooms:
                self._ends.clear()
                continue
            try:
                users = await self._look_for_news(store)
            except StoreError as error:
                log.warning("The ledger cannot be read: %s", error)
                continue
            for user in users:
                self._wake_user(user)

    async def _look_for_news(self, store: Store) -> list[str]:
        """Who is to be woken: all where it is not known what they have seen."""
        if not self._ends:
            self._ends.append(await store.read(views.ledger_end))
            return list(self._rooms)
        end, users = await store.read(views.find_grown_ledgers, self._ends[0] if store.is_shared else self._ends[-1])
        self._ends.append(end)
        return users

    def _wake_user(self, user: str) -> None:
        if room := self._rooms.get(user):
            room.grown.set()
            room.grown, room.reads = asyncio.Event(), {}
