"""Who changed what: each request that changes guidance or data is written down, with who made it and by which token."""

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from insula.memory.privacy import audit
from insula.server.door.gate import READING
from insula.server.service import Service
from insula.server.tokens import Holder

TALK = frozenset({"/agent/chat", "/sign-in", "/sign-out", "/parts/turn"})
"""Routes that change no guidance and take nothing away: conversations stand in the ledger."""
FAILED = 400
"""The status from which on nothing was changed."""


class Witness:
    """An application whose changes are written down once they are made."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        home = self.service.home
        if scope["type"] != "http" or scope["method"] in READING or home is None:
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def send_seen(message: Message) -> None:
            route = getattr(scope.get("route"), "path", "")
            if message["type"] == "http.response.start" and message["status"] < FAILED and route not in TALK:
                holder: Holder | None = state.get("holder")
                user = state.get("user", "")
                await run_in_threadpool(
                    audit.log_access,
                    home,
                    who=holder.user if holder else user,
                    by=describe_entry(holder),
                    did=f"{scope['method']} {route}",
                    of=user,
                    what=address_numbers(scope),
                )
            await send(message)

        await self.app(scope, receive, send_seen)


def address_numbers(scope: Scope) -> str:
    """The numbers in an address; its words may be somebody's."""
    return " ".join(str(each) for each in scope.get("path_params", {}).values() if str(each).isdecimal())


def describe_entry(holder: Holder | None) -> str:
    """How somebody came in."""
    if holder is None:
        return "no token"
    return f"token {holder.token}" if holder.token else "token of the settings"
