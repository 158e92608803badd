"""What is remembered of each settings file that our hooks were put into, so that it can be as before.

And the command line that was put there: Insula runs no other. What stands in the settings may be from anybody.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any, NewType

from insula.coding.hosts import files, places
from insula.errors import SettingsError
from insula.value import is_object

FILE = "installed.json"

Installed = NewType("Installed", str)
"""A command line that Insula itself put into a settings file, as its record has it. Only `installed` makes one."""


def list_installed(house: Path, host_id: str) -> frozenset[Installed]:
    """The command lines that were put into the settings of a host; none where the record is not to be trusted."""
    lines = [record.get("command") for record in read_records(house).values() if record.get("host") == host_id]
    return frozenset(Installed(line) for line in lines if isinstance(line, str) and _is_whole(line, host_id))


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


def read_records(house: Path) -> dict[str, dict[str, Any]]:
    """What is remembered of each, by its path; nothing where the record is not to be trusted."""
    listed: object = {} if explain_distrust(house) else files.read_json(house / FILE).get("files")
    return {path: record for path, record in listed.items() if is_object(record)} if is_object(listed) else {}


def get_record(house: Path, file: Path) -> dict[str, Any]:
    """What is remembered of one; empty where that is nothing."""
    return read_records(house).get(get_key(file), {})


def get_digests(house: Path, file: Path) -> dict[str, str]:
    """Of the scripts of a host: the digest of what was written last, by the name of the file."""
    digests: object = get_record(house, file).get("digests")
    return {name: str(value) for name, value in digests.items()} if is_object(digests) else {}


def save_record(house: Path, file: Path, record: dict[str, Any]) -> None:
    """Remember this of a file.

    Raises:
        SettingsError: it cannot be written.
    """
    _write_records(house, {**read_records(house), get_key(file): record})


def forget_record(house: Path, file: Path) -> None:
    """Remember nothing of a file any more.

    Raises:
        SettingsError: it cannot be written.
    """
    known = read_records(house)
    if known.pop(get_key(file), None) is not None:
        _write_records(house, known)


def get_key(file: Path) -> str:
    """The name that a file has here."""
    return str(file.absolute())


def _write_records(house: Path, known: dict[str, dict[str, Any]]) -> None:
    if why := explain_distrust(house):
        raise SettingsError(f"What is installed cannot be noted: {why}.")
    data = json.dumps({"v": 1, "files": known}, indent=1).encode()
    files.replace_file(files.make_private_folder(house) / FILE, data, 0o600)
