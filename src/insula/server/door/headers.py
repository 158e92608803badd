"""What stands on every answer, and what answers when nothing else does."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from insula.server.problems import ShowPage, answer_error

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
