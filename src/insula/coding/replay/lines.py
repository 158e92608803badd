"""The lines of a transcript, which anybody may have put there: of plain files alone, one at a time, each once.

Whatever the size of a file, little of it is in memory.
"""

import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from insula import foreign
from insula.coding.replay.readers import Row, Skipped
from insula.value import is_object

LONGEST = 16 << 20
"""Bytes of a line that is read. Decoded text may take four times that, twice: for the line and for what it says."""
HEAD = 1 << 18
"""Bytes at the beginning that tell what a file is, beyond its first line: that may be a whole session."""
TOO_LONG = f"line over {LONGEST >> 20} MB"
CUT = "last line cut short"
BREAKS_OFF = "document that breaks off"
MESSAGES = "messages"
"""The list in a document whose parts are taken for lines."""
NO_JSON = "line that is no JSON"
NO_OBJECT = "line that is no JSON object"
_SPACE = re.compile(r"[ \t\r\n]*")
_BOM = b"\xef\xbb\xbf"


def read_head(path: Path, most: int) -> list[Row]:
    """The objects among its first lines; a line that goes on beyond `HEAD` bytes is none, unless it is the first.

    Raises:
        OSError: the file cannot be read.
    """
    with open_transcript(path) as stream:
        start = stream.readline(LONGEST)
        rest = stream.read(max(0, HEAD - len(start)))
    rows = (row for _, row in zip(range(most), read_rows(io.BytesIO(start + rest)), strict=False))
    return [row for row in rows if not isinstance(row, Skipped)]


def read_rows(stream: IO[bytes], count: Callable[[int], None] = lambda _: None) -> Iterator[Row | Skipped]:
    """Each line as JSON holds it, or why it is none.

    Raises:
        OSError: the file cannot be read on.
    """
    first = True
    while line := stream.readline(LONGEST):
        count(len(line))
        if len(line) == LONGEST and not line.endswith(b"\n"):
            _skip_line(stream)
            yield Skipped(TOO_LONG, broken=True)
        elif not line.isspace():
            yield parse_row(line.removeprefix(_BOM) if first else line)
        first = False


def parse_row(line: bytes) -> Row | Skipped:
    """One line as JSON holds it; characters that are no UTF-8 are replaced."""
    try:
        value: object = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Skipped(NO_JSON if line.endswith(b"\n") else CUT, broken=True)
    return value if is_object(value) else Skipped(NO_OBJECT, broken=True)


def read_document_head(path: Path) -> Row | None:
    """What stands before the messages in a session that is one JSON document; None where it is none.

    Raises:
        OSError: the file cannot be read.
    """
    with open_transcript(path) as stream:
        head = next(_split_document(stream.read(HEAD)), None)
    return None if isinstance(head, Skipped) else head


def read_document(stream: IO[bytes], count: Callable[[int], None] = lambda _: None) -> Iterator[Row | Skipped]:
    """A session in one JSON document as lines: what stands before its messages, then each of them, as far as they go.

    Raises:
        OSError: the file cannot be read.
    """
    data = stream.read(LONGEST)
    count(len(data))
    yield from _split_document(data)


def _split_document(data: bytes) -> Iterator[Row | Skipped]:
    """The head and the messages of a document; where it breaks off, that is the last."""
    text, decoder = data.decode("utf-8", "replace"), json.JSONDecoder()
    try:
        head, at = _decode_head(text, decoder)
        yield head
        sign, at = _take_sign(text, at, "[")
        while sign != "]" and not text.startswith("]", at):
            message, at = decoder.raw_decode(text, at)
            if is_object(message):
                yield message
            sign, at = _take_sign(text, at, ",]")
    except (ValueError, RecursionError):
        yield Skipped(BREAKS_OFF, broken=True)


def _decode_head(text: str, decoder: json.JSONDecoder) -> tuple[Row, int]:
    """What a document holds before its messages, and where their list begins."""
    head, (_, at) = Row(), _take_sign(text, max(0, text.find("{")), "{")
    while True:
        name, at = decoder.raw_decode(text, at)
        _, at = _take_sign(text, at, ":")
        if name == MESSAGES:
            return {**head, MESSAGES: None}, at
        head[str(name)], at = decoder.raw_decode(text, at)
        _, at = _take_sign(text, at, ",")


def _take_sign(text: str, at: int, signs: str) -> tuple[str, int]:
    """One of these signs of JSON, and where what follows it begins.

    Raises:
        ValueError: something else stands there.
    """
    at = _skip_space(text, at)
    if at == len(text) or text[at] not in signs:
        raise ValueError
    return text[at], _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    return cast(re.Match[str], _SPACE.match(text, at)).end()


def _skip_line(stream: IO[bytes]) -> None:
    while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass


# Opening.


def open_transcript(path: Path) -> IO[bytes]:
    """The file, opened to be read.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    return os.fdopen(foreign.opened(path), "rb")
