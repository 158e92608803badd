"""Options and arguments that several commands have."""

from collections.abc import Callable
from enum import Enum
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
All = Annotated[bool, typer.Option("--all", help="Show everything.")]
Port = Annotated[int, typer.Option(help="The port; 0 for any that is free.", min=0, max=65535)]
Model = Annotated[str | None, typer.Option(help="embedded, test, openai:NAME, anthropic:NAME, ollama:NAME or a URL.")]
ReadingModel = Annotated[str | None, typer.Option(help="The model that summarises and reflects; none for `embedded`.")]


def _resolve_user(context: typer.Context, user: str) -> str:
    """The user; where none is named behind a command of several words, the one named before its last word."""
    outer = context.parent
    if outer is None or _is_typed(context.get_parameter_source("user")):
        return user
    return str(outer.params["user"]) if _is_typed(outer.get_parameter_source("user")) else user


def _is_typed(source: Enum | None) -> bool:
    return source is not None and source.name == "COMMANDLINE"


User = Annotated[str, typer.Option(help="Whose memory.", envvar="INSULA_USER", callback=_resolve_user)]


def make_number_parser(noun: str, listed_by: str) -> Callable[[str], int]:
    """A reader of a number that something goes by, which says where the numbers are where it is given none."""

    def parse_number(text: str) -> int:
        # A command line may hold any number, the database only those of 64 bits.
        if text.isascii() and text.isdigit() and len(text) < 19:
            return int(text)
        raise typer.BadParameter(f"{text!r} is no number of a {noun}; `{listed_by}` lists them.")

    return parse_number
