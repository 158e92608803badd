"""How far a measurement is: a bar on a terminal, elsewhere a line now and then, so that a log tells it, too."""

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

T = TypeVar("T")
SECONDS = 15.0
"""Between two lines of a log."""


@contextmanager
def progress(total: int | None, what: str) -> Generator[Callable[[], None]]:
    """A function to be called at each step, for as long as the block lasts; what it tells goes to standard error.

    Args:
        total: how many steps there are; None where nobody knows.
    """
    console = Console(stderr=True)
    if console.is_terminal:
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)
        return
    done, told = 0, time.monotonic()

    def step() -> None:
        nonlocal done, told
        done += 1
        if time.monotonic() - told >= SECONDS or done == total:
            told = time.monotonic()
            print(f"{what}: {done:,}{f' of {total:,}' if total else ''}", file=sys.stderr, flush=True)

    yield step


def steps(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, told as they go by."""
    known = len(items) if total is None and isinstance(items, Sized) else total
    with progress(known, what) as step:
        for item in items:
            yield item
            step()
