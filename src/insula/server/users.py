"""Who is asking: a name that the request gives, or where tokens are in force, the one whose token it carries."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated, cast

from fastapi import Depends, HTTPException, Query, Request
from fastapi.security import APIKeyCookie, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from insula.errors import InputError
from insula.memory.privacy.isolation import WHOSE
from insula.memory.storage.store import NAME_CHARS, check_names
from insula.server.service import Service
from insula.server.tokens import NONE_LEFT, WINDOW_SECONDS, Token

COOKIE = "insula_token"
"""The cookie that sign-in sets; its value is the token, which no script can read."""

LONG = int(WINDOW_SECONDS)

_bearer = HTTPBearer(auto_error=False, description="The token of a user, where the server was started with tokens.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="The same token, as the page's sign-in keeps it.")

Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
Cookie = Annotated[str | None, Depends(_cookie)]
Named = Annotated[
    str | None,
    Query(
        max_length=NAME_CHARS,
        description="Whose memory is used. With a token it may be left out: the token says it.",
        examples=["ana"],
    ),
]


def service_of(request: Request) -> Service:
    """What the application serves."""
    return cast(Service, request.app.state.service)


async def find_service(request: Request) -> Service:
    """The same as what a route depends on."""
    return service_of(request)


Served = Annotated[Service, Depends(find_service)]


async def turn_into_conflicts(request: Request) -> AsyncGenerator[None]:
    """What a route depends on where only how things stand is in the way of a person's word: that is a conflict."""
    try:
        yield
    except InputError as error:
        raise HTTPException(409, service_of(request).hide_machine(str(error))) from error


async def refuse_token(request: Request) -> None:
    """Log a token that is nobody's, and let who sent it wait."""
    seconds = service_of(request).attempts.note_failure(request.client.host if request.client else "")
    if seconds is None:
        raise HTTPException(
            429, "Too many tokens that nobody knows came from here; wait ten minutes.", {"Retry-After": str(LONG)}
        )
    await asyncio.sleep(seconds)


async def presented_token(bearer: Bearer, cookie: Cookie) -> str | None:
    """The token that a request carries."""
    return bearer.credentials if bearer else cookie


Presented = Annotated[str | None, Depends(presented_token)]


async def find_caller(request: Request, token: Presented) -> str | None:
    """The user that a token stands for; None where no tokens are in force."""
    service = service_of(request)
    if not service.keys:
        return None
    if token and (known := service.keys.find_token(token)) is not None:
        request.state.token = known
        return known.user
    if token:
        await refuse_token(request)
    complaint = "The token is not known here" if token else "The request has no token"
    remedy = "send a known one as “Authorization: Bearer …”, or sign in."
    told = NONE_LEFT if service.keys.are_gone else f"{complaint}; {remedy}"
    raise HTTPException(401, told, {"WWW-Authenticate": "Bearer"})


Caller = Annotated[str | None, Depends(find_caller)]


def is_operator(request: Request) -> bool:
    """Whether who asks looks after the server: whoever sits at it where no tokens are in force."""
    token = cast("Token | None", getattr(request.state, "token", None))
    return token.operator if token is not None else not service_of(request).keys


async def check_operator(request: Request, _: Caller) -> None:
    """What a route depends on that tells of all users together; it speaks for none of them."""
    if not is_operator(request):
        raise HTTPException(
            403,
            "How the nights of all users go is for who looks after this server; a token for that is made with: "
            "insula token new NAME --operator.",
        )


def settle_user(caller: str | None, named: str | None, session: str = "any") -> str:
    """The user of a request, from the token's word and the request's own."""
    if caller is not None and named is not None and named != caller:
        raise HTTPException(403, "The token belongs to another user than the request names; leave the name out.")
    if not (user := caller or named):
        raise HTTPException(422, "The request names no user; add one, as in ?user=ana.")
    try:
        check_names(user, session)
    except InputError as error:
        raise HTTPException(422, str(error)) from error
    WHOSE.set(user)  # whatever this request asks of the store from now on
    return user


async def current_user(caller: Caller, user: Named = None) -> str:
    """The user of a request that has no body: the query names them, or their token does."""
    return settle_user(caller, user)


CurrentUser = Annotated[str, Depends(current_user)]
"""The user whose data a request may see, and no other's."""
