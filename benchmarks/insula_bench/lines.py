"""A file of JSON lines that outlives a process that is killed: what was cut off is left out, what stands is kept."""

import json
import lzma
from dataclasses import asdict
from pathlib import Path
from typing import Any

from insula.errors import InputError
from insula.llm.client import Generation
from insula.types import Usage

Record = dict[str, Any]


class Lines:
    """Records that are written one line at a time.

    Attributes:
        records: what the file held when it was opened, and what was added since.
        torn: lines that could not be read.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_bytes() if path.exists() else b""
            self._file = path.open("ab")
            if text and not text.endswith(b"\n"):
                self._file.write(b"\n")  # else the next line would be lost with the one that was cut off
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be written ({error.strerror}); name another folder.") from error
        self.records, self.torn = _read(text)

    def add(self, record: Record) -> None:
        """Add a record; when this returns, it survives the process."""
        # A half of a surrogate pair, which a model may send, becomes its escape in JSON.
        self._file.write(json.dumps(record, ensure_ascii=False).encode(errors="backslashreplace") + b"\n")
        self._file.flush()
        self.records.append(record)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def kept(path: Path) -> tuple[list[Record], int]:
    """The records of a file that is only read, or of the same file packed (`.xz`), and how many could not be read.

    Raises:
        InputError: there is neither.
    """
    packed = path.with_name(f"{path.name}.xz")
    try:
        return _read(path.read_bytes() if path.exists() else lzma.decompress(packed.read_bytes()))
    except (OSError, lzma.LZMAError) as error:
        raise InputError(
            f"There are no results to be read in {str(path.parent)!r} ({error}); name their folder."
        ) from error


def _read(text: bytes) -> tuple[list[Record], int]:
    records: list[Record] = []
    lines = [line for line in text.split(b"\n") if line.strip()]
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)  # pyright: ignore[reportUnknownArgumentType]
    return records, len(lines) - len(records)


class MemoryPool:
    """Replies for as long as the process lives.

    Attributes:
        replies: what is kept, by key.
        hits: how often a reply was found.
    """

    def __init__(self) -> None:
        self.replies: dict[str, Generation] = {}
        self.hits = 0

    def get(self, key: str) -> Generation | None:
        """The reply under a key, if there is one."""
        found = self.replies.get(key)
        self.hits += found is not None
        return found

    def put(self, key: str, generation: Generation) -> None:
        """Keep a reply."""
        self.replies[key] = generation


def write_reply(generation: Generation) -> Record:
    """A reply as it can be written as JSON."""
    fields = {name: getattr(generation, name) for name in ("text", "thinking", "model", "truncated", "logprobs")}
    return {**fields, "usage": asdict(generation.usage)}


def read_reply(record: Record) -> Generation:
    """The reply that was written as JSON."""
    logprobs = record["logprobs"]
    return Generation(
        text=record["text"],
        value=None,
        thinking=record["thinking"],
        usage=Usage(**record["usage"]),
        logprobs=None if logprobs is None else tuple((token, value) for token, value in logprobs),
        first_token_seconds=None,
        model=record["model"],
        truncated=record["truncated"],
    )


class FilePool:
    """Replies of models, kept between runs in a file."""

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)
        self._places = {record["key"]: number for number, record in enumerate(self._lines.records)}

    def get(self, key: str) -> Generation | None:
        """The reply under a key, if there is one."""
        place = self._places.get(key)
        return None if place is None else read_reply(self._lines.records[place])

    def put(self, key: str, generation: Generation) -> None:
        """Keep a reply."""
        self._lines.add({"key": key, **write_reply(generation)})
        self._places[key] = len(self._lines.records) - 1

    def close(self) -> None:
        """Close the file."""
        self._lines.close()
