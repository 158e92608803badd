"""The page of a look back: one HTML file that needs no network, and in which no text of a transcript becomes markup.

Three things keep it harmless: the template escapes everything, `visible` shows what would hide or reorder, and a policy
in the page itself lets the browser run this one script and style, by their digests, and fetch nothing at all.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from insula.errors import InputError
from insula.replay import figures, telling
from insula.replay.chapter import SPARK
from insula.replay.model import Replayed, Totals
from insula.replay.overview import overview
from insula.replay.timeline import BASE, HEIGHT, STUCK, TOP, UNIT
from insula.replay.visible import brief, visible

DRAWING = {"height": HEIGHT, "top": TOP, "base": BASE, "stuck": STUCK, "unit": UNIT, "spark": SPARK}
"""Measures of the timelines, which the templates share with their geometry."""


def write(path: Path, sessions: Sequence[Replayed], totals: Totals) -> None:
    """Writes the page.

    Args:
        path: the file, which is replaced.
        sessions: what was found in each session.
        totals: what was found in all of them.

    Raises:
        InputError: the file cannot be written.
    """
    text = html(sessions, totals)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")  # the digests hold for these line ends alone
    except OSError as error:
        raise InputError(
            f"The page cannot be written to {path}: {error.strerror}. Name a file in a folder that is there and yours."
        ) from error


def html(sessions: Sequence[Replayed], totals: Totals) -> str:
    """The page as text."""
    style, script = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            view=overview(sessions, totals),
            style=Markup(style),  # noqa: S704 ours, and no text of a transcript in it
            script=Markup(script),  # noqa: S704
            policy=_policy(style, script),
            many=figures.many,
            share=figures.share,
            span=figures.span,
            drawing=DRAWING,
        )
    )


@cache
def _environment() -> Environment:
    made = Environment(
        autoescape=True, loader=FunctionLoader(_asset), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(
        visible=visible,
        brief=brief,
        number=figures.number,
        tokens=figures.tokens,
        duration=figures.duration,
        when=figures.when,
        said=telling.said,
        felt=telling.felt,
        rung=telling.rung,
        harmless=Markup,  # of data that `told` has escaped
    )
    return made


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return (files("insula.replay") / name).read_text("utf-8").strip()


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
