"""Erasure on a person's request, in the store and in SOUL.md (law 8)."""

from contextlib import suppress
from pathlib import Path

from insula.errors import InputError
from insula.memory.privacy import custody
from insula.memory.storage.store import Store
from insula.night import desk, guidelines

REQUESTS = "requests.jsonl"
"""Beside a user's SOUL.md: what the model was told, turn by turn."""


async def erase(store: Store, user: str, path: Path | None, *numbers: int) -> str | None:
    """Erase memories with the lines that they came from and what was derived of their sessions, all or none of them.

    Args:
        store: where they stand.
        user: whose memories they are.
        path: the user's SOUL.md; None where it is kept in the store alone.
        numbers: their ids.

    Returns:
        What is left to do: why SOUL.md was left alone, if it was, and what the database's files keep; None where there
        are no such memories.
    """
    if (user_id := await store.nights.sleeper(user)) is None:
        return None
    with suppress(InputError):
        if path:
            await guidelines.adopt(store, user, path)  # what a person edited is theirs; what it repeats of ours is not
    if not await store.memories.erase(user_id, *numbers):
        return None
    return await _from_files(store, user, user_id, path)


async def unlearn(store: Store, user: str, name: str, path: Path | None) -> str:
    """Erase a lesson, a wish or a guideline; the messages that it was learned from stay. Returns as `erase` does.

    Raises:
        InputError: there is none such.
    """
    one = await desk.piece(store, user, name)
    user_id = await store.nights.sleeper(user)
    assert user_id is not None  # noqa: S101 a piece is somebody's
    with suppress(InputError):
        if path:
            await guidelines.adopt(store, user, path)
    await store.guidance.erase(user_id, one.kept.id)
    return await _from_files(store, user, user_id, path)


async def _from_files(store: Store, user: str, user_id: int, path: Path | None) -> str:
    """Let SOUL.md say what the store does (or why it was left alone), and no request or backup hold what is gone."""
    if path:
        path.with_name(REQUESTS).unlink(missing_ok=True)  # any of them may quote it
        await _renew_backups(store, user, path)
    past = await store.guidance.revisions(user_id, guidelines.SUBJECT, guidelines.PAST)
    try:
        left = guidelines.put_down(path, past)[1] if path and past and not guidelines.holds(path, past[0]) else ""
    except InputError as error:
        left = str(error)
    return f"{left} {store.residue}".strip()


async def _renew_backups(store: Store, user: str, path: Path) -> None:
    """Put one backup of what is left in the place of those that hold what is gone."""
    house = custody.House(path.parent, path, path)
    if old := custody.backups(house):
        try:
            await custody.backup(store, user, house)
        finally:  # also where there is no room for another
            for each in old:
                each.unlink(missing_ok=True)
