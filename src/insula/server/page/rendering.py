"""Templates and what they may call, and who looks at a page; all that a user or a model wrote is escaped by them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Query, Request
from fastapi.responses import Response
from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.responses import HTMLResponse

from insula import __version__
from insula.coding.replay import figures
from insula.coding.replay.visible import show_safely
from insula.server.page import words
from insula.server.page.markdown import as_html
from insula.server.problems import Problem
from insula.server.users import Caller, Named, Served, settle_user
from insula.text.analysis import clean_text


def render_page(name: str, user: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page, or a part of one.

    Args:
        user: whose page it is; empty where tokens say it, and links need not.
    """
    made = _make_environment().get_template(name).render(**_SHARED, to=partial(make_address, user=user), **values)
    return HTMLResponse(made, status)


def make_address(path: str, user: str = "", **query: object) -> str:
    """An address within the server, with the user that it is for."""
    named = {name: str(value) for name, value in query.items() if value not in (None, "")}
    told = urlencode({**named, **({"user": user} if user else {})}, quote_via=quote)
    return f"{quote(path)}?{told}" if told else quote(path)


_SHARED: Mapping[str, Any] = {
    "version": __version__,
    "many": figures.format_count,
    "words": words,
    "percent": words.format_percent,
}


@cache
def _make_environment() -> Environment:
    made = Environment(
        autoescape=True,
        loader=FunctionLoader(_read_source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_make_filters())
    return made


def _make_filters() -> Mapping[str, Any]:
    return {
        "visible": show_safely,
        "number": figures.format_number,
        "tokens": figures.format_tokens,
        "when": figures.format_time,
        "day": figures.format_day,
        "cut": cut_text,
        "bar": words.make_bar,
        "markdown": as_html,
    }


def cut_text(text: str, longest: int) -> str:
    """The beginning of what a person wrote, in any script, on one line."""
    line = " ".join(clean_text(text[: longest + 1]).split())
    return f"{line[:longest]}…" if len(text) > longest else line


def _read_source(name: str) -> str:
    return (files("insula.server.page") / "templates" / name).read_text("utf-8")


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
