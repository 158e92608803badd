"""The client of the load test: HTTP over a bare socket, so that what measures costs little beside what is measured."""

import asyncio
import json as jsonlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self
from urllib.parse import quote, urlencode

HOST = "127.0.0.1"
HEAD_BYTES = 64 * 1024
"""The longest head of an answer, and the longest line of a stream."""
IDLE_SECONDS = 13.0
"""How long a connection is kept for the next request: a little shorter than the server keeps it."""
LOOK_SECONDS = 0.05
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes


def get(path: str, query: Mapping[str, object] | None = None) -> bytes:
    """A request for something."""
    asked = f"{quote(path)}?{urlencode(query)}" if query else quote(path)
    return f"GET {asked} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()


def post(path: str, body: Mapping[str, object]) -> bytes:
    """A request that brings something."""
    sent = jsonlib.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
    return head.encode() + b"\r\n" + sent


class Connection:
    """A connection that is kept open from one request to the next, and opened anew where it was closed.

    Args:
        port: where the server listens.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def ask(self, request: bytes) -> Answer:
        """Send a request, and read the whole answer.

        Raises:
            OSError: the server cannot be reached.
            EOFError: it went away in the middle.
        """
        if self._open is None or self._open[0].at_eof() or time.monotonic() > self._used + IDLE_SECONDS:
            self.close()
            self._open = await asyncio.open_connection(HOST, self._port, limit=HEAD_BYTES)
        reader, writer = self._open
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length[1])) if length else b""
        self._used = time.monotonic()
        return Answer(int(head[9:12]), body)

    def close(self) -> None:
        """Close it."""
        if self._open is not None:
            self._open[1].close()
            self._open = None


class Listener:
    """A listener to a user's signals.

    Attributes:
        user: whose.
        begun: set once the server has said from which place of the ledger on it will tell.
        began: that place.
        heard: the place of each signal that it was told, in the order of their coming.
        foreign: how many of them belong to another user's session.
    """

    def __init__(self, user: str) -> None:
        self.user = user
        self.begun = asyncio.Event()
        self.began = 0
        self.heard: list[int] = []
        self.foreign = 0

    async def listen(self, port: int, after: int | None = None) -> None:
        """Listen until the stream ends, or the task is cancelled.

        Args:
            port: where the server listens.
            after: the place on the ledger to go on from (`Last-Event-ID`).
        """
        request = get("/signals", {"user": self.user})
        if after is not None:
            request = request.replace(b"\r\n\r\n", b"\r\nLast-Event-ID: %d\r\n\r\n" % after)
        reader, writer = await asyncio.open_connection(HOST, port, limit=HEAD_BYTES)
        try:
            writer.write(request)
            await self._read(reader)
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Events of lines, each ended by an empty one; those of the head and the sizes of chunks are not for us."""
        fields: dict[bytes, bytes] = {}
        while line := await reader.readline():
            name, colon, value = line.partition(b": ")
            if colon:
                fields[name] = value
            elif line == b"\n":
                self._hear(int(fields.get(b"id", b"0")), fields.get(b"data"))
                fields = {}

    def is_wrong(self, ledger: Sequence[int]) -> bool:
        """Whether it was told anything else than its user's signals since it began, each once and in order."""
        return self.foreign > 0 or self.heard != [place for place in ledger if place > self.began]

    def _hear(self, place: int, data: bytes | None) -> None:
        if data is not None:
            self.heard.append(place)
            self.foreign += not str(jsonlib.loads(data)["session"]).startswith(f"{self.user}.")
        elif not self.begun.is_set():
            self.began = place
            self.begun.set()


class Listeners:
    """Many of them, for as long as a block lasts.

    Args:
        port: where the server listens.
    """

    def __init__(self, port: int, users: Sequence[str]) -> None:
        self.all = [Listener(user) for user in users]
        self._port = port
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(one.listen(self._port)) for one in self.all]
        begun = [asyncio.create_task(one.begun.wait()) for one in self.all]
        await asyncio.wait([asyncio.gather(*begun), *self._tasks], return_when=asyncio.FIRST_COMPLETED)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def late(self, ledger: Mapping[str, Sequence[int]], limit: float) -> float:
        """Seconds until all have heard the end of their user's ledger, at most `limit`."""
        for look in range(int(limit / LOOK_SECONDS)):
            if all(one.heard[-1:] == ledger[one.user][-1:] for one in self.all):
                return look * LOOK_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
        return limit

    @property
    def gone(self) -> int:
        """How many streams have ended."""
        return sum(task.done() for task in self._tasks)
