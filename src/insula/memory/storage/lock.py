"""A lock between processes, on a file: who is killed lets go of it."""

import contextlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from insula import windows

try:
    import fcntl
except ImportError:
    fcntl = None


@contextmanager
def hold_lock(path: Path) -> Generator[bool]:
    """Hold the lock at `path` while the block runs; with False where somebody else does."""
    if fcntl is None:
        with windows.held(path) as is_ours:
            yield is_ours
        return
    handle = _take_lock(path)
    try:
        yield handle is not None
    finally:
        if handle:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(handle)


def _take_lock(path: Path) -> int | None:
    """The open file, locked and still the one at `path`: whoever let go has removed it. 0 where none can be made."""
    while fcntl is not None:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return 0
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        except FileNotFoundError:
            pass
        except OSError:
            os.close(handle)
            return None
        os.close(handle)
    return 0
