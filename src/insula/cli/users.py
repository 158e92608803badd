"""The commands of `insula user`; each imports what it does when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from insula.cli.options import Json

app = typer.Typer(help="All that is kept of a user: take it along, put it aside, erase it.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The user; `insula chat` calls you “me”.")]
Archive = Annotated[Path, typer.Argument(metavar="FILE", help="What `insula user export` wrote.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command("list")
def listed(json: Json = False) -> None:
    """Of whom anything is kept."""
    from insula.cli import user

    raise typer.Exit(user.listing(json))


@app.command("export")
def exported(
    name: Name,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="By default NAME.insula.jsonl.")] = None,
) -> None:
    """Write all that is known of a user to a file, with a checksum."""
    from insula.cli import user

    raise typer.Exit(user.export(name, file))


@app.command("import")
def imported(name: Name, file: Archive) -> None:
    """Take an archive in, under a name of which nothing is kept yet."""
    from insula.cli import user

    raise typer.Exit(user.take(name, file))


@app.command("erase")
def erased(name: Name, yes: Yes = False) -> None:
    """Erase a user for good: no word is left in the memory, its index, its free pages, its backups or the log."""
    from insula.cli import user

    raise typer.Exit(user.erase(name, yes))


@app.command("backup")
def backed_up(name: Name) -> None:
    """Put a copy of all that is known of a user aside."""
    from insula.cli import user

    raise typer.Exit(user.backup(name))


@app.command("restore")
def restored(
    name: Name,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="By default the newest backup.")] = None,
    yes: Yes = False,
) -> None:
    """Bring a copy back, instead of what is known now."""
    from insula.cli import user

    raise typer.Exit(user.restore(name, file, yes))
