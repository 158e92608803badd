"""`insula lessons`: what was learned from you, why, and your word on it."""

import json as jsonlib
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from insula.cli.options import All, Json, User

if TYPE_CHECKING:
    from insula.memory.storage.ledger import Do
    from insula.memory.storage.store import Store

T = TypeVar("T")
app = typer.Typer(help="What was learned from you: see it and why, mute, pin, edit, forget it.")
Name = Annotated[
    str, typer.Argument(metavar="ID", help="Of a lesson, as `insula lessons` lists it; its beginning will do.")
]
EMPTY = "Nothing is learned yet: say how you want to be answered (“Celsius, please”), and it is told from then on."
LINE = 100
"""Characters of a lesson in the list."""


@app.callback(invoke_without_command=True)
def listing(context: typer.Context, user: User = "me", everything: All = False, json: Json = False) -> None:
    """All that stands; with --all also what was retired, and why."""
    if context.invoked_subcommand is None:
        _list(user, everything, json)


@app.command("list")
def listed(user: User = "me", everything: All = False, json: Json = False) -> None:
    """All that stands; with --all also what was retired, and why."""
    _list(user, everything, json)


@app.command()
def show(name: Name, user: User = "me", json: Json = False) -> None:
    """One of them: why it was learned, in your own words, when it was told, and what came of it."""
    from insula.night import desk

    found = _with(lambda store: desk.show(store, user, name))
    if json:
        print(jsonlib.dumps(_record(found.piece.kept, found.state) | _reasons(found), indent=2, ensure_ascii=False))
        return
    one = found.piece.kept
    print(f"{one.name}  {found.state}\n  {one.advice}")
    print(f"  about: {', '.join(one.trigger) or 'all that you ask'}")
    print(f"  last told: {_day(found.told) if found.told else 'never'}")
    for said in found.origins:
        print(f"  {_day(said.at)}, {said.session}: “{said.content[:200]}” (insula memory show {said.memory})")
    for past in found.past:
        print(f"  {_day(past.at)}  {desk.event(past)}")


def _reasons(found: Any) -> dict[str, Any]:
    return {
        "told": found.told,
        "sources": [one._asdict() for one in found.origins],
        "history": [{"at": one.at, "by": one.author, "why": one.evidence.get("why", "")} for one in found.past],
    }


@app.command()
def accept(name: Name, user: User = "me") -> None:
    """Have it told, however little backs it."""
    _decide(name, user, "accept")


@app.command()
def mute(name: Name, user: User = "me") -> None:
    """Have it told no more."""
    _decide(name, user, "mute")


@app.command()
def unmute(name: Name, user: User = "me") -> None:
    """Undo `mute`."""
    _decide(name, user, "unmute")


@app.command()
def pin(name: Name, user: User = "me") -> None:
    """Have it told before all others, and never withheld."""
    _decide(name, user, "pin")


@app.command()
def unpin(name: Name, user: User = "me") -> None:
    """Undo `pin`."""
    _decide(name, user, "unpin")


@app.command()
def edit(name: Name, text: Annotated[str, typer.Argument(help="The new words.")], user: User = "me") -> None:
    """Say it in your words."""
    _decide(name, user, "edit", text)


@app.command()
def forget(name: Name, user: User = "me") -> None:
    """Take it out of what is told; `undo` brings it back."""
    _decide(name, user, "forget")


@app.command()
def undo(name: Name, user: User = "me") -> None:
    """Take back the last decision on it, yours or what retired it."""
    _decide(name, user, "undo")


@app.command()
def erase(
    name: Name, user: User = "me", yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Erase it for good; the messages that it was learned from stay (`insula memory erase`)."""
    from insula.cli import lines
    from insula.cli.common import soul_of
    from insula.errors import InputError
    from insula.night import desk, forgetting

    one = _with(lambda store: desk.piece(store, user, name)).kept
    if not yes and not lines.is_asked():
        raise InputError("Erasing asks first, and nobody can be asked here; give --yes.")
    if not yes and not lines.confirmed(f"Erase for good: {one.advice!r}?"):
        print("Nothing was erased.")
        raise typer.Exit(1)
    if left := _with(lambda store: forgetting.unlearn(store, user, one.name, soul_of(user))):
        print(f"insula: {left}", file=sys.stderr)
    print(f"{one.name} is erased for good.")


def _list(user: str, everything: bool, json: bool) -> None:
    from insula.night import desk

    async def work(store: "Store") -> list[tuple[Any, str]]:
        found = [one for one in await desk.pieces(store, user) if everything or not one.retired]
        return [(one.kept, desk.state(one, store.now())) for one in found]

    found = _with(work)
    if json:
        print(jsonlib.dumps([_record(*one) for one in found], indent=2, ensure_ascii=False))
        return
    for one, state in found:
        said = one.advice if len(one.advice) <= LINE else one.advice[: LINE - 1] + "…"
        how, _, why = state.partition(": ")
        print(f"{one.name:<12} {how:<12} {said}{f' ({why})' if why else ''}")
    if not found:
        print(EMPTY)


def _record(one: Any, state: str) -> dict[str, Any]:
    return {
        "id": one.name,
        "advice": one.advice,
        "state": state,
        "trigger": list(one.trigger),
        "section": one.section,
        "author": one.author,
        "created_at": one.created_at,
    }


def _decide(name: str, user: str, do: "Do", text: str = "") -> None:
    from insula.cli.common import soul_of
    from insula.night import desk

    print(_with(lambda store: desk.decide(store, user, soul_of(user), name, do, text)))


def _with(work: Callable[["Store"], Awaitable[T]]) -> T:
    from insula.cli.common import memory_of
    from insula.memory.storage.store import Store

    async def run() -> T:
        async with await Store.open(memory_of()) as store:
            return await work(store)

    import asyncio  # 20 ms that `insula --help` need not wait for

    return asyncio.run(run())


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
