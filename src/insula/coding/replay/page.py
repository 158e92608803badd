"""The page of a look back: one HTML file that needs no network, and in which no text of a transcript becomes markup.

Three things keep it harmless: the template escapes everything, `visible` shows what would hide or reorder, and a policy
in the page itself lets the browser run no script, take this one style, by its digest, and fetch nothing at all.
"""

import base64
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from insula.coding.replay import figures, telling
from insula.coding.replay.model import Moment, Replayed, Totals
from insula.coding.replay.timeline import Timeline, draw_timeline
from insula.coding.replay.visible import show_briefly, show_safely
from insula.coding.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.coding.step.senses import against_words, unmet
from insula.coding.step.wording import LONGEST, SIGN
from insula.errors import InputError
from insula.files import replace_file

MARK = b"<!doctype html><!-- insula replay -->"
"""What a page of ours begins with."""
MOMENTS = 25
"""Of one session that are shown."""
OF_WORDS = (against_words.NAME, unmet.NAME)
"""The senses that go by what the user said."""
RUNGS = {0: "information", AWARENESS: "awareness", SOCRATIC: "Socratic", DIRECTIVE: "directive", FLAG: "flag to user"}
_DATE = re.compile(
    r"^(?:[a-z]{1,10}-)?20\d\d-?\d\d-?\d\d(?:[T_ -]\d\d[-:]?\d\d(?:[-:]?\d\d)?(?![0-9A-Za-z]))?(?:[-_. ]|$)", re.ASCII
)
"""What an id may begin with that many others begin with, too."""


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
    style, chapters = _read_asset("page.css"), _list_chapters(sessions)
    places = {
        moment: chapter.make_place_id(number)
        for chapter in chapters
        for number, moment in enumerate(chapter.session.moments[:MOMENTS])
    }
    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(FILTERS)
    page = made.from_string(_read_asset("page.html")).render(
        totals=totals,
        chapters=chapters,
        left_out=max(0, totals.sessions - len(chapters)),
        places=places,
        shown=MOMENTS,
        style=Markup(style),  # noqa: S704 ours, and no text of a transcript in it
        policy=f"default-src 'none'; style-src '{_hash_asset(style)}'; base-uri 'none'; form-action 'none'",
        many=figures.format_count,
        share=figures.format_share,
        span=figures.format_span,
    )
    return page.lstrip()


@dataclass(frozen=True, slots=True)
class Chapter:
    """One session on the page."""

    id: str
    """One that no text of the session can shape, and that is the same on the next page."""
    session: Replayed
    line: Timeline | None

    @property
    def finding(self) -> Moment | None:
        """What it is listed by: what went against the user's words, else what went worst."""
        moments = self.session.moments[:MOMENTS]
        of_words = (moment for moment in moments if moment.sense in OF_WORDS)
        return next(of_words, next(iter(moments), None))

    @property
    def name(self) -> str:
        """What a person would call the session: its project, or the part of its id that is no word and no date."""
        own = _DATE.sub("", self.session.id, count=1) or self.session.id
        return show_safely(self.session.project, 40) or f"session {show_safely(own, 8)}".removesuffix("…")

    def make_place_id(self, number: int) -> str:
        """The id of the place where the moment of that number is told of."""
        return f"{self.id}-moment-{number}"


def _list_chapters(sessions: Sequence[Replayed]) -> list[Chapter]:
    """The sessions that are shown, each once; what cost most while stuck comes first."""
    shown: dict[str, Replayed] = {}
    for session in sorted(sessions, key=lambda session: (session.stuck_tokens, session.tokens), reverse=True):
        if session.tool_uses or session.moments:
            key = f"{session.host}\0{session.path}\0{session.id}".encode("utf-8", "replace")
            shown.setdefault(f"session-{hashlib.sha256(key).hexdigest()[:10]}", session)
    return [Chapter(key, session, draw_timeline(session) if session.points else None) for key, session in shown.items()]


def _show_text(text: str) -> str:
    """A text of ours without the sign that tells whose it is."""
    return show_safely(text.removeprefix(SIGN), LONGEST)


def _name_feeling(sense: str) -> str:
    return telling.FELT.get(sense, show_safely(sense))


def _name_rung(number: int) -> str:
    return RUNGS.get(number, f"rung {number}")


FILTERS: Mapping[str, Callable[..., str]] = {
    "number": figures.format_number,
    "tokens": figures.format_tokens,
    "duration": figures.format_duration,
    "when": figures.format_time,
    "visible": show_safely,
    "brief": show_briefly,
    "said": _show_text,
    "felt": _name_feeling,
    "feeling": telling.describe_moment,
    "introduction": telling.introduce_moment,
    "fate": telling.describe_fate,
    "rung": _name_rung,
}
"""What the template calls, by its name there."""


def _read_asset(name: str) -> str:
    return (files("insula.coding.replay") / name).read_text("utf-8").strip()


def _hash_asset(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
