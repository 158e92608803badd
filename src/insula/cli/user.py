"""`insula user`: whom anything is kept of, and what they may do with it."""

import asyncio
import json as jsonlib
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from insula import settings
from insula.cli import lines
from insula.cli.common import LOG_FILE, counted, memory_of, soul_of
from insula.errors import InputError
from insula.memory.privacy import audit, custody
from insula.memory.privacy.custody import House
from insula.memory.storage.store import Store
from insula.server import tokens

T = TypeVar("T")


def house_of(user: str) -> House:
    """Where the files about a user lie."""
    home = settings.home()
    return House(home, soul_of(user), home / LOG_FILE)


def listing(json: bool) -> int:
    """Print the names of all of whom anything is kept."""
    names = sorted(_with(lambda store: store.nights.users()))
    if json:
        print(jsonlib.dumps(names))
    else:
        print("\n".join(names) if names else "Nothing is kept of anybody.")
    return 0


def export(user: str, file: Path | None) -> int:
    """Write all that is known of a user to a file."""
    target = file or Path(f"{soul_of(user).parent.name}.insula.jsonl")
    if target.exists():
        raise InputError(f"{str(target)!r} is there already; name another file, or move it away.")
    size = _with(lambda store: custody.export(store, user, soul_of(user), target))
    _noted("export", user)
    print(f"All that is known of {user!r} is in {str(target)!r} ({size:,} bytes); whoever has the file can read it.")
    return 0


def take(user: str, file: Path) -> int:
    """Take an archive in."""
    taken = custody.opened(file)
    rows = _with(lambda store: custody.take(store, user, house_of(user), taken))
    _noted("import", user)
    print(f"What was known of {taken.user!r} is here as {user!r} ({counted(rows, 'row')}).")
    return 0


def backup(user: str) -> int:
    """Put a copy aside."""
    copy = _with(lambda store: custody.backup(store, user, house_of(user)))
    _noted("backup", user)
    print(f"A copy is in {str(copy)!r}.")
    return 0


def restore(user: str, file: Path | None, yes: bool) -> int:
    """Bring a copy back."""
    _asked(f"Put back what was known of {user!r}, instead of what is known now?", yes, "restored")
    rows = _with(lambda store: custody.restore(store, user, house_of(user), file))
    _noted("restore", user)
    print(f"What was known of {user!r} is back ({counted(rows, 'row')}).")
    return 0


def erase(user: str, yes: bool) -> int:
    """Erase a user."""
    _asked(f"Erase all that is known of {user!r}, with its backups and the log? It cannot be undone.", yes, "erased")
    tokens.revoke_user(settings.home() / tokens.FILE, user)  # first: who is killed halfway has let nobody in
    if left := _with(lambda store: custody.erase(store, user, house_of(user))):
        print(f"insula: {left}", file=sys.stderr)
    _noted("erase", "")
    print(f"Nothing is kept of {user!r} any more. What the hooks of coding agents observed: insula purge.")
    return 0


def _noted(did: str, user: str) -> None:
    audit.note(settings.home(), who="", by="terminal", did=f"user {did}", of=user)


def _asked(question: str, yes: bool, done: str) -> None:
    if yes:
        return
    if not lines.is_asked():
        raise InputError(f"Nobody can be asked whether this is meant, so nothing was {done}; say so with --yes.")
    if not lines.confirmed(question):
        raise InputError(f"Nothing was {done}.")


def _with(work: Callable[[Store], Awaitable[T]]) -> T:
    home = settings.home()
    settings.check_home(home)

    async def run() -> T:
        async with await Store.open(memory_of()) as store:
            await go_on(store)
            return await work(store)

    return asyncio.run(run())


async def go_on(store: Store) -> None:
    """Finish an erasure that was stopped, and say so."""
    if user := custody.unfinished(settings.home()):
        left = await custody.resume(store, user, house_of(user))
        print(f"insula: An erasure was stopped halfway; it is finished now. {left}".strip(), file=sys.stderr)
