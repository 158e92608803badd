"""`Metacognition` for code without `await`: notebooks, workers, frameworks that call hooks from threads."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from insula.errors import StoreError
from insula.memory.storage.filters import Metadata
from insula.memory.storage.store import CLOSED
from insula.metacognition.facade import Metacognition
from insula.metacognition.turn import Turn
from insula.types import Signal

P = ParamSpec("P")
T = TypeVar("T")


def _make_blocking(
    method: Callable[Concatenate[Metacognition, P], Coroutine[Any, Any, T]],
) -> "Callable[Concatenate[Blocking, P], T]":
    """A method of `Metacognition` that waits for what it returns."""

    @wraps(method)
    def blocking(self: "Blocking", /, *args: P.args, **options: P.kwargs) -> T:
        return self.run_waiting(method(self.mind, *args, **options))

    return blocking


class Blocking:
    """`Metacognition` with plain functions, from `Metacognition.sync`; its work runs in a thread of its own.

    A notebook whose loop is already running may use it, and so may several threads at once. It does not outlive a fork:
    open it in each worker.

    ```python
    with Metacognition.sync("insula.db") as metacognition:
        with metacognition.turn("ana", "monday", "Where do I live?") as turn:
            answer = my_agent(turn.prompt, system=turn.instructions)
            answer = turn.finish(answer).response
    ```

    Attributes:
        mind: the `Metacognition` behind it.
    """

    def __init__(self, opened: Callable[[], Coroutine[Any, Any, Metacognition]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="insula", daemon=True)
        self._thread.start()
        try:
            self.mind = self.run_waiting(opened())
        except BaseException:
            self._end_thread()
            raise

    @classmethod
    def wrap_open(cls, mind: Metacognition) -> Self:
        """The same for one that is open already."""

        async def opened() -> Metacognition:
            return mind

        return cls(opened)

    def run_waiting(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns, waited for."""
        self._check_open(work)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def run_awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns, awaited from any other loop."""
        self._check_open(work)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def turn(
        self, user: str, session: str, message: object, *, model: str = "", metadata: Metadata | None = None
    ) -> AbstractContextManager[Turn]:
        """One exchange, to be entered with `with`; see `Turn`.

        Args:
            user: whose memory is used.
            session: the conversation.
            message: what the user says: a text, content parts, or a message of a library; pictures are passed over.
            model: the name of the model that answers; how slow is too slow is known of each by itself.
            metadata: what you say of what is said in it, to find it by: names with texts, numbers or truth values.

        Raises:
            InputError: the user or the session cannot be called so, the message is none, or the metadata is not kept.
            StoreError: this was closed.
        """
        return self._enter_turn(self.mind.turn(user, session, message, model=model, metadata=metadata))

    @contextmanager
    def _enter_turn(self, turn: Turn) -> Generator[Turn]:
        self.run_waiting(turn.open_turn())
        try:
            yield turn
        finally:
            self.run_waiting(turn.leave_turn())

    begin = _make_blocking(Metacognition.begin)
    finish = _make_blocking(Metacognition.finish)
    sleep = _make_blocking(Metacognition.sleep)
    understand = _make_blocking(Metacognition.understand)
    solve = _make_blocking(Metacognition.solve)
    add = _make_blocking(Metacognition.add)
    observe = _make_blocking(Metacognition.observe)
    search = _make_blocking(Metacognition.search)
    list = _make_blocking(Metacognition.list)
    get = _make_blocking(Metacognition.get)
    update = _make_blocking(Metacognition.update)
    delete = _make_blocking(Metacognition.delete)
    history = _make_blocking(Metacognition.history)
    export = _make_blocking(Metacognition.export)
    forget = _make_blocking(Metacognition.forget)

    def subscribe(self, subscriber: Callable[[Signal], object]) -> Callable[[], None]:
        """As `Metacognition.subscribe`; the subscriber is called in the thread of the loop."""
        return self.mind.subscribe(subscriber)

    def close(self) -> None:
        """Let go of the store, and end the thread."""
        if not self._loop.is_closed():
            try:
                self.run_waiting(self.mind.close())
            finally:
                self._end_thread()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self, work: Coroutine[Any, Any, Any]) -> None:
        if self._loop.is_closed():
            work.close()
            raise StoreError(CLOSED)

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
