"""`insula token`: who may come in through the server."""

import time
from pathlib import Path
from typing import Annotated

import typer

from insula import settings
from insula.cli.lines import print_json, print_table, print_warning
from insula.cli.options import Json
from insula.memory.storage.store import check_names
from insula.server import tokens
from insula.text.wording import day_of

app = typer.Typer()


@app.command()
def new(
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose memory it opens.")],
    name: Annotated[
        str, typer.Option(help="What to call it, as “laptop”; by default the user's name and a number.")
    ] = "",
    days: Annotated[float, typer.Option(min=0, max=36_500, help="After how many days it ends; 0 for never.")] = 365.0,
    operator: Annotated[bool, typer.Option("--operator", help="It shows how the nights of all users go, too.")] = False,
    json: Json = False,
) -> None:
    """Make a token. It is shown this once; only its digest is kept."""
    check_names(user, "any")
    text, kept = tokens.add_token(tokens.read_tokens(_token_path()), user, name, time.time(), days, operator=operator)
    tokens.write_tokens(_token_path(), kept)
    made = kept[-1]
    if json:
        return print_json({"token": text, **_token_record(made)})
    print(text)
    return print_warning(
        f"The token {made.name!r} of {user!r} is good until {_describe_end(made, made.made)}. It is shown this once; "
        "a server that runs takes it at once, and from now on nobody comes in without one."
        + (" It shows how the nights of all users go, too." if operator else "")
    )


@app.callback(invoke_without_command=True)
@app.command("list")
def list_tokens(context: typer.Context, json: Json = False) -> None:
    """The tokens that there are: names, users and dates."""
    if context.invoked_subcommand is not None:
        return None
    known, now = tokens.read_tokens(_token_path()), time.time()
    if json:
        return print_json([_token_record(token) for token in known])
    if not known:
        gone = _token_path().exists()
        return print(tokens.NONE_LEFT if gone else "There is no token; make one with: insula token new NAME")
    rows = (
        (token.name, token.user, day_of(token.made), _describe_end(token, now), "operator" * token.operator)
        for token in known
    )
    return print_table(("name", "user", "made", "good until", ""), rows)


@app.command()
def revoke(name: Annotated[str, typer.Argument(metavar="NAME", help="As `insula token list` shows it.")]) -> None:
    """Take a token out of force at once, also of streams that are open."""
    left = tokens.remove_token(tokens.read_tokens(_token_path()), name)
    tokens.write_tokens(_token_path(), left)
    print(f"The token {name!r} opens nothing any more.")
    if not any(token.is_valid(time.time()) for token in left):
        print(f"{tokens.NONE_LEFT} To serve this machine without tokens, remove {str(_token_path())!r}.")


def _token_path() -> Path:
    settings.check_home(settings.home())
    return settings.home() / tokens.FILE


def _token_record(token_kept: tokens.Token) -> dict[str, object]:
    return token_kept.model_dump(exclude={"digest"}, exclude_defaults=True)


def _describe_end(token_kept: tokens.Token, now: float) -> str:
    if token_kept.expires is None:
        return "it is revoked"
    return day_of(token_kept.expires) if token_kept.is_valid(now) else f"{day_of(token_kept.expires)} (over)"
