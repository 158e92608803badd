"""What a person does with what was learned: sees it and its reasons, accepts, mutes, pins, edits, undoes, erases.

The same for the command, the API and the page; SOUL.md shows each decision at once.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from insula.errors import InputError
from insula.guidance import MUTED
from insula.memory.privacy import custody
from insula.memory.storage import ledger
from insula.memory.storage.ledger import Do, GuidancePiece
from insula.memory.storage.rows import Cited, Revised, StoredGuidance
from insula.memory.storage.store import Store
from insula.memory.wishes import is_told, is_wish
from insula.night import guidelines
from insula.night.distil import find_flaw
from insula.night.soul import document as soul
from insula.night.view import with_preferences
from insula.redaction import redact

LISTED = "`insula guidance` lists them"
FEWEST = 3
"""Characters of an id that are enough, where they are those of one piece alone."""
WHY = "your decision on a lesson"
DONE: dict[Do, str] = {
    "accept": "is accepted: it is used from the next message on.",
    "mute": "is muted: it is used no more.",
    "unmute": "is no longer muted.",
    "pin": "is pinned: it is used before all others, and never left out by lot.",
    "unpin": "is no longer pinned.",
    "edit": "has your words now.",
    "forget": "is forgotten: it is used no more, until `insula guidance undo` or your own words bring it back.",
    "undo": "is as it was before.",
}


_WHO: Mapping[str, str] = {"user": "you, in a chat", "person": "you", "night": "the night"}
_DID: Mapping[str, str] = {
    "said": "said it",
    "said again": "said it again",
    "accept": "accepted it",
    "mute": "muted it",
    "unmute": "unmuted it",
    "pin": "pinned it",
    "unpin": "unpinned it",
    "edit": "gave it other words",
    "undone": "took the last decision back",
    "forgotten by you": "forgot it",
    "taken out of SOUL.md": "took it out of SOUL.md",
}


class ExplainedPiece(NamedTuple):
    """A piece of guidance with all that is known of it."""

    piece: GuidancePiece
    state: str
    origins: Sequence[Cited]
    past: Sequence[Revised]
    told: float | None
    """When it was last told."""


def describe_state(piece: GuidancePiece, now: float) -> str:
    """Where it stands, in a word or two."""
    guidance = piece.kept
    if piece.retired:
        return f"retired: {tell_user(piece.retired)}"
    if guidance.mode:
        return guidance.mode
    if is_wish(guidance):
        return "your wish" if is_told(guidance) else "asked once"
    if guidance.author == ledger.PERSON:
        return "accepted"
    return "guideline" if guidance.section else guidance.assess(now).state


def describe_event(revision: Revised) -> str:
    """What became of a piece once, and who did it, in words."""
    return f"{_WHO.get(revision.author, revision.author)}: {_DID.get(revision.why, tell_user(revision.why))}"


def tell_user(why: str) -> str:
    """A reason as it is told to the very person that it speaks of."""
    return why.replace("the user wants", "you want").replace("the user", "you")


async def list_pieces(store: Store, user: str) -> list[GuidancePiece]:
    """All that was learned of a user, what was retired included."""
    user_id = await store.nights.find_user_id(user)
    return await store.run(ledger.list_pieces, user_id) if user_id is not None else []


async def find_piece(store: Store, user: str, name: str) -> GuidancePiece:
    """The piece of an id, or of the beginning of one.

    Raises:
        InputError: there is none, or several begin so.
    """
    every = await list_pieces(store, user)
    exact = [piece for piece in every if name in (piece.kept.name, str(piece.kept.id))]
    matching = exact or [piece for piece in every if len(name) >= FEWEST and piece.kept.name.startswith(name)]
    if len(matching) != 1:
        problem = "Several pieces of guidance begin with" if matching else "There is no guidance"
        raise InputError(f"{problem} {name!r}; {LISTED}.")
    return matching[0]


async def _find_own(store: Store, user: str, name: str) -> tuple[int, GuidancePiece]:
    """The number of a user, and their piece of an id; raises as `find_piece`."""
    piece, user_id = await find_piece(store, user, name), await store.nights.find_user_id(user)
    assert user_id is not None  # noqa: S101 a piece is somebody's
    return user_id, piece


async def explain_piece(store: Store, user: str, name: str) -> ExplainedPiece:
    """A piece with its reasons.

    Raises:
        InputError: there is none such.
    """
    user_id, piece = await _find_own(store, user, name)
    return ExplainedPiece(
        piece,
        describe_state(piece, store.now()),
        await store.guidance.read_cited(user_id, piece.kept.citations),
        await store.guidance.list_revisions(user_id, f"lesson:{piece.kept.key}", ledger.PAST),
        await store.run(ledger.last_told, user_id, piece.kept.id),
    )


async def decide_piece(store: Store, user: str, path: Path | None, name: str, do: Do, text: str = "") -> str:
    """Do what a person wants with a piece; returns a sentence on how it stands.

    Raises:
        InputError: there is none such, or that cannot be done with it, with the reason.
    """
    user_id, piece = await _find_own(store, user, name)
    text = " ".join(redact(text).split())
    if why := _explain_refusal(piece, do, text):
        raise InputError(f"The guidance {piece.kept.name!r} stays as it is: {why}")
    if not await store.run(ledger.record_decision, user_id, piece.kept, do, store.now(), text):
        raise InputError(f"Nothing was decided on the guidance {piece.kept.name!r} that could be undone.")
    await _update_soul(store, user, user_id, path, piece.kept, do)
    return f"{piece.kept.name} {DONE[do]}"


def _explain_refusal(piece: GuidancePiece, do: Do, text: str) -> str:
    """Why something cannot be done; empty where it can."""
    if piece.retired and do != "undo":
        return f"it was retired ({tell_user(piece.retired)}); undo that first, and it is back."
    if do == "edit":
        return _explain_unfit(text)
    return ""


def _explain_unfit(text: str) -> str:
    why = find_flaw(text) if text else "It says nothing"
    return f"{why[0].lower()}{why[1:]}." if why else ""


async def _update_soul(
    store: Store, user: str, user_id: int, path: Path | None, guidance: StoredGuidance, do: Do
) -> None:
    """Let SOUL.md show the decision at once, where there is one."""
    past = await store.guidance.list_revisions(user_id, guidelines.SUBJECT, guidelines.PAST)
    if not past:
        return
    document, kept = soul.parse_document(past[0].content), await store.guidance.list_lessons(user_id)
    key, shown = guidance.key, any(line.id == guidance.key for line in document.derived)
    stands = next((each for each in kept if each.key == key and each.section and each.mode != MUTED), None)
    if shown and stands is None:
        document = soul.revise_document(document, remove=[key])
    elif stands and shown and do in ("edit", "undo"):
        document = soul.revise_document(document, reword={key: stands.advice})
    elif stands and not shown and do in ("accept", "pin", "undo", "unmute"):
        document = soul.revise_document(document, add=[(guidelines.section_of(stands), key, stands.advice)])
    new = with_preferences(document, kept)
    if soul.render_document(new) != past[0].content:
        await guidelines.replace_document(store, user, path, soul.render_document(new), WHY)


REQUESTS = "requests.jsonl"
"""Beside a user's SOUL.md: what the model was told, turn by turn."""


class FilesAfterErasure(NamedTuple):
    """What an erasure did to a user's files."""

    left: str
    """Why SOUL.md was left alone, if it was, and what the database's files keep."""
    backups: int
    """Backups in whose place one of what is left was put."""


async def erase_memories(store: Store, user: str, path: Path | None, *numbers: int) -> FilesAfterErasure | None:
    """Erase memories with the lines that they came from and what was derived of their sessions, all or none of them.

    Args:
        path: the user's SOUL.md; None where it is kept in the store alone.

    Returns:
        What it did to the user's files; None where there are no such memories.
    """
    if (user_id := await store.nights.find_user_id(user)) is None:
        return None
    with suppress(InputError):
        if path:
            await guidelines.adopt_edits(
                store, user, path
            )  # what a person edited is theirs; what it repeats of ours is not
    if not await store.memories.erase_memories(user_id, *numbers):
        return None
    return await _erase_from_files(store, user, user_id, path)


async def erase_piece(store: Store, user: str, name: str, path: Path | None) -> str:
    """Erase a lesson, a preference or a guideline; what it was learned from stays. Returns what is left to do.

    Raises:
        InputError: there is none such.
    """
    user_id, piece = await _find_own(store, user, name)
    with suppress(InputError):
        if path:
            await guidelines.adopt_edits(store, user, path)
    await store.guidance.erase_lesson(user_id, piece.kept.id)
    return (await _erase_from_files(store, user, user_id, path)).left


async def _erase_from_files(store: Store, user: str, user_id: int, path: Path | None) -> FilesAfterErasure:
    """Let SOUL.md say what the store does (or why it was left alone), and no request or backup hold what is gone."""
    backups = 0
    if path:
        path.with_name(REQUESTS).unlink(missing_ok=True)  # any of them may quote it
        backups = await _renew_backups(store, user, path)
    past = await store.guidance.list_revisions(user_id, guidelines.SUBJECT, guidelines.PAST)
    try:
        left = (
            guidelines.put_down(path, past)[1] if path and past and not guidelines.holds_revision(path, past[0]) else ""
        )
    except InputError as error:
        left = str(error)
    return FilesAfterErasure(f"{left} {store.residue}".strip(), backups)


async def _renew_backups(store: Store, user: str, path: Path) -> int:
    """Put one backup of what is left in the place of those that hold what is gone; returns how many there were."""
    house = custody.UserFiles(path.parent, path, path)
    if old := custody.list_backups(house):
        try:
            await custody.backup_user(store, user, house)
        finally:  # also where there is no room for another
            for each in old:
                each.unlink(missing_ok=True)
    return len(old)
