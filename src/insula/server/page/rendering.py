"""Templates and what they may call; all that a user or a model wrote is escaped by them."""

from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.responses import HTMLResponse

from insula import __version__
from insula.coding.replay import figures
from insula.coding.replay.visible import show_safely
from insula.server.page.markdown import as_html
from insula.server.page.views import words
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
