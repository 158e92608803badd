"""What a person may set for the hooks: on and off, here or everywhere; and the erasure of what they wrote down."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from insula.errors import SettingsError
from insula.hosts import files
from insula.settings import Settings, load
from insula.step.trace import project

FILE = "hook.json"
ERASED = ("sessions", "evidence", "rules.jsonl", "failures.jsonl", "backups", "salt")
"""What `purge` takes away: all that was observed, learned or kept. The hooks and their switches stay."""


def read(home: Path) -> dict[str, Any]:
    """The settings of the hook as they stand in its file, whole."""
    found = files.read_json(home / FILE)
    listed: object = found.get("projects_off")
    here = cast(list[object], listed) if isinstance(listed, list) else []
    return {
        "v": 1,
        "off": found.get("off") is True,
        "projects_off": [one for one in here if isinstance(one, str)],
        "holdout": found.get("holdout", Settings.model_fields["holdout"].default),
    }


def refresh(home: Path) -> None:
    """Write the file anew with the holdout, where the settings name one, and all else as it is.

    Raises:
        SettingsError: the settings cannot be used, or the file cannot be written.
    """
    settings = load()
    named = {"holdout": settings.holdout} if "holdout" in settings.model_fields_set else {}
    _write(home, {**read(home), **named})


def turn(home: Path, on: bool, cwd: Path | None = None) -> None:
    """Switch the hooks on or off; with `cwd`, in its project alone.

    Raises:
        SettingsError: the file cannot be written.
    """
    with files.alone(home):
        now = read(home)
        if cwd is None:
            now["off"] = not on
        else:
            here = project(str(cwd))
            now["projects_off"] = [one for one in now["projects_off"] if one != here] + ([] if on else [here])
        _write(home, now)


def is_off(home: Path, cwd: Path) -> bool:
    """Whether a file switches the hooks off here."""
    now = read(home)
    return now["off"] or project(str(cwd)) in now["projects_off"]


def purge(home: Path) -> Sequence[str]:
    """Erase what the hooks wrote down; tells what there was.

    Raises:
        SettingsError: a part of it cannot be erased.
    """
    with files.alone(home):
        there = [name for name in ERASED if (home / name).exists() or (home / name).is_symlink()]
        for name in there:
            _erase(home / name)
    return there


def _erase(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        raise SettingsError(f"{str(path)!r} cannot be erased ({error.strerror}); allow it and try again.") from error


def _write(home: Path, values: dict[str, Any]) -> None:
    data = json.dumps(values, separators=(",", ":")).encode() + b"\n"
    if files.read(home / FILE) != data:
        files.private_folder(home)
        files.replace(home / FILE, data, 0o600)
