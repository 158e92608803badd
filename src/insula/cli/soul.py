"""`insula soul`: what the agent has learned about how to be, to be seen, undone, accepted and rejected (R10)."""

import asyncio
import difflib
import json as jsonlib
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from insula import settings
from insula.cli.common import DATABASE, counted, soul_of
from insula.errors import InputError
from insula.memory.changes import Revision
from insula.memory.nights import Revised
from insula.memory.store import Store
from insula.sleep import guidelines, soul_file
from insula.sleep.guidelines import PAST, PERSON, PROPOSAL, SUBJECT

T = TypeVar("T")
EMPTY = "Nothing is learned yet: SOUL.md is written by the night (insula sleep), from what two sessions or more back."
FOREIGN = (
    "{path!r} was not written by Insula, so it is told to nobody and left alone; move it away, and put its lines under "
    "“## Yours” once a night has written the file."
)


def show(user: str, json: bool) -> int:
    """The document as it stands, with a person's edits taken in."""
    path = soul_of(user)
    text, past, waiting, found = _with(lambda store: state(store, user, path))
    if json:
        print(jsonlib.dumps({"path": str(path), "text": text, "revisions": len(past), "waiting": waiting is not None}))
        return 0
    if found.foreign:
        print(f"insula: {FOREIGN.format(path=str(path))}", file=sys.stderr)
        return 1
    print(text or EMPTY)
    if waiting:
        print("\nA change waits for you: insula soul propose", file=sys.stderr)
    return 0


def history(user: str, json: bool) -> int:
    """Every state, newest first."""
    _, past, _, _ = _with(lambda store: state(store, user, soul_of(user)))
    if json:
        print(
            jsonlib.dumps(
                [{"id": one.id, "author": one.author, "at": one.at, "evidence": one.evidence} for one in past]
            )
        )
        return 0
    for one in past:
        day = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M")
        why = one.evidence.get("why") or counted(len(one.evidence.get("changes", [])), "change")
        print(f"{one.id:>6}  {day}  {one.author:<7}  {why}")
    if not past:
        print(EMPTY)
    return 0


def diff(user: str, revision: int | None) -> int:
    """What changed since the state before, or since a revision."""
    text, past, _, _ = _with(lambda store: state(store, user, soul_of(user)))
    before = _revision(past, revision).content if revision is not None else past[1].content if len(past) > 1 else ""
    _print_diff(before, text)
    return 0


def propose(user: str) -> int:
    """The change that waits, as a diff; accept or reject it."""
    text, _, waiting, _ = _with(lambda store: state(store, user, soul_of(user)))
    if waiting is None:
        print("No change waits.")
        return 0
    for reason in waiting.evidence.get("reasons", []):
        print(f"It waits because {reason}", file=sys.stderr)
    _print_diff(text, waiting.content)
    print("insula soul accept · insula soul reject", file=sys.stderr)
    return 0


def decide(user: str, accepted: bool) -> int:
    """Accept or reject the change that waits.

    Raises:
        InputError: none waits.
    """

    async def work(store: Store) -> bool:
        _, _, waiting, _ = await state(store, user, soul_of(user))
        if waiting is None:
            return False
        if accepted:
            await guidelines.put(store, user, soul_of(user), waiting.content, f"accepted {waiting.id}")
        user_id = await store.sleeper(user)
        if user_id is not None:
            await store.revise(user_id, Revision(PROPOSAL, PERSON, "", {"why": "accepted" if accepted else "rejected"}))
        return True

    if not _with(work):
        raise InputError("No change waits to be accepted or rejected; `insula soul history` shows what was changed.")
    print("Accepted: it is told from the next message on." if accepted else "Rejected: the document stays as it is.")
    return 0


def undo(user: str, revision: int | None) -> int:
    """Go back to the state before, or to a revision.

    Raises:
        InputError: there is none such.
    """

    async def work(store: Store) -> Revised | None:
        _, past, _, _ = await state(store, user, soul_of(user))
        wanted = _revision(past, revision) if revision is not None else past[1] if len(past) > 1 else None
        if wanted:
            await guidelines.put(store, user, soul_of(user), wanted.content, f"back to {wanted.id}")
        return wanted

    wanted = _with(work)
    if wanted is None:
        raise InputError("There is no earlier state to go back to; `insula soul history` lists them.")
    print(f"SOUL.md is as it was in revision {wanted.id}; undo that with: insula soul undo")
    return 0


def _revision(past: list[Revised], number: int) -> Revised:
    found = next((one for one in past if one.id == number), None)
    if found is None:
        raise InputError(f"There is no revision {number}; `insula soul history` lists them.")
    return found


async def state(store: Store, user: str, path: Path) -> tuple[str, list[Revised], Revised | None, soul_file.Found]:
    """The text, its revisions, what waits, and what was found in the file."""
    text = await guidelines.adopt(store, user, path)
    user_id = await store.sleeper(user)
    past = await store.revisions(user_id, SUBJECT, PAST) if user_id is not None else []
    waiting = await store.revisions(user_id, PROPOSAL, 1) if user_id is not None else []
    open_one = waiting[0] if waiting and waiting[0].content else None
    return text, past, open_one, soul_file.read(path, guidelines.known(past))


def _print_diff(before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
    print("\n".join(lines) or "Nothing changed.")


def _with(work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        async with await Store.open(settings.home() / DATABASE) as store:
            return await work(store)

    return asyncio.run(run())
