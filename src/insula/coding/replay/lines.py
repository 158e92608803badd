"""The lines of a transcript, one at a time: whatever its size, little of it is in memory."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from insula.coding.replay.events import Row, Skipped
from insula.coding.replay.opening import opened
from insula.value import is_object

LONGEST = 16 << 20
"""Bytes of a line that is read. Decoded text may take four times that, twice: for the line and for what it says."""
HEAD = 1 << 18
"""Bytes at the beginning that tell what a file is, beyond its first line: that may be a whole session."""
TOO_LONG = f"line over {LONGEST >> 20} MB"
CUT = "last line cut short"
NO_JSON = "line that is no JSON"
NO_OBJECT = "line that is no JSON object"
_BOM = b"\xef\xbb\xbf"


def head(path: Path, most: int) -> list[Row]:
    """The objects among its first lines; a line that goes on beyond `HEAD` bytes is none, unless it is the first.

    Raises:
        OSError, EOFError, lzma.LZMAError: the file cannot be read.
    """
    with opened(path) as stream:
        start = stream.readline(LONGEST)
        rest = stream.read(max(0, HEAD - len(start)))
    found = (row for _, row in zip(range(most), rows(io.BytesIO(start + rest)), strict=False))
    return [row for row in found if not isinstance(row, Skipped)]


def rows(stream: IO[bytes], count: Callable[[int], None] = lambda _: None) -> Iterator[Row | Skipped]:
    """Each line as JSON holds it, or why it is none.

    Args:
        stream: the file.
        count: told the bytes of each line.

    Raises:
        OSError, EOFError, lzma.LZMAError: the file cannot be read on.
    """
    first = True
    while line := stream.readline(LONGEST):
        count(len(line))
        if len(line) == LONGEST and not line.endswith(b"\n"):
            _pass_over(stream)
            yield Skipped(TOO_LONG, broken=True)
        elif not line.isspace():
            yield row(line.removeprefix(_BOM) if first else line)
        first = False


def row(line: bytes) -> Row | Skipped:
    """One line as JSON holds it; characters that are no UTF-8 are replaced."""
    try:
        value = json.loads(line)
    except UnicodeDecodeError:
        value = _decoded(line)
    except (ValueError, RecursionError):
        return Skipped(NO_JSON if line.endswith(b"\n") else CUT, broken=True)
    if value is None or not is_object(value):
        return Skipped(NO_OBJECT, broken=True)
    return value


def _decoded(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _pass_over(stream: IO[bytes]) -> None:
    while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass
