"""How results are printed: broken between words to the width of a terminal, as a table, or as JSON for a program."""

import json as jsonlib
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 40
"""Columns below which nothing would be readable; the terminal may break such lines itself."""
PIPE_WIDTH = 140
"""Columns of a table where nobody looks at a terminal, and `COLUMNS` does not say otherwise."""
_ENDLESS = 1 << 20


def terminal_width() -> int:
    """The columns of the terminal; where there is none, no limit."""
    return max(NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else _ENDLESS


def fold_text(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """The text in lines of so many columns, each as indented as told; a longer word stands alone in its line."""
    return textwrap.wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def print_folded(text: str, first: str = "", rest: str = "") -> None:
    """Print a text in lines that fit the terminal."""
    print("\n".join(fold_text(text, terminal_width(), first, rest)))


def print_json(value: object) -> None:
    """Print a value as JSON, for a program."""
    print(jsonlib.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_console(show: Callable[["Console"], None]) -> None:
    """Print what a function shows on a console of the terminal's width."""
    from rich.console import Console

    fitting = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    console = Console(highlight=False, width=None if fitting else PIPE_WIDTH)
    with console.capture() as told:
        show(console)
    print_text(told.get())


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table, each cell as it is."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, header_style="dim", pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    print_console(lambda console: console.print(table))


def print_text(text: str) -> None:
    """Print a text; whoever reads it may have gone (`| head`), and what else there is to do is done all the same."""
    if not sys.stdout.isatty():
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_warning(text: str) -> None:
    """Print a sentence that is no result on standard error; nothing for none."""
    if text:
        print(f"insula: {text}", file=sys.stderr)


def format_percent(share: float) -> str:
    """A share as people read it; `off` for none."""
    return f"{share * 100:g} %" if share else "off"


def is_asked() -> bool:
    """Whether a person sits before it."""
    return sys.stdin.isatty()


def ask_yes(question: str) -> bool:
    """Whether the person says yes."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def confirm_action(question: str, yes: bool, done: str) -> bool:
    """Whether what cannot be undone is to be done: `yes` was given, or the person says so; else that is said.

    Args:
        yes: whether it was answered beforehand.
        done: what was then not done, as in "erased".
    """
    from insula.errors import InputError

    if yes:
        return True
    if not is_asked():
        raise InputError(f"Nobody can be asked whether this is meant, so nothing was {done}; say so with --yes.")
    if agreed := ask_yes(question):
        return agreed
    print(f"Nothing was {done}.")
    return False


def read_input(missing: str) -> str:
    """What is piped in.

    Args:
        missing: what is said where nothing is.
    """
    from insula.errors import InputError

    if is_asked():
        raise InputError(missing)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"What is piped in cannot be read ({error}); give text in UTF-8.") from error
