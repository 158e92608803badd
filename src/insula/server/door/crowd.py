"""How many may be in at once: a server that is full says so, and stays alive."""

from starlette.types import ASGIApp, Receive, Scope, Send

from insula.server.problems import Problem

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
