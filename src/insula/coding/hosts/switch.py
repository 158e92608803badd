"""What a person may set for the hooks: on and off, here or everywhere, by sense; and the erasure of what they wrote."""

import contextlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from insula.coding.hosts import files
from insula.coding.step.senses.register import list_switched_on
from insula.coding.step.trace import SETTINGS, hash_project, read_settings
from insula.errors import SettingsError
from insula.settings import Settings, load_settings
from insula.value import is_list, is_object

BACKUPS = "backups"
ERASED = (
    "sessions",
    "asked",
    "evidence",
    "rules.jsonl",
    "quiet.jsonl",
    "failures.jsonl",
    "failures.1.jsonl",
    BACKUPS,
    "salt",
)
"""What `purge_records` takes away: all that was observed, learned or kept. The hooks and their switches stay."""


def read_switches(home: Path) -> dict[str, Any]:
    """The settings of the hook as they stand in its file, whole; off where that cannot be read, as the hook has it."""
    switches = read_settings(str(home))
    listed, by_hand = switches.get("projects_off"), switches.get("senses")
    senses = {name: yes for name, yes in by_hand.items() if isinstance(yes, bool)} if is_object(by_hand) else {}
    return {
        "v": 1,
        "off": switches.get("off") is True,
        "projects_off": [project for project in listed if isinstance(project, str)] if is_list(listed) else [],
        "holdout": switches.get("holdout", Settings.model_fields["holdout"].default),
        **({"senses": senses} if senses else {}),
    }


def is_readable(home: Path) -> bool:
    """Whether the file says something, or there is none."""
    try:
        return isinstance(json.loads((home / SETTINGS).read_bytes()), dict)
    except FileNotFoundError:
        return True
    except (OSError, ValueError, RecursionError):
        return False


def refresh_holdout(home: Path) -> None:
    """Write the file anew with the holdout of the settings, and all else as it is.

    The settings have the only word on the holdout: what they do not name is at its default.

    Raises:
        SettingsError: the settings cannot be used, or the file cannot be written.
    """
    _write_values(home, {**read_switches(home), "holdout": load_settings().holdout})


def switch_hooks(home: Path, on: bool, cwd: Path | None = None) -> None:
    """Switch the hooks on or off; with `cwd`, in its project alone.

    Raises:
        SettingsError: the file cannot be written.
    """
    with files.lock_folder(home):
        now = read_switches(home)
        if cwd is None:
            now["off"] = not on
        else:
            here = hash_project(str(cwd))
            now["projects_off"] = [name for name in now["projects_off"] if name != here] + ([] if on else [here])
        _write_values(home, now)


def switch_sense(home: Path, name: str, on: bool) -> None:
    """Switch one sense on or off; what a person has said holds whatever is the default.

    Raises:
        SettingsError: the file cannot be written.
    """
    with files.lock_folder(home):
        now = read_switches(home)
        _write_values(home, {**now, "senses": {**now.get("senses", {}), name: on}})


def list_senses(home: Path) -> frozenset[str]:
    """The senses that speak: those that do so by default, but for what a person has switched."""
    return list_switched_on(read_switches(home).get("senses"))


def is_off(home: Path, cwd: Path) -> bool:
    """Whether a file switches the hooks off here."""
    now = read_switches(home)
    return now["off"] or hash_project(str(cwd)) in now["projects_off"]


def purge_records(home: Path) -> Sequence[str]:
    """Erase what the hooks wrote down; tells what there was.

    Raises:
        SettingsError: a part of it cannot be erased.
    """
    with files.lock_folder(home):
        there = [name for name in ERASED if (home / name).exists() or (home / name).is_symlink()]
        for name in there:
            _erase_path(home / name)
        remove_empty_home(home)
    return there


def remove_empty_home(home: Path) -> None:
    """Remove the folder where nothing is left in it but a switch for hooks that are gone; under the lock."""
    for name in ERASED:
        with contextlib.suppress(OSError):
            (home / name).rmdir()  # an empty one
    with contextlib.suppress(OSError):
        if {path.name for path in home.iterdir()} <= {SETTINGS, files.LOCK}:
            for name in (SETTINGS, files.LOCK):
                (home / name).unlink(missing_ok=True)
            home.rmdir()


def _erase_path(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        raise SettingsError(f"{str(path)!r} cannot be erased ({error.strerror}); allow it and try again.") from error


def _write_values(home: Path, values: dict[str, Any]) -> None:
    data = json.dumps(values, separators=(",", ":")).encode() + b"\n"
    if files.read_file(home / SETTINGS) != data:
        files.make_private_folder(home)
        files.replace_file(home / SETTINGS, data, 0o600)
