"""A lock between processes on systems without `flock`: by `filelock`, which comes with Insula there."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


@contextmanager
def held(path: Path, *, wait: bool = False) -> Generator[bool]:
    """Hold the lock at `path` while the block runs; with False where somebody else does.

    Args:
        path: a file for it alone.
        wait: whether to wait until nobody else does.
    """
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
