"""Reads files of folders that somebody else may have filled, such as a repository: plain ones, so far, from inside.
And says where programs are looked for, when such a folder is the working one.

A link may lead to `/dev/zero` or to a key of the reader's; a pipe waits for ever; a plain file of bounded size costs
bounded time and memory, whatever is in it. Errors are `OSError`s whose `why` is a clause for a sentence.
"""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

NOT_PLAIN = "it is a device, a pipe or a socket, and no plain file"
LONGEST_PATH = 4096
"""Characters of a path: PATH_MAX of Linux, and more than other systems have."""
_FLAGS = ("O_NONBLOCK", "O_NOFOLLOW", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")


def read(path: "str | Path", most: int, within: "str | Path | None" = None) -> bytes:
    """The bytes of a file.

    Args:
        path: the file, or a link to it.
        most: bytes that it may hold.
        within: a folder that no link may lead out of; none where the folder is the reader's own.

    Raises:
        OSError: there is none, it cannot be read, is no plain file, is larger, or lies elsewhere.
    """
    handle = opened(path, within)
    try:
        parts, left = list[bytes](), most + 1 if os.fstat(handle).st_size <= most else 0
        while left and (part := os.read(handle, left)):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    if not left:
        raise OSError(f"it is larger than {most:,} bytes")
    return b"".join(parts)


def opened(path: "str | Path", within: "str | Path | None" = None) -> int:
    """A handle of a plain file, to be closed by the caller.

    Raises:
        OSError: as `read`.
    """
    target = real_path(os.fspath(path))
    if within is not None and not _is_inside(target, os.path.realpath(within)):
        raise OSError(f"it is a link that leads out of its folder, to {target!r}")
    _check(os.stat(target).st_mode)  # before it is opened: to open a device may do something
    handle = os.open(target, os.O_RDONLY | sum(getattr(os, name, 0) for name in _FLAGS))
    try:
        _check(os.fstat(handle).st_mode)  # it may have been exchanged in between
    except OSError:
        os.close(handle)
        raise
    return handle


def real_path(path: str) -> str:
    """The path without links; empty where no system has such a path: with a NUL, half a character, or too long."""
    try:
        return os.path.realpath(path) if len(path) <= LONGEST_PATH else ""  # a longer one takes its square in time
    except ValueError:
        return ""


def private(folder: "Path") -> None:
    """Make a folder of ours and those above it that are not there, for their owner's eyes alone.

    Raises:
        OSError: it cannot be made.
    """
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)


def search_path() -> str:
    """The folders of PATH in which a program is looked for: the absolute ones alone.

    A relative one, as `.` or an empty one, is the working folder, where a repository can bring a program of any name.
    """
    named = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in named if os.path.isabs(folder))


def _check(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(NOT_PLAIN)


def why(error: OSError) -> str:
    """What is wrong with a file, as a clause."""
    return (error.strerror or str(error)).lower() if error.errno else str(error)


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)
