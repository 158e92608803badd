"""Opening files that anybody may have put there: only plain ones, only so far, and no bomb."""

import io
import lzma
import os
from pathlib import Path
from typing import IO, cast

from insula import foreign

MOST_UNPACKED = 256 << 20
"""Bytes that any packed file may unpack to."""
MOST_RATIO = 200
"""Above that, so many times its own size; transcripts unpack to ten times theirs."""
BOMB = f"it unpacks to more than {MOST_RATIO} times its size"
_BUFFER = 1 << 16


class _Bounded(io.RawIOBase):
    """A stream up to so many bytes; behind them is its end, or an error. It closes what it stands on."""

    def __init__(self, room: int, beyond: str, *streams: IO[bytes]) -> None:
        super().__init__()
        self._stream, self._room, self._beyond = streams[0], room, beyond
        self._streams = streams

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = self._stream.read(min(len(buffer), self._room))
        if not data and not self._room and self._beyond and self._stream.read(1):
            raise OSError(self._beyond)
        self._room -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for stream in self._streams:
            stream.close()
        super().close()


def opened(path: Path) -> IO[bytes]:
    """The file as it is now, unpacked where it is packed by xz; what is written to it meanwhile is not read.

    Raises:
        OSError: it cannot be read, is no plain file, or would unpack without end.
    """
    stream: IO[bytes] = os.fdopen(foreign.opened(path), "rb")
    state = os.fstat(stream.fileno())
    if path.suffix != ".xz":
        return _bounded(state.st_size, "", stream)
    packed = _bounded(state.st_size, "", stream)
    unpacked = cast(IO[bytes], lzma.LZMAFile(packed))  # noqa: SIM115 closed by what stands on it
    return _bounded(max(MOST_UNPACKED, MOST_RATIO * state.st_size), BOMB, unpacked, packed)


def _bounded(room: int, beyond: str, *streams: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Bounded(room, beyond, *streams), _BUFFER))
