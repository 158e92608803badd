"""`insula bench`: the measurements, which stand beside the package in the repository and not in it."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperGroup

from insula.errors import InputError

PACKAGE = "insula_bench"
FOLDER = Path(__file__).parents[3] / "benchmarks"
"""Where they are in a clone of the repository."""


def find_commands() -> typer.Typer:
    """The group `bench`; where the package stands alone, one that says where the benchmarks are."""
    if FOLDER.is_dir() and str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    if find_spec(PACKAGE) is not None:
        return cast(typer.Typer, import_module(f"{PACKAGE}.commands").app)
    alone = typer.Typer(cls=_ElsewhereGroup)
    alone.callback(invoke_without_command=True)(refuse)
    return alone


class _ElsewhereGroup(TyperGroup):
    """A group that answers each of its commands with where they are."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Say where they are."""
        refuse()


def refuse() -> None:
    """Measure Insula on real data (in a clone of its repository)."""
    raise InputError(
        "The benchmarks are not in the installed package: they stand with their data in the folder benchmarks/ of the "
        "repository. Clone it, and run `insula bench` there."
    )


app = find_commands()
