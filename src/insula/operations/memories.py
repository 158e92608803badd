"""What may be done with what is remembered of a user: list, get, search, change, delete, forget."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from insula.errors import InputError, NotFound
from insula.memory.privacy import custody, erasure
from insula.memory.privacy.amendment import Do
from insula.memory.storage import views
from insula.memory.storage.filters import Filter
from insula.memory.storage.rows import Change
from insula.memory.storage.store import Store
from insula.night import curation
from insula.redaction import redact
from insula.types import Memory

PAGE = 50
"""Memories that are listed at a time, unless somebody wishes otherwise."""
MOST = views.MOST
"""Memories that may be listed at a time."""
MISSING = "There is no memory {number} of {user!r}; the list of memories says which there are."
GONE = "Memory {number} of {user!r} is erased already; the list of memories says which there are."


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """A page of memories, newest first."""

    memories: tuple[Memory, ...]
    next: int | None
    """What to give as `before` for the page behind this one; None on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What a deletion took, and what it left."""

    memories: tuple[int, ...]
    """Ids of what is gone for good."""
    left: str = ""
    """What still holds something of it and why, SOUL.md for example."""
    others: tuple[int, ...] = ()
    """Ids of memories in which the user said the same words elsewhere: they stand."""
    backups: int = 0
    """Backups in whose place one of what is left was put."""


def check_limit(limit: int) -> None:
    """Whether so many may be asked for at once.

    Raises:
        InputError: they may not.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"The limit {limit!r} cannot be used; give a number from 1 to {MOST}.")


async def list_memories(
    store: Store, user: str, wanted: Filter | None = None, *, before: int | None = None, limit: int = PAGE
) -> MemoryPage:
    """A page of what is remembered of a user, newest first; empty where nothing is known of them.

    Raises:
        InputError: the limit cannot be used.
    """
    check_limit(limit)
    memories = await store.read(views.list_memories, user, wanted or Filter(), before, limit + 1)
    return MemoryPage(memories=tuple(memories[:limit]), next=memories[limit - 1].id if len(memories) > limit else None)


async def count_memories(store: Store, user: str, wanted: Filter | None = None) -> int:
    """How many memories of a user there are."""
    return await store.read(views.count_memories, user, wanted or Filter())


async def get_memory(store: Store, user: str, number: int) -> Memory:
    """One memory of a user, retired ones too; of one that was erased there are no words.

    Raises:
        NotFound: there is none such.
    """
    memories = await store.read(views.find_memories, user, [number])
    if number not in memories:
        raise NotFound(MISSING.format(number=number, user=user))
    return memories[number]


async def find_unerased(store: Store, user: str, number: int) -> Memory:
    """One memory of a user that can be erased.

    Raises:
        NotFound: there is none such, or it was erased before.
    """
    memory = await get_memory(store, user, number)
    if memory.state == "retired" and not memory.content:
        raise NotFound(GONE.format(number=number, user=user))
    return memory


async def read_history(store: Store, user: str, number: int) -> tuple[Change, ...]:
    """What became of a memory, oldest first.

    Raises:
        NotFound: there is none such.
    """
    await get_memory(store, user, number)
    return tuple(await store.read(views.read_history, user, number))


async def change_memory(store: Store, user: str, number: int, do: Do, text: str = "") -> Memory:
    """Correct, pin or mute a memory, or undo what was decided on it; what it was before is kept.

    Raises:
        NotFound: there is none such.
        InputError: that cannot be done with it, with the reason.
    """
    user_id = await store.nights.find_user_id(user)
    if user_id is None or not await store.memories.amend_memory(user_id, number, do, redact(text)):
        raise NotFound(MISSING.format(number=number, user=user))
    return await get_memory(store, user, number)


async def delete_memory(store: Store, user: str, number: int, soul: Path | None = None) -> Deleted:
    """Erase a memory for good, with the line that it came from and what was derived of its session.

    Args:
        soul: the user's SOUL.md; None where it is kept in the store alone.

    Raises:
        NotFound: there is none such, or it was erased before.
    """
    await find_unerased(store, user, number)
    user_id = await store.nights.find_user_id(user)
    others = await store.read(erasure.others_holding, user_id, number) if user_id is not None else []
    files = await curation.erase_memories(store, user, soul, number)
    if files is None:
        raise NotFound(MISSING.format(number=number, user=user))
    kept = tuple(memory.id for memory in others)
    return Deleted(memories=(number,), left=files.left, others=kept, backups=files.backups)


async def forget_memories(store: Store, user: str, wanted: Filter, soul: Path | None = None) -> Deleted:
    """Erase all of a user's memories that a filter wants, for good, as `delete_memory` does each of them."""
    numbers = await store.read(views.list_matching_ids, user, wanted)
    if not numbers or not (files := await curation.erase_memories(store, user, soul, *numbers)):
        return Deleted(memories=tuple(numbers))
    return Deleted(memories=tuple(numbers), left=files.left, backups=files.backups)


async def forget_user(store: Store, user: str, soul: Path | None = None) -> Deleted:
    """Erase all that is kept of a user, for good: memories, conversations, what was learned, SOUL.md and backups.

    Raises:
        NotFound: nothing is stored of the user.
    """
    numbers = await store.read(views.list_matching_ids, user, Filter())
    await store.run(erasure.erase_user, user)
    if soul is not None:
        for file in (soul, soul.with_name(curation.REQUESTS)):
            file.unlink(missing_ok=True)
        shutil.rmtree(soul.with_name(custody.BACKUPS), ignore_errors=True)
    return Deleted(memories=tuple(numbers), left=store.residue if await store.scrub_erased() else custody.LEFT)
