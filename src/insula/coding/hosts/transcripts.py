"""What a host's own record of a session tells about tokens. Only numbers are taken from it."""

import os
import re

TAIL = 64 * 1024
"""Bytes at its end that are looked at."""


def tail(path: str) -> str:
    """The end of a transcript; empty where it cannot be read, as a pipe cannot, at which nobody may ever write."""
    from insula.foreign import opened

    try:
        with os.fdopen(opened(path), "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL))
            return file.read(TAIL).decode("utf-8", "replace").replace('": ', '":')
    except (OSError, ValueError):
        return ""


def number(text: str, name: str, start: int) -> int:
    """The first whole number of that name from `start` on; 0 where there is none."""
    found = re.compile(f'"{name}":(\\d{{1,12}})\\b').search(text, start)
    return int(found[1]) if found else 0
