"""Standard output and error, whatever their encoding: what it has no character for is said in another way."""

import codecs
import logging
import os
import sys
from io import TextIOWrapper
from pathlib import Path

_LIKE, _ESCAPED = "insula.like", "insula.escaped"
_ALIKE = dict(zip("✓✗○·•→›×–—−“”’", '+xo-*>>x---""\'', strict=True)) | {"…": "...", "\N{NO-BREAK SPACE}": " "}
"""What our own signs are told by where they are lacking: the marks of `insula doctor` must not become one."""


class Said(logging.Handler):
    """What is said beside a command's work, in one sentence on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        print(f"insula: {record.getMessage()}", file=sys.stderr)


def prepare(json: bool) -> None:
    """See to it that nothing that is said ends in an error, because an encoding has no character for it.

    What the settings leave aside is said, too.

    Args:
        json: whether a program reads standard output: there what is lacking is escaped as JSON has it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed: what is said is said to nobody
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 to the end
    logging.getLogger("insula.settings").addHandler(Said())
    codecs.register_error(_LIKE, _like)
    codecs.register_error(_ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_LIKE)
    out = sys.stdout
    if json and isinstance(out, TextIOWrapper):
        whole = codecs.lookup(out.encoding).name.startswith("utf")
        # Latin-1 has an é of its own, which is no JSON: that is UTF-8.
        out.reconfigure(encoding=None if whole else "ascii", errors=_ESCAPED)


def _like(error: UnicodeError) -> tuple[str | bytes, int]:
    """What looks alike; a byte of a file's name that was no text is itself again."""
    char, after = _lacking(error)
    if "\udc80" <= char <= "\udcff":
        return bytes([ord(char) - 0xDC00]), after
    return _ALIKE.get(char, "?"), after


def _escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """The escape of a character in a JSON string, the only place where there is one that is not ASCII."""
    char, after = _lacking(error)
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), after


def _lacking(error: UnicodeError) -> tuple[str, int]:
    """The character that the encoding lacks, and where the text goes on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start], error.start + 1
