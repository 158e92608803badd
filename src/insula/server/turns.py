"""Turns under way. Each is finished and stored though its client goes away: what was said is remembered."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GRACE_SECONDS = 10.0
"""How long a server that stops waits for turns; then their message is kept, without a response."""


class Turns:
    """Work that outlives the request that began it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin work that no cut connection ends; `await asyncio.shield(...)` waits for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    async def finish(self, seconds: float = GRACE_SECONDS) -> None:
        """Wait for what is under way, then end what is left of it."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # it was told to whoever waits; where nobody does any more, it is no news


class Pieces:
    """Pieces of a response on their way to a client: as many as came since the last, in one."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._more = asyncio.Event()
        self._ended = False

    def add(self, piece: str) -> None:
        """Take a piece in."""
        self._held.append(piece)
        self._more.set()

    def end(self) -> None:
        """There are no more."""
        self._ended = True
        self._more.set()

    async def read(self, heartbeat: float) -> AsyncGenerator[str]:
        """What there is, when the reader can take it; "" where nothing came for `heartbeat` seconds."""
        while self._held or not self._ended:
            if not self._held:
                try:
                    async with asyncio.timeout(heartbeat):
                        await self._more.wait()
                except TimeoutError:
                    yield ""
            self._more.clear()
            if self._held:
                text, self._held = "".join(self._held), []
                yield text
