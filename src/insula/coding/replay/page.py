"""The page of a look back: one HTML file that needs no network, and in which no text of a transcript becomes markup.

Three things keep it harmless: the template escapes everything, `visible` shows what would hide or reorder, and a policy
in the page itself lets the browser run no script, take this one style, by its digest, and fetch nothing at all.
"""

import base64
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from insula.coding.replay import figures, telling
from insula.coding.replay.chapter import make_overview
from insula.coding.replay.model import Replayed, Totals
from insula.coding.replay.visible import show_briefly, show_safely
from insula.errors import InputError
from insula.files import replace_file

MARK = b"<!doctype html><!-- insula replay -->"
"""What a page of ours begins with."""


def check_target(path: Path, inputs: Iterable[Path], force: bool = False) -> None:
    """Whether the page may be written there, asked before anything is read.

    Args:
        inputs: files that are to be read, which no page ever replaces.
        force: whether to replace a file that is no page of ours.

    Raises:
        InputError: it may not, or it cannot be.
    """
    real = os.path.realpath(path)
    if any(os.path.realpath(file) == real for file in inputs):
        raise InputError(f"{str(path)!r} is one of the transcripts to be read; give the page another name.")
    if not force and not _is_free(Path(real)):
        raise InputError(
            f"{str(path)!r} is there and is no page of insula replay, so it is not replaced; "
            "give another name, or --force to replace it."
        )
    try:
        tempfile.TemporaryFile(dir=Path(real).parent).close()
    except OSError as error:
        raise _make_error(path, error) from error


def _is_free(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(MARK)) in {MARK, b""}
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)


def _make_error(path: Path, error: OSError) -> InputError:
    return InputError(
        f"The page cannot be written to {str(path)!r} ({error.strerror}); "
        "name a file in a folder that is there and yours."
    )


def write_page(path: Path, sessions: Sequence[Replayed], totals: Totals) -> None:
    """Writes the page: whole or not at all, and for its owner alone.

    Args:
        path: the file, which is replaced; `check` says whether it may be.

    Raises:
        InputError: the file cannot be written.
    """
    text, real = render_page(sessions, totals), os.path.realpath(path)
    try:
        with replace_file(Path(real)) as file:
            file.write(text.encode("utf-8", "replace"))  # as bytes: the digests hold for these line ends alone
    except OSError as error:
        raise _make_error(path, error) from error


def render_page(sessions: Sequence[Replayed], totals: Totals) -> str:
    """The page as text."""
    style = _read_asset("page.css")
    return (
        _make_environment()
        .get_template("page.html")
        .render(
            view=make_overview(sessions, totals),
            style=Markup(style),  # noqa: S704 ours, and no text of a transcript in it
            policy=f"default-src 'none'; style-src '{_hash_asset(style)}'; base-uri 'none'; form-action 'none'",
            many=figures.format_count,
            share=figures.format_share,
            span=figures.format_span,
        )
    )


@cache
def _make_environment() -> Environment:
    made = Environment(
        autoescape=True,
        loader=FunctionLoader(_read_asset),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(telling.FILTERS, visible=show_safely, brief=show_briefly)
    return made


@cache
def _read_asset(name: str) -> str:
    return (files("insula.coding.replay") / name).read_text("utf-8").strip()


def _hash_asset(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
