"""Files of a person and of ours, replaced whole or not at all."""

import contextlib
import os
import stat
from collections.abc import Generator
from pathlib import Path

from insula import files, foreign
from insula.errors import SettingsError
from insula.locks import hold_lock

LOCK = "lock"
MOST_BYTES = 1_000_000
"""Bytes of a settings file: a thousand times what one has."""


def make_private_folder(path: Path) -> Path:
    """The folder, made for nobody else's eyes where it is missing.

    Raises:
        SettingsError: it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The folder {str(path)!r} cannot be made ({foreign.why(error)}); make its parent writable, or set HOME."
        ) from error
    return path


def read_file(path: Path, within: Path | None = None) -> bytes | None:
    """The bytes of a file; None where there is none.

    Args:
        within: the folder of the project that brought it; none for a file of the user's own.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        return foreign.read(path, MOST_BYTES, within)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{str(path)!r} cannot be read ({foreign.why(error)}); mend it and try again.") from error


def replace_file(path: Path, data: bytes, mode: int | None = None) -> None:
    """Put `data` in the place of a file in one step; a link stays a link, and a file keeps its mode and owner.

    Raises:
        SettingsError: it cannot be written; then it is as it was.
    """
    target = Path(os.path.realpath(path))
    try:
        old = _check_writable(target)
        with files.replace_file(target, stat.S_IMODE(old.st_mode) if old and mode is None else mode or 0o600) as file:
            file.write(data)
            if old and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(OSError):  # only root can; otherwise it becomes ours, as with any editor
                    os.chown(file.fileno(), old.st_uid, old.st_gid)
    except OSError as error:
        why = foreign.why(error)
        raise SettingsError(
            f"{str(path)!r} cannot be written ({why}) and is as it was; make room or allow it, and try again."
        ) from error


def _check_writable(target: Path) -> os.stat_result | None:
    """What is known of the file that is replaced.

    Replacing asks the folder alone, and root may do all; a person who took the right to write away meant it.
    """
    if not target.parent.stat().st_mode & 0o222:
        raise PermissionError(13, f"the folder {str(target.parent)!r} is read-only")
    with contextlib.suppress(FileNotFoundError):
        old = target.stat()
        if not old.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise PermissionError(13, "it is read-only")
        return old
    return None


@contextlib.contextmanager
def lock_folder(folder: Path) -> Generator[None]:
    """Wait until no other process of ours changes what the folder holds.

    Raises:
        SettingsError: nothing may be written in the folder.
    """
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(hold_lock(make_private_folder(folder) / LOCK, wait=True))
                break
            except FileNotFoundError:  # the folder went away at this very moment
                continue
            except OSError as error:
                raise SettingsError(
                    f"Nothing can be written in {str(folder)!r} ({foreign.why(error)}); allow it, or point INSULA_HOME "
                    "elsewhere, and try again."
                ) from error
        yield
