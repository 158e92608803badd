"""A lock between processes, on a file: who is killed lets go of it."""

import contextlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # there is none on Windows; `filelock` comes with Insula there
    fcntl = None


@contextmanager
def hold_lock(path: Path, *, wait: bool = False) -> Generator[bool]:
    """Hold the lock at `path` while the block runs; with False where somebody else does.

    Args:
        path: a file for it alone.
        wait: whether to wait until nobody else does.

    Raises:
        OSError: the file cannot be made; only where one waits. Else nobody can hold it, and it counts as held.
    """
    if fcntl is None:
        filelock: Any = import_module("filelock")
        lock = filelock.FileLock(path)
        try:
            lock.acquire(blocking=wait)
        except filelock.Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
        return
    try:
        handle = _take_lock(path, wait)
    except OSError:
        if wait:
            raise
        yield True
        return
    try:
        yield handle is not None
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(handle)


def _take_lock(path: Path, wait: bool) -> int | None:
    """The open file, locked and still that at `path`: who let go has removed it. None where somebody holds it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if not _lock_handle(handle, wait):
            os.close(handle)
            return None
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        os.close(handle)


def _lock_handle(handle: int, wait: bool) -> bool:
    assert fcntl is not None  # noqa: S101 asked before
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
