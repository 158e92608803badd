"""What is printed with style and tables: as wide as the terminal, or as one that nobody looks at."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from rich.console import Console

PIPE_WIDTH = 140
"""Columns where nobody looks at a terminal, and `COLUMNS` does not say otherwise."""


def tell(show: Callable[[Console], None]) -> None:
    """Print what a function shows."""
    fitting = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    console = Console(highlight=False, width=None if fitting else PIPE_WIDTH)
    with console.capture() as told:
        show(console)
    say(told.get())


def say(text: str) -> None:
    """Print a text; whoever reads it may have gone (`| head`), and what else there is to do is done all the same."""
    if not sys.stdout.isatty():
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
