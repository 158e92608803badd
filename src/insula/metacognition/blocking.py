"""`Metacognition` for code without `await`: notebooks, workers, frameworks that call hooks from threads."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from insula.types import Assessment, Provenance, Signal, Usage

if TYPE_CHECKING:
    from insula.metacognition.facade import Metacognition
    from insula.metacognition.finishing import TurnResult
    from insula.metacognition.turn import Turn
    from insula.sleep.cycle import SleepReport
    from insula.turn.likelihood import Logprobs

T = TypeVar("T")


class Blocking:
    """The same object with plain functions; its work runs on an event loop in a thread of its own.

    A notebook whose loop is already running may use it, and so may several threads at once. It does not outlive a fork:
    open it in each worker. Made by `Metacognition.sync`.

    ```python
    with Metacognition.sync("insula.db") as metacognition:
        with metacognition.turn("ana", "monday", "Where do I live?") as turn:
            answer = my_agent(turn.prompt, system=turn.instructions)
            answer = turn.finish(answer).response
    ```

    Attributes:
        mind: the `Metacognition` behind it.
    """

    def __init__(self, opened: "Callable[[], Coroutine[Any, Any, Metacognition]]") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="insula", daemon=True)
        self._thread.start()
        try:
            self.mind = self.run(opened())
        except BaseException:
            self._end()
            raise

    @classmethod
    def around(cls, mind: "Metacognition") -> Self:
        """The same for one that is open already."""

        async def opened() -> "Metacognition":
            return mind

        return cls(opened)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns, waited for."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns, awaited from any other loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    @contextmanager
    def turn(self, user: str, session: str, message: object, *, model: str = "") -> "Generator[Turn]":
        """One exchange, to be entered with `with`; see `Turn`."""
        turn = self.begin(user, session, message, model=model)
        try:
            yield turn
        finally:
            self.run(turn.leave())

    def begin(self, user: str, session: str, message: object, *, model: str = "") -> "Turn":
        """As `Metacognition.begin`."""
        return self.run(self.mind.begin(user, session, message, model=model))

    def finish(
        self,
        turn: "Turn | str",
        response: object,
        *,
        assessment: Assessment | None = None,
        usage: Usage | None = None,
        logprobs: "Logprobs | None" = None,
    ) -> "TurnResult":
        """As `Metacognition.finish`."""
        return self.run(self.mind.finish(turn, response, assessment=assessment, usage=usage, logprobs=logprobs))

    def observe(
        self, user: str, session: str, text: object, *, speaker: str = "", provenance: Provenance = "user"
    ) -> int:
        """As `Metacognition.observe`."""
        return self.run(self.mind.observe(user, session, text, speaker=speaker, provenance=provenance))

    def sleep(self, user: str, *, soul: Path | None = None, force: bool = False) -> "SleepReport":
        """As `Metacognition.sleep`, without a model."""
        return self.run(self.mind.sleep(user, soul=soul, force=force))

    def subscribe(self, subscriber: Callable[[Signal], object]) -> Callable[[], None]:
        """As `Metacognition.subscribe`; the subscriber is called in the thread of the loop."""
        return self.mind.subscribe(subscriber)

    def close(self) -> None:
        """Let go of the store, and end the thread."""
        if not self._loop.is_closed():
            try:
                self.run(self.mind.close())
            finally:
                self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
