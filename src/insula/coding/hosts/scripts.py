"""Hooks that are a file of their own: OpenCode's plugin. It is ours whole, or not at all."""

import json
from hashlib import sha256
from pathlib import Path

from insula.coding.hosts import places, records
from insula.coding.hosts.places import HookCommand, Host
from insula.coding.hosts.records import Installed
from insula.errors import SettingsError

_QUOTED = '"$command"'
"""Where the script has the command as a text."""
_ASSIGNED = "const COMMAND = "


def render_script(host: Host, command: HookCommand) -> bytes:
    """What stands in it."""
    text = Path(__file__).with_name(host.script).read_text("utf-8")
    return text.replace(_QUOTED, json.dumps(str(command))).encode()


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
    try:
        return json.loads(line.removeprefix(_ASSIGNED)) if line.startswith(_ASSIGNED) else ""
    except ValueError:
        return ""


def find_installed(data: bytes, host: Host, file: Path, house: Path) -> Installed | None:
    """The command on record that a script runs, where the script is to the byte what Insula wrote for it."""
    command = find_command(data, host, house)
    line = next((known for known in records.list_installed(house, host.id) if known == str(command)), None)
    return line if line is not None and is_whole(data, host, file, house) else None


def check_overwritten(before: bytes | None, host: Host, file: Path, house: Path) -> None:
    """See that nothing is lost where the script is written.

    Raises:
        SettingsError: the file there is of another, or was changed by hand.
    """
    if before is not None and not is_whole(before, host, file, house):
        why = "was changed by hand" if find_command(before, host, house) else "is not of Insula's making"
        raise SettingsError(f"{str(file)!r} {why} and would be overwritten; move it away and try again.")


def is_whole(data: bytes, host: Host, file: Path, house: Path) -> bool:
    """Whether a script is as we wrote it, now or with an earlier version."""
    if records.get_digests(house, file).get(file.name) == hash_script(data):
        return True
    command = find_command(data, host, house)
    return command is not None and data == render_script(host, command)
