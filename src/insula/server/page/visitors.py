"""Who looks at a page, what their forms say, and what they see where a page cannot be shown."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Query, Request
from fastapi.responses import Response

from insula.server.page.rendering import render_page
from insula.server.problems import Problem
from insula.server.users import Caller, Named, Served, settle_user

NOBODY = "me"
"""Who is meant where nobody is named: the user of `insula chat`, too."""
Word = Annotated[str, Query(max_length=20)]


@dataclass(frozen=True, slots=True)
class PageUser:
    """The user of a page."""

    name: str
    link: str
    """The name as links carry it: none where a token says it."""
    others: tuple[str, ...] | None = None
    """The users that there are to choose from; None where a token says who it is."""


async def find_visitor(service: Served, caller: Caller, user: Named = None) -> PageUser:
    """The user of a page: whom the token says, else whom the address names."""
    if caller is not None:
        return PageUser(settle_user(caller, user), "")
    name = settle_user(None, user or NOBODY)
    return PageUser(name, name, tuple(sorted({*await service.store.nights.list_users(), name})))


Visitor = Annotated[PageUser, Depends(find_visitor)]


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of the form that was sent; empty for one that is not there."""
    sent = parse_qsl((await request.body()).decode("utf-8", "replace"))
    return defaultdict(str, reversed(sent))  # of several the first


Form = Annotated[Mapping[str, str], Depends(read_form)]


def show_failure(problem: Problem) -> Response:
    """The page that says what went wrong."""
    title = "There is no such page" if problem.status == HTTPStatus.NOT_FOUND else "This did not work"
    return render_page("failure.html", "", status=problem.status, why=problem.detail, title=title)
