"""What stands before every route: who is let in, with how much and how fast, and what each answer bears."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from fastapi import HTTPException, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from insula.server.problems import Problem, ShowPage, answer_error

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


READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""
OURS = frozenset({"same-origin", "none"})
"""What a browser says of a request by our own page, or by a person who typed the address (Fetch Metadata)."""


class HostGate:
    """An application that answers only to its own names, and changes nothing for pages of other sites.

    The first closes the door to a name of somebody else's that points to this machine (DNS rebinding), the second to a
    form or script of another site.

    Args:
        hosts: names that may stand in a Host header, without a port.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and (problem := self._find_refusal(scope)):
            await problem.make_response()(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _find_refusal(self, scope: Scope) -> Problem | None:
        named = [value for name, value in scope["headers"] if name == b"host"]
        if len(named) != 1 or host_of(named[0].decode("latin-1")) not in self.hosts:
            names = ", ".join(sorted(self.hosts))
            return Problem.of_status(400, f"The Host header names no host of this server; it serves {names}.")
        if scope["method"] not in READING and is_foreign(Headers(scope=scope)):
            return Problem.of_status(403, FOREIGN)
        return None


FOREIGN = "The request comes from a page of another site; open the page of this server itself."


def host_of(value: str) -> str:
    """The name in a Host header, without its port; empty where it is none."""
    name, colon, port = value.lower().rpartition(":")
    if not colon or value.endswith("]"):
        return value.lower().strip("[]")
    return name.strip("[]") if port.isascii() and port.isdigit() else ""


def is_foreign(headers: Headers) -> bool:
    """Whether a browser says that a request was made by another site's page; other programs say nothing."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in OURS:
        return True
    host = headers.get("host", "")
    return origin is not None and origin not in (f"http://{host}", f"https://{host}")


async def same_site(request: Request) -> None:
    """What a route that must not be read by other sites depends on; not a plain function, which takes a thread."""
    if is_foreign(request.headers):
        raise HTTPException(403, FOREIGN)


REQUESTS = 1_000
"""Requests that are served at once, streams included: 500 listeners, and as many again."""


class Crowd:
    """An application that serves so many requests at once, and asks the others to come back."""

    def __init__(self, app: ASGIApp, most: int = REQUESTS) -> None:
        self.app = app
        self.most = most
        self.inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif self.inside >= self.most:
            why = f"{self.most:,} requests are being served, and there is no room for another; try again in a moment."
            await Problem.of_status(503, why).make_response()(scope, receive, send)
        else:
            self.inside += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self.inside -= 1


HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Nothing but our own files runs or is loaded, in nobody's frame, and no other site reads an answer."""
CACHE: Final = (b"cache-control", b"no-store")
"""Of every answer that is not said to be public: what is about a person stays in no cache."""
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class SecurityHeaders:
    """An application whose every answer bears the security headers, also that to a failure of the application."""

    def __init__(self, app: ASGIApp, show_page: ShowPage | None = None) -> None:
        self.app, self._show_page = app, show_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_armoured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*_cache_headers(message.get("headers", ())), *_RAW]
            await send(message)

        try:
            await self.app(scope, receive, send_armoured)
        except Exception as error:
            if started:
                raise
            await answer_error(Request(scope), error, self._show_page)(scope, receive, send_armoured)


def _cache_headers(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """The headers, with no word on caches but that of a public file, or ours."""
    public = False
    for name, value in headers:
        if name != CACHE[0]:
            yield name, value
        elif value.startswith(b"public"):
            public = True
            yield name, value
    if not public:
        yield CACHE
