"""What a client sends, head and body: no more than there is room for, and not too slowly."""

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from insula.server.problems import Problem

BODY_BYTES = 1_000_000
"""The largest body: the longest message that is taken, at four bytes a character, and then some."""
BODY_SECONDS = 15.0
"""How long a client may take to send one."""
HEAD_BYTES = 64 * 1024
"""The largest head of a request, its address and headers."""
HEAD_TOO_LARGE = 431
LARGE_HEAD = f"The head of the request is longer than {HEAD_BYTES:,} bytes; send fewer headers, and shorter ones."
CLOSE = {"Connection": "close"}
"""What is left of such a body is not worth keeping."""
DRAINED_BYTES = 64_000_000
"""How much of a body that is too large is read and thrown away: who is cut off while sending never reads why."""

DRAIN_SECONDS = 1.0
"""How long such a client may pause; then it is waiting for an answer."""


class TooLarge(Exception):
    """A body goes on beyond `BODY_BYTES`."""


class Bodies:
    """An application that is only asked once the whole body is there.

    What is counted is what comes, whatever a header says of it.
    """

    def __init__(self, app: ASGIApp, most: int = BODY_BYTES, seconds: float = BODY_SECONDS) -> None:
        self.app = app
        self.most = most
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and _head_size(scope) > HEAD_BYTES:
            await Problem.of_status(HEAD_TOO_LARGE, LARGE_HEAD).make_response(CLOSE)(scope, receive, send)
            return
        if scope["type"] != "http" or not (length := _content_length(scope)):
            await self.app(scope, receive, send)
            return
        try:
            if length > self.most:
                raise TooLarge
            async with asyncio.timeout(self.seconds):
                body = await self._read_body(receive)
        except TooLarge:
            await self._drain_body(receive, length)
            why = f"The request is longer than {self.most:,} bytes; send it in parts."
            await Problem.of_status(413, why).make_response(CLOSE)(scope, receive, send)
        except TimeoutError:
            why = f"The request took longer than {self.seconds:g} seconds to arrive; send it faster, or in parts."
            await Problem.of_status(408, why).make_response(CLOSE)(scope, receive, send)
        else:
            if body is not None:
                await self.app(scope, _replay_first(body, receive), send)

    async def _drain_body(self, receive: Receive, length: int) -> None:
        """Let the client send the rest, within limits, so that it reads the answer."""
        if length > DRAINED_BYTES:
            return
        left, loop = DRAINED_BYTES, asyncio.get_running_loop()
        end = loop.time() + self.seconds
        with suppress(TimeoutError):
            while left > 0 and loop.time() < end:
                async with asyncio.timeout(DRAIN_SECONDS):
                    message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
                left -= len(message.get("body", b""))

    async def _read_body(self, receive: Receive) -> bytes | None:
        """The whole body; None where the client went away."""
        parts: list[bytes] = []
        left = self.most
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            left -= len(parts[-1])
            if left < 0:
                raise TooLarge
            if not message.get("more_body"):
                return b"".join(parts)


def _head_size(scope: Scope) -> int:
    """Bytes of the address and the headers: HTTP itself counts a head only while it is not all there."""
    address = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
    return address + sum(len(name) + len(told) for name, told in scope["headers"])


def _content_length(scope: Scope) -> int:
    """What the headers say: 0 for no body, -1 where they do not tell."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return -1
    told = headers.get(b"content-length", b"0")
    return int(told) if told.isdigit() and len(told) < 20 else -1


def _replay_first(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands out the body, and then what comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay_body() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay_body
