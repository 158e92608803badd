"""How lines are broken: between words and never within a path; and not at all where a program reads them."""

import os
import shutil
import sys
import textwrap

NARROWEST = 40
"""Columns below which nothing would be readable; the terminal may break such lines itself."""
_ENDLESS = 1 << 20


def width(heeding: str = "") -> int:
    """The columns of the terminal; where there is none, no limit.

    Args:
        heeding: a variable, such as `COLUMNS`, that may limit the lines of a pipe.
    """
    asked = os.environ.get(heeding, "") if heeding else ""
    if sys.stdout.isatty() or (asked.isdigit() and int(asked) > 0):
        return max(NARROWEST, shutil.get_terminal_size().columns)
    return _ENDLESS


def fold(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """The text in lines of so many columns, each as indented as told; a longer word stands alone in its line."""
    return textwrap.wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [first.rstrip()]


def percent(share: float) -> str:
    """A share as people read it; `off` for none."""
    return f"{share * 100:g} %" if share else "off"


def is_asked() -> bool:
    """Whether a person sits before it."""
    return sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Whether the person says yes."""
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def key(question: str, keys: str) -> str:
    """The first of the keys that the person presses; the last one where they press Ctrl-C or leave."""
    import click

    print(question, end=" ", flush=True)
    while True:
        try:
            pressed = click.getchar().lower()
        except (KeyboardInterrupt, EOFError):
            pressed = keys[-1]
        if pressed in keys:
            print(pressed)
            return pressed
