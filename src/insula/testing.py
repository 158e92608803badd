"""Fakes for tests of Insula and of what is built on it: a scripted model, a clock, a model server that misbehaves.

The errors that a model may fail with are here, too: a `ScriptedModel` raises those that stand among its replies.

`ScriptedModel` needs the extra `models`; the rest needs nothing beside Insula.
"""

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from insula.errors import ModelMalformed, ModelRefused, ModelTimeout, ModelUnavailable
from insula.llm.fake_server import Behaviour, FakeServer
from insula.memory.storage.store import Store

if TYPE_CHECKING:
    from insula.llm.scripted import Reply, Request, ScriptedModel
    from insula.night.second_look import Says

__all__ = [
    "Behaviour",
    "FakeServer",
    "FrozenClock",
    "ModelMalformed",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "Reply",
    "Request",
    "ScriptedModel",
    "answer_second_look",
    "memory_store",
]


def __getattr__(name: str) -> object:
    if name not in ("Reply", "Request", "ScriptedModel"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from insula.llm import scripted
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{name} needs the package {error.name!r}; install it in a clone with: pip install '.[models]'",
            name=error.name,
        ) from error
    return getattr(scripted, name)


class FrozenClock:
    """A clock that stands still until it is told to go on.

    Args:
        at: Where it stands.
    """

    def __init__(self, at: datetime = datetime(2026, 1, 5, 12, tzinfo=UTC)) -> None:
        self._at = at
        self._elapsed = 0.0

    def __call__(self) -> datetime:
        """The time of day, with its zone."""
        return self._at

    def advance(self, seconds: float) -> None:
        """Puts it forward."""
        self._at += timedelta(seconds=seconds)
        self._elapsed += seconds

    def monotonic(self) -> float:
        """Seconds it has gone on since it was made."""
        return self._elapsed


def answer_second_look(request: "Request", says: "Callable[[str, str], Says] | None" = None) -> "Reply | None":
    """What a model answers that tells a guideline from its opposite; None where a night asks something else.

    Args:
        request: What reached the model.
        says: What a note is to the words that it rests on; by default each follows from them.
    """
    from insula.night.second_look import Pair, known_answer

    if "verdicts" not in (request.schema or {}).get("properties", {}):
        return None
    verdicts: list[dict[str, object]] = []
    for line in request.prompt.splitlines():
        if line.startswith("{"):
            number, *pair = json.loads(line).values()
            right = known_answer(Pair(*pair)) or (says(*pair) if says else "follows")
            verdicts.append({"pair": number, "says": right})
    return {"verdicts": verdicts}


@asynccontextmanager
async def memory_store(now: Callable[[], float] = time.time) -> AsyncGenerator[Store]:
    """A store that is gone when the block ends.

    Args:
        now: The clock, in seconds since the epoch.
    """
    async with await Store.open(":memory:", now) as store:
        yield store
