"""`insula token`: who may come in through the server."""

import json as jsonlib
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table
from rich.text import Text

from insula import settings
from insula.cli.terminal import tell
from insula.memory.privacy import audit
from insula.memory.storage.store import check_names
from insula.server import tokens

TERMINAL = "terminal"


def _path() -> Path:
    home = settings.home()
    settings.check_home(home)
    return home / tokens.FILE


def new(user: str, name: str, days: float, operator: bool, json: bool) -> int:
    """Make a token for a user; it is shown once."""
    check_names(user, "any")
    path = _path()
    text, kept = tokens.added(tokens.read(path), user, name, time.time(), days, operator=operator)
    tokens.write(path, kept)
    made = kept[-1]
    audit.note(path.parent, who="", by=TERMINAL, did="token new", of=user, what=made.name)
    if json:
        print(jsonlib.dumps({"token": text, **_record(made)}))
        return 0
    print(text)
    print(
        f"insula: The token {made.name!r} of {user!r} is good until {_until(made, made.made)}. It is shown this once; "
        "a server that runs takes it at once, and from now on nobody comes in without one."
        + (" It shows how the nights of all users go, too." if operator else ""),
        file=sys.stderr,
    )
    return 0


def listing(json: bool) -> int:
    """Show the tokens that there are, without them."""
    known = tokens.read(_path())
    if json:
        print(jsonlib.dumps([_record(one) for one in known]))
        return 0
    if not known:
        print("There is no token; make one with: insula token new NAME")
        return 0
    table = Table("name", "user", "made", "good until", "", box=None, header_style="dim")
    now = time.time()
    for one in known:
        table.add_row(Text(one.name), Text(one.user), _day(one.made), _until(one, now), "operator" * one.operator)
    tell(lambda console: console.print(table))
    return 0


def revoke(name: str) -> int:
    """Take a token out of force; streams that it opened end."""
    path = _path()
    left = tokens.without(tokens.read(path), name)
    tokens.write(path, left)
    audit.note(path.parent, who="", by=TERMINAL, did="token revoke", what=name)
    print(f"The token {name!r} opens nothing any more.")
    if not any(one.holds(time.time()) for one in left):
        print(f"None is left, so nobody comes in; make one, or remove {str(path)!r} to serve this machine without.")
    return 0


def _record(one: tokens.Token) -> dict[str, object]:
    record: dict[str, object] = {"name": one.name, "user": one.user, "made": one.made, "expires": one.expires}
    return record | ({"operator": True} if one.operator else {})


def _until(one: tokens.Token, now: float) -> str:
    if one.expires is None:
        return "it is revoked"
    return _day(one.expires) if one.holds(now) else f"{_day(one.expires)} (over)"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
