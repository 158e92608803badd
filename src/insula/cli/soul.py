"""`insula soul`: what the agent has learned about how to be, to be seen, undone, accepted and rejected (R10)."""

import asyncio
import json as jsonlib
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

from insula.cli.common import counted, memory_of, soul_of
from insula.memory.storage.store import Store
from insula.night import decisions
from insula.night.decisions import State, difference

T = TypeVar("T")
EMPTY = "Nothing is learned yet: SOUL.md is written by the night (insula sleep), from what two sessions or more back."
FOREIGN = (
    "{path!r} was not written by Insula, so it is told to nobody and left alone; move it away, and put its lines under "
    "“## Yours” once a night has written the file."
)


def show(user: str, json: bool) -> int:
    """The document as it stands, with a person's edits taken in."""
    path = soul_of(user)
    text, past, waiting, foreign = _state(user)
    if json:
        print(jsonlib.dumps({"path": str(path), "text": text, "revisions": len(past), "waiting": waiting is not None}))
        return 0
    if foreign:
        print(f"insula: {FOREIGN.format(path=str(path))}", file=sys.stderr)
        return 1
    print(text or EMPTY)
    if waiting:
        print("\nA change waits for you: insula soul propose", file=sys.stderr)
    return 0


def history(user: str, json: bool) -> int:
    """Every state, newest first."""
    past = _state(user).past
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
    text, past, _, _ = _state(user)
    earlier = past[1].content if len(past) > 1 else ""
    before = earlier if revision is None else decisions.of_number(past, revision).content
    print(difference(before, text) or "Nothing changed.")
    return 0


def propose(user: str) -> int:
    """The change that waits, as a diff; accept or reject it."""
    text, _, waiting, _ = _state(user)
    if waiting is None:
        print("No change waits.")
        return 0
    for reason in waiting.evidence.get("reasons", []):
        print(f"It waits because {reason}", file=sys.stderr)
    print(difference(text, waiting.content) or "Nothing changed.")
    print("insula soul accept · insula soul reject", file=sys.stderr)
    return 0


def decide(user: str, accepted: bool) -> int:
    """Accept or reject the change that waits.

    Raises:
        InputError: none waits.
    """
    _with(lambda store: decisions.decide(store, user, soul_of(user), accepted))
    print("Accepted: it is told from the next message on." if accepted else "Rejected: the document stays as it is.")
    return 0


def undo(user: str, revision: int | None) -> int:
    """Go back to the state before, or to a revision.

    Raises:
        InputError: there is none such.
    """
    wanted = _with(lambda store: decisions.undo(store, user, soul_of(user), revision))
    print(f"SOUL.md is as it was in revision {wanted.id}; undo that with: insula soul undo")
    return 0


def _state(user: str) -> State:
    return _with(lambda store: decisions.state(store, user, soul_of(user)))


def _with(work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        async with await Store.open(memory_of()) as store:
            return await work(store)

    return asyncio.run(run())
