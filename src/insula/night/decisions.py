"""What a person does with SOUL.md: sees how it stands, accepts or rejects what waits, goes back (R8, R10)."""

import difflib
from pathlib import Path
from typing import NamedTuple

from insula.errors import InputError
from insula.memory.storage.changes import Revision
from insula.memory.storage.rows import Revised
from insula.memory.storage.store import Store
from insula.night import guidelines
from insula.night.guidelines import PAST, PERSON, PROPOSAL, SUBJECT
from insula.night.soul import file as soul_file

HISTORY = "the history (at a terminal: `insula guidance soul history`)"
"""In the messages of the command, the API and the page alike."""


class State(NamedTuple):
    """How the document of a user stands."""

    text: str
    """What the model is told of, with a person's edits taken in; empty for a file that is not ours."""
    past: list[Revised]
    """Its states, newest first."""
    waiting: Revised | None
    """The change that waits for a person's word."""
    foreign: bool
    """Whether the file was not written by Insula, so that it is told to nobody and left alone."""


async def state(store: Store, user: str, path: Path | None) -> State:
    """How the document stands, with a person's edits taken in.

    Args:
        store: where its states are.
        user: whose document it is.
        path: where the file lies; None where it is kept in the store alone.

    Raises:
        InputError: the file cannot be read.
    """
    text = await guidelines.adopt(store, user, path) if path else ""
    user_id = await store.nights.sleeper(user)
    past = await store.guidance.revisions(user_id, SUBJECT, PAST) if user_id is not None else []
    waiting = await store.guidance.revisions(user_id, PROPOSAL, 1) if user_id is not None else []
    foreign = bool(path and soul_file.read(path, guidelines.known(past)).foreign)
    if path is None and past:
        text = past[0].content
    return State(text, past, waiting[0] if waiting and waiting[0].content else None, foreign)


async def decide(store: Store, user: str, path: Path | None, accepted: bool) -> None:
    """Accept or reject the change that waits.

    Raises:
        InputError: none waits, or the file was changed meanwhile.
    """
    now = await state(store, user, path)
    waiting = now.waiting
    user_id = await store.nights.sleeper(user)
    if waiting is None or user_id is None:
        raise InputError(f"No change waits to be accepted or rejected; {HISTORY} shows what was changed.")
    if accepted:
        await guidelines.put(store, user, path, waiting.content, f"accepted {waiting.id}")
        await guidelines.reconcile(store, user, now.text, waiting.content)
    await store.guidance.revise(
        user_id, Revision(PROPOSAL, PERSON, "", {"why": "accepted" if accepted else "rejected"})
    )


async def undo(store: Store, user: str, path: Path | None, revision: int | None) -> Revised:
    """Go back to the state before, or to a revision; returns the state that is in force now.

    Raises:
        InputError: there is none such, or the file was changed meanwhile.
    """
    text, past, _, _ = await state(store, user, path)
    if revision is None and len(past) < 2:
        raise InputError(f"There is no earlier state to go back to; {HISTORY} lists them.")
    wanted = past[1] if revision is None else of_number(past, revision)
    await guidelines.put(store, user, path, wanted.content, f"back to {wanted.id}")
    await guidelines.reconcile(store, user, text, wanted.content)
    return wanted


def of_number(past: list[Revised], number: int) -> Revised:
    """The state with a number.

    Raises:
        InputError: there is none such.
    """
    found = next((one for one in past if one.id == number), None)
    if found is None:
        raise InputError(f"There is no revision {number}; {HISTORY} lists them.")
    return found


def difference(before: str, after: str) -> str:
    """What changed, as a unified diff; empty where nothing did."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
    return "\n".join(lines)
