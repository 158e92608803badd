"""`insula` over streams of bytes, whatever their encoding, and at a terminal at which a person types."""

import importlib.metadata
import io
import os
import pty
import select
import sys
import time
from typing import NamedTuple

import pytest

import mortal


class Told(NamedTuple):
    """What a command came to: its status, and what it said in bytes."""

    status: int
    out: bytes
    err: bytes


def run_over_bytes(*words: str, stdin: bytes = b"", encoding: str = "utf-8") -> Told:
    """Run the command `insula` in this process, by the entry point that pip installs."""
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="insula")
    files = [io.BytesIO(stdin), io.BytesIO(), io.BytesIO()]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        errors = "surrogateescape" if encoding != "utf-8" else "strict"
        streams = [io.TextIOWrapper(file, encoding, errors, write_through=True) for file in files]
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "argv", ["insula", *words])
        entry.load()()
    return Told(int(ended.value.code or 0), files[1].getvalue(), files[2].getvalue())


class Terminal:
    """A person at a terminal: what they type, and what they see."""

    def __init__(self, *words: str) -> None:
        self.file, self.other = pty.openpty()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TERM", "dumb")
            patch.setenv("COLUMNS", "100")
            self.process = mortal.command(words, [os.ttyname(self.other)] * 3)
        self.seen = ""

    def types(self, text: str) -> None:
        """Press keys."""
        os.write(self.file, text.encode())

    def sees(self, text: str, seconds: float = 120.0) -> bool:
        """Whether some text appears, after whatever was looked for before."""
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                self.seen += os.read(self.file, 65536).decode(errors="replace")
            elif not self.process.is_alive():
                break
        _, found, self.seen = self.seen.partition(text)
        return bool(found)

    def leaves(self, key: str = "") -> int | None:
        """The exit code, or None where the command had to be killed.

        Args:
            key: typed again and again: what comes before the terminal is set for a line is lost.
        """
        end = time.monotonic() + 120
        while self.process.is_alive() and time.monotonic() < end:
            self.types(key)
            self.sees("nothing in particular", 0.1)
        code = self.process.exitcode
        self.process.kill()
        self.process.join()
        self.process.close()
        os.close(self.file)
        os.close(self.other)
        return code
