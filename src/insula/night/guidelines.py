"""SOUL.md as it stands in the store and in its file: what a person wrote is taken in, what waits is accepted, an
earlier state is brought back (R4, R8, R10).
"""

import difflib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, cast

from insula.errors import InputError
from insula.memory.privacy.erasure import DIGESTS
from insula.memory.storage import ledger
from insula.memory.storage.changes import RevisionChange
from insula.memory.storage.rows import Revised, StoredGuidance
from insula.memory.storage.store import Store
from insula.night.soul import document as soul
from insula.night.soul import file as soul_file
from insula.night.soul.document import Document, Section, is_preference
from insula.night.view import retire_removed

SUBJECT, PROPOSAL = "soul", "soul:proposal"
"""Subjects of revisions: the document as it stood, and what waits for a person."""
NIGHT, PERSON = "night", "person"
PAST = 200
"""States of the document that are looked back on, the latest."""


def holds_revision(path: Path, state: Revised) -> bool:
    """Whether the file holds a state of the document already, or there is no file.

    Raises:
        InputError: the file cannot be read.
    """
    return soul_file.read_soul(path, ()).digest in ("", soul.file_digest(state.content))


def put_down(path: Path, past: Sequence[Revised]) -> tuple[bool, str]:
    """Write the latest state of the document to its file; returns whether that changed it, and why it was left alone.

    Raises:
        InputError: the file cannot be read or written.
    """
    file = soul_file.read_soul(path, known_digests(past))
    if file.foreign:
        return False, f"{str(path)!r} is not ours; look at it with: insula guidance soul show"
    digest = None if file.edited else soul_file.write_soul(path, soul.parse_document(past[0].content), file.digest)
    if digest is None:
        return False, f"A person has changed {str(path)!r} meanwhile; the next night takes that in."
    return digest != file.digest, "" if digest != file.digest else "The file holds it already."


def known_digests(past: Sequence[Revised]) -> frozenset[str]:
    """Digests of the documents that were written or accepted, also of those from which something was erased."""
    erased = (str(digest) for revision in past for digest in revision.evidence.get(DIGESTS, ()))
    return frozenset((*(soul.file_digest(revision.content) for revision in past), *erased))


def section_of(kept: StoredGuidance) -> Section:
    """The section of SOUL.md in which a guideline stands."""
    return cast(Section, kept.section)


def removed_guidelines(past: Sequence[Revised]) -> frozenset[str]:
    """The ids of guidelines that a person took out of the document, and did not bring back: they stay out."""
    if not any(revision.author == PERSON for revision in past):
        return frozenset()
    gone: set[str] = set()
    states = [(revision.author, soul.parse_document(revision.content)) for revision in reversed(past)]
    for (_, before), (author, after) in pairwise(states):
        gone |= soul.taken_out(before, after) if author == PERSON else frozenset()
        gone -= {line.id for line in after.derived}
    return frozenset(gone)


async def adopt_edits(store: Store, user: str, path: Path) -> str:
    """Take in what a person wrote since; returns the text that the model is told, and "" for a foreign file.

    Raises:
        InputError: the file cannot be read.
    """
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        return ""
    past = await store.guidance.list_revisions(user_id, SUBJECT, PAST)
    file = soul_file.read_soul(path, known_digests(past))
    if file.edited and not file.foreign:
        text = soul.render_document(file.document)
        before = soul.parse_document(past[0].content) if past else Document()
        gone = retire_removed(before, file.document, await store.guidance.list_lessons(user_id))
        edited = RevisionChange(SUBJECT, PERSON, text, {"why": "edited by hand"})
        await store.guidance.write_changes(user_id, *gone, edited)
    if not file.digest and past:
        return past[0].content  # written by a night without a file
    return soul.render_document(file.usable)


async def replace_document(store: Store, user: str, path: Path | None, text: str, why: str) -> None:
    """Make `text` the document: what `undo_revision` and `decide_proposal` do.

    Raises:
        InputError: the file was changed meanwhile.
    """
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        raise InputError(f"Nothing is remembered of {user!r}; name another user with --user.")
    if path is not None:
        file = soul_file.read_soul(path, known_digests(await store.guidance.list_revisions(user_id, SUBJECT, PAST)))
        if soul_file.write_soul(path, soul.parse_document(text), file.digest) is None:
            raise InputError(f"{str(path)!r} was changed meanwhile and is left as it is; try again.")
    await store.guidance.write_changes(user_id, RevisionChange(SUBJECT, PERSON, text, {"why": why}))


async def reconcile_ledger(store: Store, user: str, before: str, after: str) -> None:
    """Let the ledger follow a person's choice of another state of the document: its wishes come and go with it."""
    user_id = await store.nights.find_user_id(user)
    if user_id is None:
        return
    old, new = soul.parse_document(before), soul.parse_document(after)
    await store.guidance.write_changes(user_id, *retire_removed(old, new, await store.guidance.list_lessons(user_id)))
    shown = frozenset(line.id for line in new.derived if is_preference(line.id))
    await store.run(ledger.bring_back, user_id, shown, store.now())


HISTORY = "the history (at a terminal: `insula guidance soul history`)"
"""In the messages of the command, the API and the page alike."""


class SoulState(NamedTuple):
    """How the document of a user stands."""

    text: str
    """What the model is told of, with a person's edits taken in; empty for a file that is not ours."""
    past: list[Revised]
    """Its states, newest first."""
    waiting: Revised | None
    """The change that waits for a person's word."""
    foreign: bool
    """Whether the file was not written by Insula, so that it is told to nobody and left alone."""


async def read_soul_state(store: Store, user: str, path: Path | None) -> SoulState:
    """How the document stands, with a person's edits taken in.

    Args:
        store: where its states are.
        path: where the file lies; None where it is kept in the store alone.

    Raises:
        InputError: the file cannot be read.
    """
    text = await adopt_edits(store, user, path) if path else ""
    user_id = await store.nights.find_user_id(user)
    past = await store.guidance.list_revisions(user_id, SUBJECT, PAST) if user_id is not None else []
    waiting = await store.guidance.list_revisions(user_id, PROPOSAL, 1) if user_id is not None else []
    foreign = bool(path and soul_file.read_soul(path, known_digests(past)).foreign)
    if path is None and past:
        text = past[0].content
    return SoulState(text, past, waiting[0] if waiting and waiting[0].content else None, foreign)


async def decide_proposal(store: Store, user: str, path: Path | None, accepted: bool) -> None:
    """Accept or reject the change that waits.

    Raises:
        InputError: none waits, or the file was changed meanwhile.
    """
    now = await read_soul_state(store, user, path)
    waiting = now.waiting
    user_id = await store.nights.find_user_id(user)
    if waiting is None or user_id is None:
        raise InputError(f"No change waits to be accepted or rejected; {HISTORY} shows what was changed.")
    if accepted:
        await replace_document(store, user, path, waiting.content, f"accepted {waiting.id}")
        await reconcile_ledger(store, user, now.text, waiting.content)
    await store.guidance.write_changes(
        user_id, RevisionChange(PROPOSAL, PERSON, "", {"why": "accepted" if accepted else "rejected"})
    )


async def undo_revision(store: Store, user: str, path: Path | None, revision: int | None) -> Revised:
    """Go back to the state before, or to a revision; returns the state that is in force now.

    Raises:
        InputError: there is none such, or the file was changed meanwhile.
    """
    text, past, _, _ = await read_soul_state(store, user, path)
    if revision is None and len(past) < 2:
        raise InputError(f"There is no earlier state to go back to; {HISTORY} lists them.")
    wanted = past[1] if revision is None else of_number(past, revision)
    await replace_document(store, user, path, wanted.content, f"back to {wanted.id}")
    await reconcile_ledger(store, user, text, wanted.content)
    return wanted


def of_number(past: list[Revised], number: int) -> Revised:
    """The state with a number.

    Raises:
        InputError: there is none such.
    """
    chosen = next((revision for revision in past if revision.id == number), None)
    if chosen is None:
        raise InputError(f"There is no revision {number}; {HISTORY} lists them.")
    return chosen


def unified_diff(before: str, after: str) -> str:
    """What changed, as a unified diff; empty where nothing did."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
    return "\n".join(lines)
