"""`insula user`: whom anything is kept of, and what they may do with it."""

import time
from pathlib import Path
from typing import Annotated

import typer

from insula import settings
from insula.cli.common import house_of, soul_of, with_store
from insula.cli.lines import confirm_action, print_json, print_warning
from insula.cli.options import Json, Yes
from insula.errors import InputError
from insula.memory.privacy import custody
from insula.server import tokens
from insula.text.wording import count_noun

app = typer.Typer()
Name = Annotated[str, typer.Argument(metavar="NAME", help="The user; `insula chat` calls you “me”.")]
Archive = Annotated[Path, typer.Argument(metavar="FILE", help="What `insula user export` wrote.")]


@app.callback(invoke_without_command=True)
@app.command("list")
def list_users(context: typer.Context, json: Json = False) -> None:
    """Of whom anything is kept."""
    if context.invoked_subcommand is not None:
        return
    names = sorted(with_store(lambda store: store.nights.list_users()))
    print_json(names) if json else print("\n".join(names) or "Nothing is kept of anybody.")


@app.command()
def export(
    name: Name,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="By default NAME.insula.jsonl.")] = None,
) -> None:
    """Write all that is known of a user to a file, with a checksum."""
    target = file or Path(f"{soul_of(name).parent.name}.insula.jsonl")
    if target.exists():
        raise InputError(f"{str(target)!r} is there already; name another file, or move it away.")
    size = with_store(lambda store: custody.export_user(store, name, soul_of(name), target))
    print(f"All that is known of {name!r} is in {str(target)!r} ({size:,} bytes); whoever has the file can read it.")


@app.command("import")
def import_user(name: Name, file: Archive) -> None:
    """Take an archive in, under a name of which nothing is kept yet."""
    taken = custody.open_archive(file)
    rows = with_store(lambda store: custody.import_archive(store, name, house_of(name), taken))
    print(f"What was known of {taken.user!r} is here as {name!r} ({count_noun(rows, 'row')}).")


@app.command()
def backup(name: Name) -> None:
    """Put a copy of all that is known of a user aside."""
    copy = with_store(lambda store: custody.backup_user(store, name, house_of(name)))
    print(f"A copy is in {str(copy)!r}.")


@app.command()
def restore(
    name: Name,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="By default the newest backup.")] = None,
    yes: Yes = False,
) -> int:
    """Bring a copy back, instead of what is known now."""
    if not confirm_action(f"Put back what was known of {name!r}, instead of what is known now?", yes, "restored"):
        return 1
    rows = with_store(lambda store: custody.restore_backup(store, name, house_of(name), file))
    print(f"What was known of {name!r} is back ({count_noun(rows, 'row')}).")
    return 0


@app.command()
def erase(name: Name, yes: Yes = False) -> int:
    """Erase a user for good: no word is left in the memory, its index, its free pages, its backups or the log."""
    question = f"Erase all that is known of {name!r}, with its backups and the log? It cannot be undone."
    if not confirm_action(question, yes, "erased"):
        return 1
    path = settings.home() / tokens.FILE
    revoked = tokens.revoke_user(path, name)  # first: who is killed halfway has let nobody in
    print_warning(with_store(lambda store: custody.erase_user(store, name, house_of(name))))
    print(f"Nothing is kept of {name!r} any more. What the hooks of coding agents observed: insula purge.")
    if revoked and not any(token.is_valid(time.time()) for token in tokens.read_tokens(path)):
        print(tokens.NONE_LEFT)
    return 0
