"""The trace of a session: what happened, one JSON line per event, appended and never rewritten.

Beside it stands a checkpoint: what the trace up to some byte adds up to. A hook appends its event, then, alone, takes
the events since the checkpoint and moves it on. Hooks that run at the same time lose nothing, and the cost of a call
does not grow with the session.

    ~/.insula/sessions/<session>/trace.jsonl      the main agent
    ~/.insula/sessions/<session>/checkpoint.json
    ~/.insula/sessions/<session>/agents/<agent>/  the same two for each subagent
"""

import os
import time

from insula.value import dump_json, is_object, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Record = dict[str, Any]

VERSION = 1
FILE = "trace.jsonl"
CHECKPOINT = "checkpoint.json"
SETTINGS = "hook.json"
TAIL = 64 * 1024
"""Bytes that are read again where the checkpoint is lost: more than the window needs."""
_PATIENCE = 0.1
"""Seconds to wait for a hook that runs at the same time; then this one says nothing, and the next one catches up."""


def read_settings(home: str) -> "Record":
    """What `insula install`, `on` and `off` wrote; off where that cannot be read: it may have said so."""
    try:
        with open(f"{home}/{SETTINGS}", "rb") as file:
            value = load_json(file.read())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        return {"off": True}
    return value if is_object(value) else {"off": True}


def make_key(identifier: str) -> str:
    """A file name for an identifier that somebody else chose."""
    if len(identifier) <= 64 and identifier.replace("-", "").replace("_", "").isalnum() and identifier.isascii():
        return identifier
    from insula.coding.step.digests import hash_text

    return "x" + hash_text(identifier, 16)


def find_project_root(cwd: str) -> str:
    """The root of the project that a folder belongs to: that of its repository, else itself, by its real path."""
    from insula.foreign import real_path

    path = here = real_path(cwd)
    while path != os.path.dirname(path):
        if os.path.exists(f"{path}/.git"):
            return path
        path = os.path.dirname(path)
    return here


def hash_project(cwd: str) -> str:
    """16 hex digits that stand for the project a folder belongs to; empty where there is no folder."""
    root = find_project_root(cwd) if cwd else ""
    if not root:
        return ""
    from insula.coding.step.digests import hash_text

    return hash_text(root, 16)


def get_folder(home: str, session: str, agent: str = "") -> str:
    """The folder of an agent in a session; its own for each subagent."""
    path = os.path.join(home, "sessions", make_key(session))
    return os.path.join(path, "agents", make_key(agent)) if agent else path


def append_records(folder: str, *records: "Record") -> None:
    """Add records to the trace in one write; makes the folder where there is none.

    Raises:
        OSError: it cannot be written.
    """
    append_lines(f"{folder}/{FILE}", records)


def make_folder(folder: str) -> None:
    """Make a folder that its owner alone can enter, and likewise those above it, which os.makedirs leaves open.

    Raises:
        OSError: it cannot be made.
    """
    above = os.path.dirname(folder)
    if above not in {"", folder} and not os.path.isdir(above):
        make_folder(above)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:  # of a hook at the same time
        return


def read_trace(folder: str, start: int = 0, limit: int = 1 << 24) -> "tuple[list[Record], int]":
    """The whole records from byte `start` on, and the byte after the last of them.

    Lines that are no record (cut short, of another version) are passed over.
    """
    with open(f"{folder}/{FILE}", "rb") as file:
        file.seek(start)
        data = file.read(limit)
    end = data.rfind(b"\n") + 1
    return list(parse_records(data[:end])), start + end


def read_tail(folder: str, limit: int = TAIL) -> "list[Record]":
    """The whole records in the last bytes of the trace; none where there is no trace."""
    return list(parse_records(read_end(f"{folder}/{FILE}", limit)))


def dump_records(records: "Iterable[Record]") -> bytes:
    """The lines of a log that hold some records."""
    return "".join(dump_json({"v": VERSION, **record}) + "\n" for record in records).encode()


def parse_records(data: bytes) -> "Iterator[Record]":
    """The records in the lines of a log of ours; a line that is none is passed over."""
    for line in data.splitlines():
        try:
            record: Record = load_json(line)
            if record["v"] == VERSION:
                yield record
        except (ValueError, TypeError, KeyError, RecursionError):
            continue


def append_lines(path: str, records: "Iterable[Record]") -> None:
    """Add records to a log in one write; makes its folder where there is none.

    Raises:
        OSError: it cannot be written.
    """
    lines = dump_records(records)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        file = os.open(path, flags, 0o600)
    try:
        if os.lseek(file, 0, os.SEEK_END) and os.lseek(file, -1, os.SEEK_END) >= 0 and os.read(file, 1) != b"\n":
            lines = b"\n" + lines  # somebody was stopped in the middle of a line; it must not swallow this one
        if os.write(file, lines) < len(lines):
            raise OSError(f"{path!r} was cut short")
    finally:
        os.close(file)


def read_end(path: str, limit: int) -> bytes:
    """The last whole lines of a file; nothing where there is none."""
    try:
        with open(path, "rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - limit)
            file.seek(start)
            data = file.read(limit)
    except OSError:
        return b""
    return data[data.find(b"\n") + 1 :] if start else data


class Checkpoint:
    """What a trace adds up to so far, held alone while in use.

    Use it as a context manager; `held` says whether it is ours.

    Args:
        load: makes the value of what was kept; raises where it is none.

    Attributes:
        value: what was kept at the last `keep`; None where nothing usable was.
        fresh: the records since then; where it is lost, those of the last 64 KB.
    """

    def __init__(self, folder: str, load: "Callable[[Record], Any]") -> None:
        self.value: Any = None
        self.fresh: list[Record] = []
        self.held = False
        self._folder = folder
        self._made = load
        self._end = 0
        self._file = -1

    def __enter__(self) -> "Checkpoint":
        self._file = os.open(f"{self._folder}/{FILE}", os.O_RDONLY)
        self.held = lock_file(self._file, _PATIENCE)
        if self.held:
            self._load_value()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def _load_value(self) -> None:
        size = os.fstat(self._file).st_size
        start = max(0, size - TAIL)
        try:
            with open(f"{self._folder}/{CHECKPOINT}", "rb") as file:
                kept = load_json(file.read())
            if kept["v"] == VERSION and 0 <= kept["end"] <= size:
                self.value, start = self._made(kept["value"]), kept["end"]
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
        self.fresh, self._end = read_trace(self._folder, start)

    def keep_value(self, value: "Record") -> None:
        """Put `value` in place of the old one, at the end of the records that were read."""
        kept = {"v": VERSION, "end": self._end, "value": value}
        replace_file(f"{self._folder}/{CHECKPOINT}", dump_json(kept).encode())


def replace_file(path: str, data: bytes) -> None:
    """Put `data` in the place of a file in one step, for its owner's eyes alone.

    Raises:
        OSError: it cannot be written.
    """
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
    os.replace(temporary, path)


def lock_file(file: int, patience: float = 0.0) -> bool:
    """Whether an open file is ours alone now, or within some seconds; until it is closed, or we are killed."""
    try:
        import fcntl
    except ImportError:  # Windows: best effort, without a lock
        return True
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        else:
            return True
