"""What is remembered of each settings file that our hooks were put into, so that it can be as before."""

import json
from pathlib import Path
from typing import Any, cast

from insula.hosts import files

FILE = "installed.json"


def read(house: Path) -> dict[str, dict[str, Any]]:
    """What is remembered of each, by its path."""
    listed: object = files.read_json(house / FILE).get("files")
    found = cast(dict[str, object], listed) if isinstance(listed, dict) else {}
    return {path: cast(dict[str, Any], one) for path, one in found.items() if isinstance(one, dict)}


def of(house: Path, file: Path) -> dict[str, Any]:
    """What is remembered of one; empty where that is nothing."""
    return read(house).get(key(file), {})


def digests(house: Path, file: Path) -> dict[str, str]:
    """Of the scripts of a host: the digest of what was written last, by the name of the file."""
    found: object = of(house, file).get("digests")
    return (
        {name: str(value) for name, value in cast(dict[str, object], found).items()} if isinstance(found, dict) else {}
    )


def keep(house: Path, file: Path, record: dict[str, Any]) -> None:
    """Remember this of a file.

    Raises:
        SettingsError: it cannot be written.
    """
    _write(house, {**read(house), key(file): record})


def forget(house: Path, file: Path) -> None:
    """Remember nothing of a file any more.

    Raises:
        SettingsError: it cannot be written.
    """
    known = read(house)
    if known.pop(key(file), None) is not None:
        _write(house, known)


def key(file: Path) -> str:
    """The name that a file has here."""
    return str(file.absolute())


def _write(house: Path, known: dict[str, dict[str, Any]]) -> None:
    data = json.dumps({"v": 1, "files": known}, indent=1).encode()
    files.replace(files.private_folder(house) / FILE, data, 0o600)
