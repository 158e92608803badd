"""Who may come in, and how many: requests to a name of ours, and none that another site's page makes."""

from collections.abc import Collection

from fastapi import HTTPException, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from insula.server.problems import Problem

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
