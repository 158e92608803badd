"""Reads and writes SOUL.md: private, whole or not at all, and never over a person's change.

A workspace may be a repository that somebody else wrote (law 10). So a file counts as ours only where its digest is
on record. One that is not is a person's edit of ours where it still holds a line of ours and no repository tracks it;
any other is foreign: it is shown to a person, told to nobody and overwritten by nobody, until its digest is accepted.
"""

import contextlib
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from insula import folders, foreign
from insula.errors import InputError
from insula.files import replace_file
from insula.night.soul.document import MOST_CHARS, Document, file_digest, parse_document, render_document

FILE = "SOUL.md"
MOST_BYTES = 4 * MOST_CHARS
_MOST_INDEX = 64 * 1024 * 1024
"""Bytes of a repository's index that are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulFile:
    """What stands in the place of SOUL.md."""

    document: Document
    digest: str = ""
    """Of the file; empty where there is none."""
    edited: bool = False
    """A person changed what we had written; the change becomes a revision and is said."""
    foreign: bool = False
    """It is not ours, and nobody accepted it: it must not be told, nor written over."""

    @property
    def usable(self) -> Document:
        """What may be told and built upon: nothing of a foreign file."""
        return Document() if self.foreign else self.document


def read_soul(path: Path, known_digests: Collection[str]) -> SoulFile:
    """Read the file, and say whose it is.

    Args:
        known_digests: digests of what was written to this place, and of what a person accepted for it.

    Raises:
        InputError: it is not a file, not a text, too large, cannot be read, or a link that leads out of its folder.
    """
    data = _read_bytes(path)
    if data is None:
        return SoulFile(document=Document())
    document = parse_document(_decode_text(data, path))
    digest = file_digest(data)
    if digest in known_digests:
        return SoulFile(document=document, digest=digest)
    ours = bool(known_digests) and (bool(document.derived) or _at_home(path)) and not _is_tracked(path)
    return SoulFile(document=document, digest=digest, edited=ours, foreign=not ours)


def write_soul(path: Path, document: Document, seen: str) -> str | None:
    """Put a document in the place of the file that was read, if that is still the same.

    Args:
        seen: the digest that `read_soul` found; empty where there was no file.

    Returns:
        The digest to keep on record; None where somebody changed the file since it was read: it stays as it is, and
        the night begins anew from it. A change within the microseconds between the last look and the replacement is
        lost to the file, as with any editor.

    Raises:
        InputError: it cannot be written, or read; then it is as it was.
    """
    data = render_document(document).encode("utf-8", "surrogateescape")
    new = file_digest(data)
    if _digest_of(path) != seen:
        return None
    if new == seen:
        return new
    target = _resolve_link(path)
    try:
        foreign.private(target.parent)
        with replace_file(target, _writable_mode(target)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # which takes long: the last look is behind it
            if _digest_of(path) != seen:
                raise _Changed
    except _Changed:
        return None
    except OSError as error:
        why = foreign.why(error)
        raise InputError(
            f"{str(path)!r} cannot be written ({why}) and is as it was; make room or allow it, and try again."
        ) from error
    return new


class _Changed(Exception):
    """Somebody changed the file since it was read."""


def _digest_of(path: Path) -> str:
    data = _read_bytes(path)
    return "" if data is None else file_digest(data)


def _resolve_link(path: Path) -> Path:
    """The file behind the path; a link may lead elsewhere in its folder, and nowhere else."""
    target, folder = Path(os.path.realpath(path)), Path(os.path.realpath(path.parent))
    if not target.is_relative_to(folder):
        raise InputError(
            f"{str(path)!r} is a link that leads out of its folder, to {str(target)!r}; put the file itself there."
        )
    return target


def _read_bytes(path: Path) -> bytes | None:
    """The bytes of the file; None where there is none."""
    _resolve_link(path)
    try:
        return foreign.read(path, MOST_BYTES, path.parent)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = foreign.why(error)
        raise InputError(f"{str(path)!r} cannot be read ({why}); put a text file there.") from error


def _decode_text(data: bytes, path: Path) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(path)!r} is not UTF-8 text ({error.reason} at byte {error.start}); save it as such."
        ) from (None)
    if "\0" in text:
        raise InputError(f"{str(path)!r} holds a zero byte and is no text; put a text in its place.")
    return text


def _writable_mode(target: Path) -> int:
    """The mode to write with; a person who took the right to write away meant it, also where we are root."""
    with contextlib.suppress(FileNotFoundError):
        mode = stat.S_IMODE(target.stat().st_mode)
        if not mode & 0o222:
            raise PermissionError(13, "it is read-only")
        return mode
    return 0o600


def _at_home(path: Path) -> bool:
    """Whether the file lies where only its user and Insula write: there, even the last line of ours may be deleted."""
    return _resolve_link(path).is_relative_to(os.path.realpath(folders.home()))


def _is_tracked(path: Path) -> bool:
    """Whether a repository seems to track the file, so that others may change it: its name stands in the index."""
    folder = Path(os.path.realpath(path.parent))
    for root in (folder, *folder.parents):
        if (root / ".git").exists():
            name = (folder.relative_to(root) / path.name).as_posix()
            return _in_index(root / ".git", name.encode("utf-8", "surrogateescape"))
    return False


def _in_index(git: Path, name: bytes) -> bool:
    """In doubt (a worktree, a file that cannot be read), it is tracked."""
    try:
        return name + b"\0" in foreign.read(git / "index", _MOST_INDEX)
    except FileNotFoundError:
        return False
    except OSError:
        return True
