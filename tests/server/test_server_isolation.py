"""Two users never see each other's data: over every route that there is, and every stream."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from api_service import answer
from fastapi import FastAPI

from insula.agent.chat import Chat
from insula.memory.storage import views
from insula.metacognition import Metacognition
from insula.server.app import create_app
from insula.server.service import Service
from insula.server.tokens import Keys
from insula.testing import ScriptedModel
from patience import DEADLOCK_SECONDS

pytestmark = pytest.mark.anyio


@dataclass
class Answer:
    """What a request brought, as far as it came."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])
    body: bytes = b""

    @property
    def text(self) -> str:
        """All of it, in which to search."""
        return str(self.headers) + self.body.decode("utf-8", "replace")


async def ask(
    app: FastAPI,
    method: str,
    path: str,
    query: Mapping[str, object],
    headers: Mapping[str, str],
    body: bytes = b"",
    patience: float = 0.1,
    until: Callable[[bytes], bool] | None = None,
) -> Answer:
    """Call the application, and go away where the answer does not end: once it tells something, or after a while."""
    raw = quote(path, safe="/%")
    told, found, over = False, Answer(), asyncio.Event()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": raw.encode(),
        "query_string": urlencode(query).encode(),
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-length", str(len(body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in headers.items()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> dict[str, Any]:
        nonlocal told
        if not told:
            told = True
            return {"type": "http.request", "body": body, "more_body": False}
        try:
            async with asyncio.timeout(patience):
                await over.wait()
        except TimeoutError:
            pass
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.status, found.headers = message["status"], list(message["headers"])
        else:
            found.body += message.get("body", b"")
            if not message.get("more_body") or (until is not None and until(found.body)):
                over.set()

    await app(scope, receive, send)
    return found


@asynccontextmanager
async def _shared(folder: Path, tokens: Mapping[str, str]) -> AsyncGenerator[tuple[FastAPI, Service]]:
    async with await Metacognition.open(":memory:") as metacognition:
        chat = Chat(metacognition, ScriptedModel(answer))
        service = Service(
            chat=chat,
            model="scripted",
            soul_of=lambda user: folder / user.encode().hex() / "SOUL.md",
            keys=Keys(tokens),
        )
        yield create_app(service), service


async def test_a_stream_tells_one_users_signals_alone_while_others_talk(tmp_path: Path) -> None:
    async with _shared(tmp_path, {}) as (app, service), app.router.lifespan_context(app):
        store, ends = service.chat.metacognition.store, dict[str, int]()

        def is_over(user: str, body: bytes) -> bool:
            return (
                user in ends and max(map(int, re.findall(rb"^id: (\d+)", body, re.MULTILINE)), default=0) > ends[user]
            )

        streams = {
            user: asyncio.create_task(
                ask(
                    app,
                    "GET",
                    "/signals",
                    {"user": user, "after": 0},
                    {},
                    patience=DEADLOCK_SECONDS,
                    until=partial(is_over, user),
                )
            )
            for user in ("ana", "ben", "an")
        }
        for number in range(3):
            for user in ("ana", "ben"):
                await service.chat.reply(user, "monday", f"The {user}word of number {number}.")
        for user in streams:
            ends[user] = await store.run(views.last_entry, user)
            await service.chat.reply(user, "monday", "Goodbye.")
        for user, stream in streams.items():
            text = (await stream).text
            assert ("anaword" in text, "benword" in text) == (user == "ana", user == "ben")
