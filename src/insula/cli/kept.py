"""The commands of `insula memory` and `insula soul`; each imports what it does when it runs."""

from typing import Annotated, Literal

import typer

from insula.cli.options import Json, User, numbered

soul = typer.Typer(help="What the agent has learned about how to be: see it, undo it, accept or reject a change.")
Revision = Annotated[
    int | None,
    typer.Argument(
        parser=numbered("revision", "insula soul history"),
        metavar="NUMBER",
        help="A revision of `insula soul history`; by default the one before.",
    ),
]


@soul.callback(invoke_without_command=True)
def soul_show(context: typer.Context, user: User = "me", json: Json = False) -> None:
    """SOUL.md as it stands."""
    if context.invoked_subcommand is None:
        from insula.cli.soul import show

        raise typer.Exit(show(user, json))


@soul.command("show")
def soul_shown(user: User = "me", json: Json = False) -> None:
    """SOUL.md as it stands."""
    from insula.cli.soul import show

    raise typer.Exit(show(user, json))


@soul.command("diff")
def soul_diff(revision: Revision = None, user: User = "me") -> None:
    """What changed since the revision before, or since the one named."""
    from insula.cli.soul import diff

    raise typer.Exit(diff(user, revision))


@soul.command("history")
def soul_history(user: User = "me", json: Json = False) -> None:
    """Every revision, newest first."""
    from insula.cli.soul import history

    raise typer.Exit(history(user, json))


@soul.command("undo")
def soul_undo(revision: Revision = None, user: User = "me") -> None:
    """Go back to the revision before, or to the one named."""
    from insula.cli.soul import undo

    raise typer.Exit(undo(user, revision))


@soul.command("propose")
def soul_propose(user: User = "me") -> None:
    """The change that waits for you, if any."""
    from insula.cli.soul import propose

    raise typer.Exit(propose(user))


@soul.command("accept")
def soul_accept(user: User = "me") -> None:
    """Accept the change that waits."""
    from insula.cli.soul import decide

    raise typer.Exit(decide(user, True))


@soul.command("reject")
def soul_reject(user: User = "me") -> None:
    """Reject the change that waits."""
    from insula.cli.soul import decide

    raise typer.Exit(decide(user, False))


memory = typer.Typer(help="What is remembered: list, correct, pin, mute, erase it, and bring it back.")
Number = Annotated[
    int,
    typer.Argument(
        parser=numbered("memory", "insula memory"), metavar="NUMBER", help="Of a memory, as `insula memory` lists it."
    ),
]


Whose = Annotated[str, typer.Option(help="Only about somebody: you, Ana, “your sister”.")]
FactKind = Annotated[Literal["fact", "plan"] | None, typer.Option(help="Only facts, or plans.")]
Since = Annotated[str, typer.Option(metavar="DATE", help="Only since a day, as in 2026-01-31.")]
Transcript = Annotated[bool, typer.Option("--transcript", help="What was said, word for word, in place of facts.")]
Every = Annotated[bool, typer.Option("--all", help="All of them, not the latest 50 alone.")]


@memory.callback(invoke_without_command=True)
def memory_list(
    context: typer.Context,
    user: User = "me",
    whose: Whose = "",
    kind: FactKind = None,
    since: Since = "",
    transcript: Transcript = False,
    everything: Every = False,
    json: Json = False,
) -> None:
    """The latest 50 facts, newest first: what it is, whose, since when and in which words; with --all every one."""
    if context.invoked_subcommand is None:
        memory_listed(user, whose, kind, since, transcript, everything, json)


@memory.command("list")
def memory_listed(
    user: User = "me",
    whose: Whose = "",
    kind: FactKind = None,
    since: Since = "",
    transcript: Transcript = False,
    everything: Every = False,
    json: Json = False,
) -> None:
    """The latest facts, newest first: what it is, whose, since when and in which words."""
    from insula.cli import memory

    if transcript:
        raise typer.Exit(memory.transcript(user, everything, json))
    raise typer.Exit(memory.listing(user, whose, kind or "", since, everything, json))


@memory.command("add")
def memory_add(
    text: Annotated[str, typer.Argument(help="A sentence, as in “My sister Ana lives in Lisbon.”")],
    user: User = "me",
    json: Json = False,
) -> None:
    """Add a fact in your own words."""
    from insula.cli.memory import add

    raise typer.Exit(add(user, text, json))


@memory.command("show")
def memory_show(number: Number, user: User = "me", json: Json = False) -> None:
    """One memory, where it is from and what became of it."""
    from insula.cli.memory import show

    raise typer.Exit(show(user, number, json))


@memory.command("restore")
def memory_restore(number: Number, user: User = "me") -> None:
    """Bring back a memory that the night merged or forgot."""
    from insula.cli.memory import restore

    raise typer.Exit(restore(user, number))


@memory.command("edit")
@memory.command("correct", hidden=True)
def memory_edit(
    number: Number, text: Annotated[str, typer.Argument(help="What it should say.")], user: User = "me"
) -> None:
    """Let a memory say something else; `undo` brings the old words back."""
    from insula.cli.memory import amend

    raise typer.Exit(amend(user, number, "correct", text))


@memory.command("pin")
def memory_pin(number: Number, user: User = "me") -> None:
    """Keep a memory: no night merges or forgets it."""
    from insula.cli.memory import amend

    raise typer.Exit(amend(user, number, "pin"))


@memory.command("unpin")
def memory_unpin(number: Number, user: User = "me") -> None:
    """Undo `pin`."""
    from insula.cli.memory import amend

    raise typer.Exit(amend(user, number, "unpin"))


@memory.command("mute")
def memory_mute(number: Number, user: User = "me") -> None:
    """Put a memory before no model any more."""
    from insula.cli.memory import amend

    raise typer.Exit(amend(user, number, "mute"))


@memory.command("unmute")
def memory_unmute(number: Number, user: User = "me") -> None:
    """Undo `mute`."""
    from insula.cli.memory import amend

    raise typer.Exit(amend(user, number, "unmute"))


@memory.command("undo")
def memory_undo(number: Number, user: User = "me") -> None:
    """Take back the last decision on a memory: yours, or what a night let go."""
    from insula.cli.memory import amend

    raise typer.Exit(amend(user, number, "undo"))


@memory.command("search")
def memory_search(
    text: Annotated[str, typer.Argument(help="Words that are looked for.")], user: User = "me", json: Json = False
) -> None:
    """What is remembered that holds some words, best first."""
    from insula.cli.memory import search

    raise typer.Exit(search(user, text, json))


@memory.command("erase")
def memory_erase(
    number: Annotated[
        int | None,
        typer.Argument(parser=numbered("memory", "insula memory"), metavar="NUMBER", help="Of a memory."),
    ] = None,
    session: Annotated[str, typer.Option("--session", help="Erase all that was said in a session instead.")] = "",
    user: User = "me",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase a memory for good, or a session, with the lines they came from and what quotes them."""
    from insula.cli.memory import erase, erase_session

    if (number is None) == (not session):
        raise typer.BadParameter("Name a memory, as `insula memory` numbers it, or a session with --session.")
    raise typer.Exit(erase_session(user, session, yes) if number is None else erase(user, number, yes))


@memory.command("calibration")
def memory_calibration(
    user: User = "me",
    reset: Annotated[
        bool, typer.Option("--reset", help="Go back to the calibration that everybody begins with.")
    ] = False,
    json: Json = False,
) -> None:
    """How sure what is stored makes the agent, as your thanks and corrections have it."""
    from insula.cli.memory import calibration

    raise typer.Exit(calibration(user, reset, json))
