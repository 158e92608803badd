"""`insula guidance`: what was learned, of three kinds, and a person's word on it: why, mute, pin, edit, undo."""

import time
from collections.abc import Callable
from typing import Annotated, Any, cast

import typer

from insula.cli import rules, soul
from insula.cli.common import soul_of, with_store
from insula.cli.lines import confirm_action, print_json, print_warning
from insula.cli.options import All, Json, User, Yes
from insula.cli.render import NOTHING_LEARNED, render_piece
from insula.memory.storage.ledger import Do
from insula.memory.storage.store import Store
from insula.night import curation
from insula.operations.guidance import (
    KINDS,
    GuidanceItem,
    describe_rule,
    explained_record,
    guidance_record,
    list_guidance,
)
from insula.text.wording import day_of

app = typer.Typer()
app.add_typer(rules.app, name="rules", help="The rules of the project in the working folder: look, decide, share.")
app.add_typer(soul.app, name="soul", help="SOUL.md: see it and its history, go back, accept or reject a change.")
Name = Annotated[str, typer.Argument(metavar="ID", help="As `insula guidance` lists it; its beginning will do.")]


@app.callback(invoke_without_command=True)
@app.command("list")
def list_all(context: typer.Context, user: User = "me", everything: All = False, json: Json = False) -> None:
    """All of it by kind: what, when it is used, since when and why; with --all also what is used no more."""
    if context.invoked_subcommand is not None:
        return None
    every = [
        *with_store(lambda store: list_guidance(store, user)),
        *map(describe_rule, rules.rules_here().list_rules()),
    ]
    items = [item for item in every if everything or item.standing != "gone"]
    if json:
        now = time.time()
        return print_json([_piece_record(item, now) for item in items])
    for name, title in KINDS.items():
        if group := [item for item in items if item.kind == name]:
            print(f"{title}\n")
            for item in group:
                print(f"{render_piece(item)}\n")
    return None if items else print(NOTHING_LEARNED)


def _piece_record(item: GuidanceItem, now: float) -> dict[str, Any]:
    if item.piece is None:
        return {"id": item.id, "kind": item.kind, "advice": item.text, "state": item.state, "about": item.about}
    return guidance_record(item.piece.kept, curation.describe_state(item.piece, now))


@app.command()
@app.command("show", hidden=True)
def why(name: Name, user: User = "me", json: Json = False) -> None:
    """The messages behind one of them, when it was used, and each decision on it."""
    if rules.rules_here().has_rule(name):
        return rules.show(name, json)
    explained = with_store(lambda store: curation.explain_piece(store, user, name))
    kept = explained.piece.kept
    if json:
        return print_json(explained_record(explained))
    print(f"{kept.name}  {explained.state}\n  {kept.advice}")
    print(f"  about: {', '.join(kept.trigger) or 'all that you ask'}")
    print(f"  last used: {day_of(explained.told or 0) or 'never'}")
    for said in explained.origins:
        print(f"  {day_of(said.at)}, {said.session}: “{said.content[:200]}” (insula memory show {said.memory})")
    for past in explained.past:
        print(f"  {day_of(past.at)}  {curation.describe_event(past)}")
    return None


_DECISIONS = {
    "accept": "Use it, however little backs it.",
    "mute": "Use it no more.",
    "unmute": "Undo `mute`.",
    "pin": "Use it before all others, and never leave it out by lot.",
    "unpin": "Undo `pin`.",
    "forget": "Take it out; `undo` brings it back.",
    "undo": "Take back the last decision on it, yours or a night's.",
}


def _make_decision(do: str) -> Callable[[Name, User], None]:
    def decide_named(name: Name, user: User = "me") -> None:
        _decide_piece(name, user, do)

    return decide_named


for _do, _about in _DECISIONS.items():
    app.command(_do, help=_about)(_make_decision(_do))


@app.command()
def edit(name: Name, text: Annotated[str, typer.Argument(help="The new words.")], user: User = "me") -> None:
    """Say it in your words."""
    _decide_piece(name, user, "edit", text)


def _decide_piece(name: str, user: str, do: str, text: str = "") -> None:
    if do in rules.DECISIONS and rules.rules_here().has_rule(name):
        return rules.apply_decision(name, do)
    return print(with_store(lambda store: curation.decide_piece(store, user, soul_of(user), name, cast(Do, do), text)))


@app.command()
def erase(name: Name, user: User = "me", yes: Yes = False) -> int:
    """Erase it for good; the messages that it was learned from stay (`insula memory erase`)."""
    kept = with_store(lambda store: curation.find_piece(store, user, name)).kept
    if not confirm_action(f"Erase for good: {kept.advice!r}?", yes, "erased"):
        return 1

    async def erase_learned(store: Store) -> str:
        return await curation.erase_piece(store, user, kept.name, soul_of(user))

    print_warning(with_store(erase_learned))
    print(f"{kept.name} is erased for good.")
    return 0
