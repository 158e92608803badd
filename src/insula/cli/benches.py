"""`insula bench`: the measurements, which stand beside the package in the repository and not in it."""

import sys
from importlib.util import find_spec
from pathlib import Path

import typer

from insula.errors import InputError

PACKAGE = "insula_bench"
FOLDER = Path(__file__).parents[3] / "benchmarks"
"""Where they are in a clone of the repository."""
_ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}


def add_to(app: typer.Typer) -> None:
    """Adds the group `bench`, or where the package stands alone a command that says where the benchmarks are."""
    if FOLDER.is_dir() and str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    if find_spec(PACKAGE) is None:
        app.command("bench", context_settings=_ANYTHING)(elsewhere)
        return
    from insula_bench.commands import app as commands

    app.add_typer(commands, name="bench")


def elsewhere() -> None:
    """Measure Insula on real data (in a clone of its repository).

    Raises:
        InputError: always; it says where they are.
    """
    raise InputError(
        "The benchmarks are not in the installed package: they stand with their data in the folder benchmarks/ of the "
        "repository. Clone it, and run `insula bench` there."
    )
