"""Options and arguments that several commands have."""

from collections.abc import Callable
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
User = Annotated[str, typer.Option(help="Whose memory.", envvar="INSULA_USER")]


def numbered(noun: str, listed_by: str) -> Callable[[str], int]:
    """A reader of a number that something goes by, which says where the numbers are where it is given none.

    Args:
        noun: what has the number.
        listed_by: the command that lists them.
    """

    def read(text: str) -> int:
        # A command line may hold any number, the database only those of 64 bits.
        if text.isascii() and text.isdigit() and len(text) < 19:
            return int(text)
        raise typer.BadParameter(f"{text!r} is no number of a {noun}; `{listed_by}` lists them.")

    return read
