"""Standard output and error, whatever their encoding: what it has no character for is said in another way."""

import codecs
import logging
import os
import re
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

_LIKE, _ESCAPED = "insula.like", "insula.escaped"
_ALIKE = dict(zip("✓✗○·•→›×–—−“”’", '+xo-*>>x---""\'', strict=True)) | {"…": "...", "\N{NO-BREAK SPACE}": " "}
"""What our own signs are told by where they are lacking: the marks of `insula doctor` must not become one."""


_PICTURES = 0x2400
"""Where Unicode keeps a picture of each control character."""
_OBEYED_IN_A_PIPE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202d\u202e]")
_OBEYED = re.compile(rf"(?!\x1b\[(?:[\d;]*m|\?25[hl]|\d*A|2K)){_OBEYED_IN_A_PIPE.pattern}")
"""But for colours, and for what draws a line anew."""


class SentenceHandler(logging.Handler):
    """What is said beside a command's work, in one sentence on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        print(f"insula: {record.getMessage()}", file=sys.stderr)


class HarmlessStream:
    """A stream that shows what a terminal would obey, and obeys no word of a file, a name or a model.

    Of its own styles, which a terminal alone is sent, it lets those through that rich makes.

    Args:
        stream: where all is written.
    """

    def __init__(self, stream: TextIOWrapper) -> None:
        self._stream = stream
        self._obeyed = _OBEYED if stream.isatty() else _OBEYED_IN_A_PIPE

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, with a picture or a number in place of each such character."""
        self._stream.write(self._obeyed.sub(_control_picture, text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write some lines."""
        for line in lines:
            self.write(line)


def _control_picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(_PICTURES + code) if code < ord(" ") else f"‹U+{code:04X}›"


def prepare_streams(json: bool) -> None:
    """See to it that nothing that is said ends in an error, because an encoding has no character for it.

    What the settings leave aside is said, too.

    Args:
        json: whether a program reads standard output: there what is lacking is escaped as JSON has it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed: what is said is said to nobody
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 to the end
    logging.getLogger("insula.settings").addHandler(SentenceHandler())
    codecs.register_error(_LIKE, _replace_similar)
    codecs.register_error(_ESCAPED, _escape_json)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_LIKE)
            if not json:  # where all of them are escaped anyway
                setattr(sys, name, HarmlessStream(cast("TextIOWrapper", stream)))
    out = sys.stdout
    if json and isinstance(out, TextIOWrapper):
        whole = codecs.lookup(out.encoding).name.startswith("utf")
        # Latin-1 has an é of its own, which is no JSON: that is UTF-8.
        out.reconfigure(encoding=None if whole else "ascii", errors=_ESCAPED)


def _replace_similar(error: UnicodeError) -> tuple[str | bytes, int]:
    """What looks alike; a byte of a file's name that was no text is itself again."""
    char, after = _unencodable_character(error)
    if "\udc80" <= char <= "\udcff":
        return bytes([ord(char) - 0xDC00]), after
    return _ALIKE.get(char, "?"), after


def _escape_json(error: UnicodeError) -> tuple[str | bytes, int]:
    """The escape of a character in a JSON string, the only place where there is one that is not ASCII."""
    char, after = _unencodable_character(error)
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), after


def _unencodable_character(error: UnicodeError) -> tuple[str, int]:
    """The character that the encoding lacks, and where the text goes on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start], error.start + 1
