"""The commands of `insula token`; each imports what it does when it runs."""

from typing import Annotated

import typer

from insula.cli.options import Json

app = typer.Typer(help="Tokens: who may come in through the server.", no_args_is_help=True)


@app.command("new")
def made(
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory it opens.")],
    name: Annotated[
        str, typer.Option(help="What to call it, as “laptop”; by default the user's name and a number.")
    ] = "",
    days: Annotated[float, typer.Option(min=0, max=36_500, help="After how many days it ends; 0 for never.")] = 365.0,
    operator: Annotated[bool, typer.Option("--operator", help="It shows how the nights of all users go, too.")] = False,
    json: Json = False,
) -> None:
    """Make a token. It is shown this once; only its digest is kept."""
    from insula.cli import token

    raise typer.Exit(token.new(user, name, days, operator, json))


@app.command("list")
def listed(json: Json = False) -> None:
    """The tokens that there are: names, users and dates."""
    from insula.cli import token

    raise typer.Exit(token.listing(json))


@app.command("revoke")
def revoked(name: Annotated[str, typer.Argument(metavar="NAME", help="As `insula token list` shows it.")]) -> None:
    """Take a token out of force at once, also of streams that are open."""
    from insula.cli import token

    raise typer.Exit(token.revoke(name))
