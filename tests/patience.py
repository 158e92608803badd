"""Waits for what happens, not for time that passes: a slow machine takes longer, and the test says the same."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar

from insula.testing import Reply, Request, ScriptedModel

P = ParamSpec("P")
T = TypeVar("T")

DEADLOCK_SECONDS = 120.0
"""After which something is taken never to happen; what is there is seen at once."""


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(DEADLOCK_SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


class Gate:
    """A place at which work is held until the test lets it go on; threads and coroutines alike.

    Attributes:
        arrived: how many came to it.
    """

    def __init__(self) -> None:
        self.arrived = 0
        self._open = threading.Event()

    def open(self) -> None:
        """Let everybody go on who is held, or comes later."""
        self._open.set()

    async def reached(self, times: int = 1) -> None:
        """Wait until so many have come to it."""
        await until(lambda: self.arrived >= times)

    def before(self, work: Callable[P, T]) -> Callable[P, T]:
        """The same work, held before it begins in its thread."""

        def held(*args: P.args, **options: P.kwargs) -> T:
            self.arrived += 1
            if not self._open.wait(DEADLOCK_SECONDS):
                raise TimeoutError("The gate was never opened.")
            return work(*args, **options)

        return held

    def before_awaiting(self, work: Callable[P, Awaitable[T]]) -> "Callable[P, CoroutineType[Any, Any, T]]":
        """The same for a coroutine; who cancels it need not wait for the gate."""

        async def held(*args: P.args, **options: P.kwargs) -> T:
            self.arrived += 1
            await until(self._open.is_set)
            return await work(*args, **options)

        return held


class HeldModel(ScriptedModel):
    """A model that takes a request in, and answers when the test says so.

    Args:
        replies: as for `ScriptedModel`.
    """

    def __init__(self, replies: Callable[[Request], Reply]) -> None:
        super().__init__(replies)
        self.gate = Gate()
        self._next = self.gate.before_awaiting(self._next)
