"""A service with a scripted model, the same in process, and on a real socket."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import httpx2

from insula.testing import Reply, Request, ScriptedModel

Replies = Callable[[Request], Reply]
Service = Any
"""What a server serves; a test hands it from `make_service` to `client` or `served`."""
Serve = Callable[[Service], AbstractAsyncContextManager[str]]
Client = Callable[[Service], httpx2.AsyncClient]

TOKENS: Mapping[str, str] = {"ana": "a-token-of-ana-0123", "ben": "a-token-of-ben-4567"}


class MakeService(Protocol):
    """Makes a service of a script, of tokens, or of a model that takes its time."""

    def __call__(
        self,
        replies: Replies = ...,
        *,
        tokens: Mapping[str, str] | None = None,
        delay: float = 0.0,
        model: ScriptedModel | None = None,
    ) -> Service:
        """A service over the store of the test."""
        ...


def answer(request: Request) -> Reply:
    """What the model says where a test does not care."""
    return f"You said that {request.prompt.lower()}"


async def say(client: httpx2.AsyncClient, message: str, user: str = "ana", session: str = "monday") -> httpx2.Response:
    """Send a message."""
    return await client.post("/agent/chat", json={"user": user, "session": session, "message": message})
