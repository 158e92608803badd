"""`insula guidance soul`: SOUL.md, to be seen and undone; a change that waits is accepted or rejected (R10)."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from insula.cli.common import soul_of, with_store
from insula.cli.lines import print_json, print_warning
from insula.cli.options import Json, User, make_number_parser
from insula.night import guidelines
from insula.night.guidelines import SoulState, unified_diff

EMPTY = "Nothing is learned yet: SOUL.md is written by the night (insula sleep), from what two sessions or more back."
FOREIGN = (
    "{path!r} was not written by Insula, so no model reads it and it is left alone; move it away, and put its lines "
    "under “## Yours” once a night has written the file."
)
app = typer.Typer()
Revision = Annotated[
    int | None,
    typer.Argument(
        parser=make_number_parser("revision", "insula guidance soul history"),
        metavar="NUMBER",
        help="A revision of `insula guidance soul history`; by default the one before.",
    ),
]


@app.callback(invoke_without_command=True)
@app.command("show")
def show(context: typer.Context, user: User = "me", json: Json = False) -> int:
    """SOUL.md as it stands, with your edits taken in."""
    if context.invoked_subcommand is not None:
        return 0
    path = soul_of(user)
    text, past, waiting, foreign = _read_state(user)
    if json:
        print_json({"path": str(path), "text": text, "revisions": len(past), "waiting": waiting is not None})
        return 0
    if foreign:
        print_warning(FOREIGN.format(path=str(path)))
        return 1
    print(text or EMPTY)
    if waiting:
        print("\nA change waits for you: insula guidance soul propose", file=sys.stderr)
    return 0


@app.command()
def diff(revision: Revision = None, user: User = "me") -> None:
    """What changed since the revision before, or since the one named."""
    text, past, _, _ = _read_state(user)
    earlier = past[1].content if len(past) > 1 else ""
    before = earlier if revision is None else guidelines.of_number(past, revision).content
    print(unified_diff(before, text) or "Nothing changed.")


@app.command()
def history(user: User = "me", json: Json = False) -> None:
    """Every revision, newest first."""
    past = _read_state(user).past
    if json:
        return print_json(
            [{"id": state.id, "author": state.author, "at": state.at, "evidence": state.evidence} for state in past]
        )
    for state in past:
        day = datetime.fromtimestamp(state.at, UTC).strftime("%Y-%m-%d %H:%M")
        print(f"{state.id:>6}  {day}  {state.author:<7}  {state.summary}")
    return None if past else print(EMPTY)


@app.command()
def undo(revision: Revision = None, user: User = "me") -> None:
    """Go back to the revision before, or to the one named."""
    wanted = with_store(lambda store: guidelines.undo_revision(store, user, soul_of(user), revision))
    print(f"SOUL.md is as it was in revision {wanted.id}; undo that with: insula guidance soul undo")


@app.command()
def propose(user: User = "me") -> None:
    """The change that waits for you, if any."""
    text, _, waiting, _ = _read_state(user)
    if waiting is None:
        return print("No change waits.")
    for reason in waiting.reasons:
        print(f"It waits because {reason}", file=sys.stderr)
    print(unified_diff(text, waiting.content) or "Nothing changed.")
    return print("insula guidance soul accept · insula guidance soul reject", file=sys.stderr)


@app.command()
def accept(user: User = "me") -> None:
    """Accept the change that waits."""
    _decide_proposal(user, True)
    print("Accepted: it is used from the next message on.")


@app.command()
def reject(user: User = "me") -> None:
    """Reject the change that waits."""
    _decide_proposal(user, False)
    print("Rejected: the document stays as it is.")


def _decide_proposal(user: str, accepted: bool) -> None:
    with_store(lambda store: guidelines.decide_proposal(store, user, soul_of(user), accepted))


def _read_state(user: str) -> SoulState:
    return with_store(lambda store: guidelines.read_soul_state(store, user, soul_of(user)))
