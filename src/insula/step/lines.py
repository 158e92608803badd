"""Logs of ours: one JSON line per record, appended in one write and never changed."""

import json
import os

from insula.step.trace import VERSION, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]


def append(path: str, records: "Iterable[Record]") -> None:
    """Add records to a log in one write.

    Raises:
        OSError: it cannot be written.
    """
    lines = "".join(json.dumps({"v": VERSION, **record}, separators=(",", ":")) + "\n" for record in records).encode()
    make(os.path.dirname(path))
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if os.lseek(file, 0, os.SEEK_END) and os.lseek(file, -1, os.SEEK_END) >= 0 and os.read(file, 1) != b"\n":
            lines = b"\n" + lines  # somebody was stopped in the middle of a line; it must not swallow this one
        if os.write(file, lines) < len(lines):
            raise OSError(f"{path!r} was cut short")
    finally:
        os.close(file)


def end(path: str, limit: int) -> bytes:
    """The last whole lines of a file; nothing where there is none."""
    try:
        with open(path, "rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - limit)
            file.seek(start)
            data = file.read(limit)
    except OSError:
        return b""
    return data[data.find(b"\n") + 1 :] if start else data
