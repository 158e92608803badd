"""Where the command `insula` begins: it says what is missing where the library alone is installed."""

import gc
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

USAGE = 2
"""The exit code for what cannot be used as it is."""
THREADS = "OPENBLAS_NUM_THREADS"
"""How many threads multiply matrices: read by NumPy's library once, when it is loaded."""
GARBAGE = 10_000
"""Objects that are made and not let go of before garbage is looked for; Python's own 700 are reached in every turn, and
a look drives what the turn works with out of the processor's cache. Of cycles a turn leaves some hundred objects."""


@contextmanager
def loading() -> Generator[None]:
    """Look for no garbage while something is loaded, nor in it later: it stays, and to look costs a fifth of a start,
    and a turn 70 ms now and then.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def main() -> None:
    """Run the command line, where the packages of the command that is asked for are installed."""
    # Ours are small: a second thread gains nothing and spins while it waits, which doubled the CPU of a turn.
    os.environ.setdefault(THREADS, "1")
    gc.set_threshold(GARBAGE)
    try:
        with loading():
            from insula.cli.main import main as command
        command()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"insula", ""}:
            raise
        wanted = "./packages/insula-solve" if error.name == "insula_solve" else "'.[all]'"
        print(
            f"insula: This command needs the package {error.name!r}, which the library alone does not bring; "
            f"in your clone of Insula, run: pip install {wanted}",
            file=sys.stderr,
        )
        raise SystemExit(USAGE) from error
