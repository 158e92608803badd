"""Who looks at a page, and what they see where it cannot be shown."""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute

from insula.errors import InsulaError
from insula.memory.storage.store import NAME_CHARS
from insula.server.page.rendering import render_page
from insula.server.problems import status_of
from insula.server.service import Service
from insula.server.users import Caller, Named, service_of, settle_user

log = logging.getLogger(__name__)

NOBODY = "me"
"""Who is meant where nobody is named: the user of `insula chat`, too."""


@dataclass(frozen=True, slots=True)
class PageUser:
    """The user of a page."""

    name: str
    link: str
    """The name as links carry it: none where a token says it."""
    others: tuple[str, ...] | None = None
    """The users that there are to choose from; None where a token says who it is."""


async def find_visitor(request: Request, caller: Caller, user: Named = None) -> PageUser:
    """The user of a page: whom the token says, else whom the address names."""
    known = await service_of(request).chat.metacognition.store.nights.list_users() if caller is None else []
    name = settle_user(caller, user if caller is not None else user or NOBODY)
    return PageUser(name, "") if caller is not None else PageUser(name, name, tuple(sorted({*known, name})))


Visitor = Annotated[PageUser, Depends(find_visitor)]


class PageRoute(APIRoute):
    """A route whose failures are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with its failures shown to a person."""
        handler = super().get_route_handler()

        async def handle_route(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:
                for_a_person = "text/html" in request.headers.get("accept", "")
                told = failure_page(error, service_of(request)) if for_a_person else None
                if told is None:
                    raise  # as a problem, to a script that asked; a missing token leads to the sign-in
                return told

        return handle_route


def failure_page(error: Exception, service: Service) -> Response | None:
    """The page that says what went wrong; None where there is a better answer."""
    if isinstance(error, InsulaError):
        log.warning("%s", error)
        return _render_failure(status_of(type(error)), service.hide_machine(str(error)))
    if isinstance(error, RequestValidationError):
        return _render_failure(
            422, f"The address does not fit: a name has at most {NAME_CHARS} characters. Go back and try again."
        )
    if isinstance(error, HTTPException):
        return (
            None
            if error.status_code == HTTPStatus.UNAUTHORIZED
            else _render_failure(error.status_code, str(error.detail))
        )
    log.error("A page failed.", exc_info=error)
    return _render_failure(
        500, f"Insula failed to make this page ({type(error).__name__}); the log says more. Reload to try again."
    )


def _render_failure(status: int, why: str) -> Response:
    title = "There is no such page" if status == HTTPStatus.NOT_FOUND else "This did not work"
    return render_page("failure.html", "", status=status, why=why, title=title)
