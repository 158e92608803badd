"""What is remembered of each settings file that our hooks were put into, so that it can be as before.

And the command line that was put there: Insula runs no other. What stands in the settings may be from anybody.
"""

import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import NewType

from pydantic import BaseModel, ValidationError

from insula.coding.hosts import files, places
from insula.errors import SettingsError

FILE = "installed.json"

Installed = NewType("Installed", str)
"""A command line that Insula itself put into a settings file, as its record has it. Only `list_installed` makes one."""


class InstallRecord(BaseModel, frozen=True):
    """What is remembered of a settings file, or of scripts, by the first of them."""

    host: str = ""
    command: str = ""
    folders: list[str] = []
    """Those that were made for it, the innermost first."""
    written: dict[str, str] = {}
    """Name of a file -> the digest of what was written there last."""
    backups: dict[str, str] = {}
    """Name of a file -> that of the copy of what stood there before us; empty where nothing did."""

    def is_as_written(self, path: Path, data: bytes | None) -> bool:
        """Whether a file is to the byte as it was written last."""
        return data is not None and self.written.get(path.name) == hash_file(data)


class _Records(BaseModel):
    v: int = 1
    files: dict[str, InstallRecord] = {}


def hash_file(data: bytes) -> str:
    """What stands for the bytes of a file on record."""
    return sha256(data).hexdigest()


def list_installed(house: Path, host_id: str) -> frozenset[Installed]:
    """The command lines that were put into the settings of a host; none where the record is not to be trusted."""
    lines = (record.command for record in read_records(house).values() if record.host == host_id)
    return frozenset(Installed(line) for line in lines if _is_whole(line, host_id))


def _is_whole(line: str, host_id: str) -> bool:
    """Whether a line is what `insula install` writes, to the letter: a shell makes nothing else of it."""
    command = places.read_command(line)
    return command is not None and command.host == host_id and line == str(command)


def explain_distrust(house: Path) -> str:
    """Why the record is not taken for the user's own, as a sentence; empty where it is, or where there is none.

    What it says is run. So it must be theirs alone, and not in a folder that they have gone into.
    """
    path = house / FILE
    try:
        about = [house.stat(), path.lstat()]
    except OSError:
        return ""
    if stat.S_ISLNK(about[1].st_mode):
        return f"{path} is a link, and a record of Insula's is a file; take it away"
    if hasattr(os, "geteuid") and any(state.st_uid != os.geteuid() for state in about):
        return f"{path} or its folder belongs to another user; take it away"
    if os.name == "posix" and any(_others_write(state) for state in about):
        return f"others may write to {path}; take that from them with: chmod go-w {house} {path}"
    if folder := _folder_around(house):
        return (
            f"{path} lies in {folder}, in which you are, and a repository may have brought it; go elsewhere, or point "
            "INSULA_HOME at a folder outside"
        )
    return ""


def _folder_around(house: Path) -> Path | None:
    """The working folder, or a repository above it, in which our folder lies; none where it holds the user's home."""
    own, home = (Path(os.path.realpath(path)) for path in (house, Path.home()))
    try:
        here = Path.cwd()
    except OSError:  # it is gone
        return None
    if own == home / places.HOME:
        return None
    around = (path for path in (here, *here.parents) if path == here or (path / ".git").exists())
    return next((path for path in around if own.is_relative_to(path) and not home.is_relative_to(path)), None)


def _others_write(about: os.stat_result) -> bool:
    return bool(about.st_mode & stat.S_IWOTH or (about.st_mode & stat.S_IWGRP and about.st_gid != about.st_uid))


def read_records(house: Path) -> dict[str, InstallRecord]:
    """What is remembered of each, by its path; nothing where the record is not to be trusted."""
    try:
        data = None if explain_distrust(house) else files.read_file(house / FILE)
        return _Records.model_validate_json(data).files if data else {}
    except (SettingsError, ValidationError):
        return {}


def get_record(house: Path, file: Path) -> InstallRecord:
    """What is remembered of one; empty where that is nothing."""
    return read_records(house).get(get_key(file), InstallRecord())


def save_record(house: Path, file: Path, record: InstallRecord | None) -> None:
    """Remember this of a file, or nothing any more.

    Raises:
        SettingsError: it cannot be written.
    """
    known = read_records(house)
    if record is None and get_key(file) not in known:
        return
    if why := explain_distrust(house):
        raise SettingsError(f"What is installed cannot be noted: {why}.")
    kept = {path: other for path, other in known.items() if path != get_key(file)}
    now = _Records(files=kept | ({get_key(file): record} if record else {}))
    files.replace_file(files.make_private_folder(house) / FILE, now.model_dump_json(indent=1).encode(), 0o600)


def get_key(file: Path) -> str:
    """The name that a file has here."""
    return str(file.absolute())
