"""What a person may do with all that is kept of them: take it along, put it aside, bring it back, have it erased.

An erasure that was begun is finished, whatever was killed in between: it is noted before anything is touched, and
whoever opens the memory next goes on with it.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from insula import foreign
from insula.errors import InputError, StoreFull
from insula.files import replace_file
from insula.locks import hold_lock
from insula.memory.privacy import archive, erasure
from insula.memory.privacy.archive import Archive
from insula.memory.storage import nights
from insula.memory.storage.store import Store

SOUL = "SOUL.md"
"""The name of the user's guidelines in an archive."""
SOUL_BYTES = 1024 * 1024
BACKUPS = "backups"
KEPT = 10
"""Backups of one user."""
ERASING = "erasing"
"""The note of an erasure under way: the user's name."""
MOST_BYTES = 2_000_000_000
"""Bytes of an archive: a hundred times what 10^5 memories need."""
LEFT = "Another program is reading the memory, so some of its file is not written anew yet; end it and erase again."


class UserFiles(NamedTuple):
    """Where the files about users lie."""

    home: Path
    soul: Path
    """The SOUL.md of the user; what else is kept of them lies beside it."""
    log: Path

    @property
    def backups(self) -> Path:
        """The folder of the user's backups."""
        return self.soul.parent / BACKUPS


async def export_user(store: Store, user: str, soul: Path | None, target: Path) -> int:
    """Write a user's archive to a file, whole or not at all, with their SOUL.md if any; returns its size.

    Raises:
        NotFound: nothing is stored of the user.
        StoreFull: the file cannot be written.
    """
    files = _read_files(soul)
    return await store.read(lambda connection: _write_lines(target, archive.lines(connection, user, files)))


def _read_files(soul: Path | None) -> dict[str, str]:
    try:
        data = foreign.read(soul, SOUL_BYTES) if soul else b""
    except OSError:
        data = b""
    return {SOUL: data.decode("utf-8", "surrogateescape")} if data else {}


def _write_lines(target: Path, lines: Iterable[str]) -> int:
    try:
        foreign.private(target.parent)
        with replace_file(target) as file:
            file.writelines(line.encode("utf-8", "surrogatepass") for line in lines)
            return file.tell()
    except OSError as error:
        why = foreign.why(error)
        raise StoreFull(
            f"The archive {str(target)!r} cannot be written ({why}); make room, allow writing there, or name another."
        ) from error


def open_archive(path: Path) -> Archive:
    """The archive in a file.

    Raises:
        InputError: it cannot be read, or is none.
    """
    try:
        return archive.read_archive(foreign.read(path, MOST_BYTES))
    except OSError as error:
        raise InputError(f"The archive {str(path)!r} cannot be read ({foreign.why(error)}); name another.") from error


async def import_archive(store: Store, user: str, house: UserFiles, taken: Archive, *, instead: bool = False) -> int:
    """Take an archive in under a user's name, `instead` of what is there; returns how many rows that are.

    Raises:
        InputError: something is stored of the user already, or the archive does not fit.
    """

    def work(connection: sa.Connection) -> int:
        if instead and nights.user_id(connection, user) is not None:
            erasure.erase_user(connection, user)
        return archive.unpack_archive(connection, user, taken, store.now())

    rows = await store.run(work)
    await store.scrub_erased()
    if text := taken.files.get(SOUL):
        _write_lines(house.soul, [text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")])
    return rows


async def backup_user(store: Store, user: str, house: UserFiles) -> Path:
    """Put a copy of all that is known of a user aside, and let the oldest of many go."""
    name = datetime.fromtimestamp(store.now(), UTC).strftime("%Y%m%dT%H%M%S.%f")
    target = house.backups / f"{name}.jsonl"
    await export_user(store, user, house.soul, target)
    for old in list_backups(house)[KEPT:]:
        old.unlink(missing_ok=True)
    return target


def list_backups(house: UserFiles) -> list[Path]:
    """A user's backups, newest first."""
    return sorted(house.backups.glob("*.jsonl"), reverse=True)


async def restore_backup(store: Store, user: str, house: UserFiles, path: Path | None = None) -> int:
    """Bring a backup back, the newest by default, instead of what is stored of the user.

    Raises:
        InputError: there is none, or it cannot be used.
    """
    there = [path] if path else list_backups(house)
    if not there:
        raise InputError(f"There is no backup of {user!r}; `insula user backup` makes one, or name an archive.")
    return await import_archive(store, user, house, open_archive(there[0]), instead=True)


async def erase_user(store: Store, user: str, house: UserFiles) -> str:
    """Erase all that is kept of a user, for good; returns what is left to do, if anything.

    Raises:
        InputError: nothing is stored of the user, or another erasure is under way.
    """
    await store.run(archive.find_user_id, user)
    with hold_lock(house.home / f"{ERASING}.lock") as alone:
        if not alone:
            raise InputError("Another erasure is under way; wait until it is over, and erase then.")
        if find_unfinished_erasure(house.home) not in ("", user):
            raise InputError("An erasure was stopped halfway, and has to be finished first: insula user list.")
        _write_lines(house.home / ERASING, [user])
        return await resume_erasure(store, user, house)


def find_unfinished_erasure(home: Path) -> str:
    """The user whose erasure was begun and not ended; empty where there is none."""
    try:
        return foreign.read(home / ERASING, 4_000).decode("utf-8", "surrogatepass")
    except (OSError, ValueError):
        return ""


async def resume_erasure(store: Store, user: str, house: UserFiles) -> str:
    """Go on with an erasure that was begun; returns what is left to do, if anything."""
    with suppress(InputError):  # that part was done
        await store.run(erasure.erase_user, user)
    shutil.rmtree(house.soul.parent, ignore_errors=True)
    with suppress(OSError):
        os.truncate(house.log, 0)  # what failed may have named what is erased
    if not await store.scrub_erased():
        return LEFT
    (house.home / ERASING).unlink(missing_ok=True)
    return store.residue
