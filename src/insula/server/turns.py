"""Turns under way. Each is finished and stored though its client goes away: what was said is remembered."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import HTTPException

T = TypeVar("T")

GRACE_SECONDS = 13.0
"""How long a server that stops waits for turns; then they are cancelled, and whoever waits is told what is kept."""
AT_ONCE = 4
"""Turns of one user that are under way at once. Between two of its waits a turn takes up to half a second of the event
loop (a message of 200,000 characters), and everybody waits for as many of them as are under way."""
WAITING = 100
"""Turns of one user that may wait, those under way included: ten such users leave no room in `crowd`."""


@dataclass(slots=True)
class TurnQueue:
    """The turns of one user that are under way, and those that wait."""

    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    turns: int = 0


class RunningTurns:
    """Work that outlives the request that began it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._queues: dict[str, TurnQueue] = {}

    def count_turns(self, user: str) -> int:
        """How many turns of a user are under way or wait."""
        return queue.turns if (queue := self._queues.get(user)) else 0

    def queue_turn(self, user: str, turn: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Begin a turn of a user as soon as few enough of theirs are under way, in the order in which they came.

        A server that stops before it is begun cancels the task, like one that is under way.
        """
        queue = self._queues.setdefault(user, TurnQueue())
        queue.turns += 1
        task = self.start_work(_run_queued(queue, turn))
        task.add_done_callback(lambda _: self._drop_empty(user, queue))
        return task

    async def finish_work(self, work: Coroutine[Any, Any, T]) -> T:
        """What work comes to that no cut connection ends.

        Raises:
            HTTPException: the server stops before it is done.
        """
        task = self.start_work(work)
        await asyncio.wait([task])
        if task.cancelled():
            raise HTTPException(503, "The server stops before it is done; ask again once it runs, and it goes on.")
        return task.result()

    def start_work(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin work that no cut connection ends."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._read_exception)
        return task

    async def finish_all(self, seconds: float = GRACE_SECONDS) -> None:
        """Wait for what is under way, then end what is left of it."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
            await asyncio.gather(*self.cancel_all(), return_exceptions=True)

    def cancel_all(self) -> list[asyncio.Task[Any]]:
        """Cancel what is under way, and return it."""
        late = [*self._tasks]
        for task in late:
            task.cancel()
        return late

    def _drop_empty(self, user: str, queue: TurnQueue) -> None:
        queue.turns -= 1
        if not queue.turns:
            del self._queues[user]

    def _read_exception(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # it was told to whoever waits; where nobody does any more, it is no news


async def _run_queued(queue: TurnQueue, turn: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async with queue.room:
        return await turn()


class ResponsePieces:
    """Pieces of a response on their way to a client: as many as came since the last, in one."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._more = asyncio.Event()
        self._ended = False

    def add_piece(self, piece: str) -> None:
        """Take a piece in."""
        self._held.append(piece)
        self._more.set()

    def end_pieces(self) -> None:
        """There are no more."""
        self._ended = True
        self._more.set()

    async def read_pieces(self, heartbeat: float) -> AsyncGenerator[str]:
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
