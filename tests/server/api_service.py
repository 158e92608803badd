"""A service with a scripted model, the same in process, and on a real socket."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import httpx2

from insula.server.app import create_app
from insula.server.service import Service
from insula.server.serving import make_server
from insula.testing import Reply, Request, ScriptedModel

Replies = Callable[[Request], Reply]
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


@asynccontextmanager
async def serve(service: Service) -> AsyncGenerator[str]:
    """Serve on loopback within the block, whose value is the address."""
    running = make_server(create_app(service))
    task = asyncio.create_task(running.serve())
    while not running.started:
        await asyncio.sleep(0.005)
        if task.done():
            task.result()
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}"
    running.should_exit = True
    await task


async def say(client: httpx2.AsyncClient, message: str, user: str = "ana", session: str = "monday") -> httpx2.Response:
    """Send a message."""
    return await client.post("/agent/chat", json={"user": user, "session": session, "message": message})
