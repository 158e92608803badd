"""Hooks that are files of their own: OpenCode's plugin, Cline's programs. Each is ours whole, or not at all."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from insula.coding.hosts import files, places, records
from insula.coding.hosts.places import EVENT, HookCommand, Host, get_project
from insula.coding.hosts.records import Installed
from insula.errors import SettingsError

_QUOTED = '"$command"'
"""Where a program has the command as a text."""
_ASSIGNED = "const COMMAND = "


def list_scripts(host: Host, first: Path) -> Mapping[Path, tuple[str, ...]]:
    """The files of a host beside the first of them, with the events that each is for."""
    events = [on.event for on in host.events]
    if not host.per_event:
        return {first: tuple(events)}
    return {first.with_name(Path(host.file).name.replace(EVENT, event)): (event,) for event in events}


def render_script(host: Host, command: HookCommand) -> bytes:
    """What stands in each of them."""
    text = Path(__file__).with_name(host.script).read_text("utf-8")
    return text.replace(_QUOTED, json.dumps(str(command))).replace("$command", str(command)).encode()


def hash_script(data: bytes) -> str:
    """What stands for a text of ours on record."""
    return sha256(data).hexdigest()


def find_command(data: bytes, host: Host, house: Path) -> HookCommand | None:
    """The command of ours by its form that a script runs; None where it runs none."""
    for line in data.decode("utf-8", "replace").splitlines():
        command = places.read_command(_unquote_line(line))
        if command and places.is_ours(command, host.id, house):
            return command
    return None


def _unquote_line(line: str) -> object:
    if not line.startswith(_ASSIGNED):
        return line
    try:
        return json.loads(line.removeprefix(_ASSIGNED))
    except ValueError:
        return ""


def list_commands(host: Host, first: Path, house: Path) -> Iterator[tuple[str, Installed]]:
    """Each event that a script is there for which Insula wrote and nobody changed, and the command on record for it.

    Raises:
        SettingsError: one cannot be read.
    """
    events = list_scripts(host, first)
    for path, data in _read_scripts(host, first).items():
        if data is not None and (command := _find_installed(host, first, path, data, house)):
            yield from ((event, command) for event in events[path])


def list_foreign_scripts(host: Host, first: Path, house: Path) -> Mapping[Path, str]:
    """The scripts that are there and that Insula did not write, or that somebody changed, with their text.

    Raises:
        SettingsError: one cannot be read.
    """
    return {
        path: data.decode("utf-8", "replace")
        for path, data in _read_scripts(host, first).items()
        if data is not None and not _find_installed(host, first, path, data, house)
    }


def _find_installed(host: Host, first: Path, path: Path, data: bytes, house: Path) -> Installed | None:
    """The command on record that a script runs, where the script is to the byte what Insula wrote for it."""
    command = find_command(data, host, house)
    line = next((known for known in records.list_installed(house, host.id) if known == str(command)), None)
    if command is None or line is None:
        return None
    kept = records.get_digests(house, first).get(path.name)
    return line if kept == hash_script(data) or data == render_script(host, command) else None


def _read_scripts(host: Host, first: Path) -> Mapping[Path, bytes | None]:
    within = get_project(host, first)
    return {path: files.read_file(path, within) for path in list_scripts(host, first)}


def plan_scripts(host: Host, first: Path, command: HookCommand, kept: Mapping[str, str]) -> Mapping[Path, bytes | None]:
    """The files that would be written, with what stands there now.

    Args:
        first: the first of them.
        kept: digests of what was written last, by the name of the file.

    Raises:
        SettingsError: one is of another or was changed by hand, so none may be overwritten; or cannot be read.
    """
    present = _read_scripts(host, first)
    for path, data in present.items():
        if data is not None and not _is_whole(data, path, host, Path(command.home), kept):
            ours = find_command(data, host, Path(command.home))
            why = "was changed by hand" if ours else "is not of Insula's making"
            raise SettingsError(f"{str(path)!r} {why} and would be overwritten; move it away and try again.")
    after = render_script(host, command)
    return {path: data for path, data in present.items() if data != after}


def plan_removal(
    host: Host, first: Path, house: Path, kept: Mapping[str, str]
) -> tuple[Mapping[Path, bytes], tuple[Path, ...]]:
    """The files that would be removed, with what stands there; and those of ours that a person has changed.

    Raises:
        SettingsError: one cannot be read.
    """
    present = {path: data for path, data in _read_scripts(host, first).items() if data is not None}
    whole = {path: data for path, data in present.items() if _is_whole(data, path, host, house, kept)}
    changed = (path for path, data in present.items() if path not in whole and find_command(data, host, house))
    return whole, tuple(changed)


def _is_whole(data: bytes, path: Path, host: Host, house: Path, kept: Mapping[str, str]) -> bool:
    """Whether it is as we wrote it, now or with an earlier version."""
    if kept.get(path.name) == hash_script(data):
        return True
    command = find_command(data, host, house)
    return command is not None and data == render_script(host, command)
