"""The hooks that are there: in the files of a host, for the user, and in a project.

A hook is taken for Insula's own by its form, which `insula install` renews and `insula uninstall` takes out. The form
says nothing of who wrote a line, so none is ever run for it: `records.list_installed` says which were installed. Hooks
that are files of their own (OpenCode's plugin, Cline's programs) are Insula's whole, or not at all.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from insula.coding.hosts import files, jsonc, places, records
from insula.coding.hosts.jsonc import JsonError, Node
from insula.coding.hosts.places import EVENT, SHIM, HookCommand, Host, find_home, find_root, get_project
from insula.errors import SettingsError

_KEYS = ("command", "bash", "powershell")
"""Under which a hook has its command line; Copilot has one for each shell."""
_QUOTED = '"$command"'
"""Where a program has the command as a text."""
_ASSIGNED = "const COMMAND = "


@dataclass(frozen=True, slots=True)
class InstalledHook:
    """A hook in a settings file: where it stands, and its command line."""

    event: str
    group: int
    index: int
    """Its place in the group; -1 where hooks have no groups."""
    command: str
    node: Node
    """The text of the command."""


def list_hooks(root: Node) -> Iterator[InstalledHook]:
    """All hooks in a settings file that run a command, whoever put them there."""
    hooks = root.get_value("hooks")
    last = {member.key: member.node for member in hooks.members} if hooks else {}  # as readers of JSON have it
    for event, groups in last.items():
        for number, group in enumerate(groups.members):
            for index, entry in _list_entries(group.node):
                for node in map(entry.get_value, _KEYS):
                    if node and isinstance(node.value, str):
                        yield InstalledHook(event, number, index, node.value, node)


def list_our_hooks(root: Node, host: Host, house: Path) -> list[InstalledHook]:
    """The hooks in a settings file that have the form of ours."""
    return [hook for hook in list_hooks(root) if _read_ours(hook.command, host, house)]


def _read_ours(line: object, host: Host, house: Path) -> HookCommand | None:
    """The command of a line that has the form of ours for this host, from this folder or the usual one."""
    command = places.read_command(line)
    homes = {str(house), str(Path.home() / places.HOME)}
    return command if command and command.host == host.id and command.home in homes else None


def _list_entries(group: Node) -> Iterator[tuple[int, Node]]:
    """The hooks in a group with their places; a hook without a group is at -1."""
    inner = group.get_value("hooks")
    yield from enumerate(member.node for member in inner.members) if inner else ((-1, group),)


# Files.


def list_files(host: Host, first: Path) -> dict[Path, tuple[str, ...]]:
    """The files of a host beside the first of them, with the events that each is for."""
    events = tuple(on.event for on in host.events)
    if not host.per_event:
        return {first: events}
    return {first.with_name(Path(host.file).name.replace(EVENT, event)): (event,) for event in events}


def read_files(host: Host, first: Path) -> dict[Path, bytes | None]:
    """The bytes of the files of a host; None where there is none. What a project brought is read with care.

    Raises:
        SettingsError: one cannot be read.
    """
    within = get_project(host, first)
    return {path: files.read_file(path, within) for path in list_files(host, first)}


def render_script(host: Host, command: HookCommand) -> bytes:
    """What stands in a file that is a hook."""
    text = Path(__file__).with_name(host.script).read_text("utf-8")
    return text.replace(_QUOTED, json.dumps(str(command))).replace("$command", str(command)).encode()


def find_command(data: bytes, host: Host, house: Path) -> HookCommand | None:
    """The command of ours by its form that a script runs; None where it runs none."""
    lines = map(_unquote_line, data.decode("utf-8", "replace").splitlines())
    return next(filter(None, (_read_ours(line, host, house) for line in lines)), None)


def _unquote_line(line: str) -> object:
    if not line.startswith(_ASSIGNED):
        return line
    try:
        return json.loads(line.removeprefix(_ASSIGNED))
    except ValueError:
        return ""


def is_whole_script(data: bytes, host: Host, path: Path, record: records.InstallRecord) -> bool:
    """Whether a script is as we wrote it, now or with an earlier version."""
    command = find_command(data, host, find_home())
    return record.is_as_written(path, data) or (command is not None and data == render_script(host, command))


def list_script_hooks(host: Host, first: Path) -> Iterator[tuple[str, records.Installed]]:
    """Each event that a script is there for which Insula wrote and nobody changed, and the command on record for it.

    Raises:
        SettingsError: one cannot be read.
    """
    events = list_files(host, first)
    for path, data in read_files(host, first).items():
        if data is not None and (command := _find_installed(host, first, path, data)):
            yield from ((event, command) for event in events[path])


def _find_installed(host: Host, first: Path, path: Path, data: bytes) -> records.Installed | None:
    """The command on record that a script runs, where the script is to the byte what Insula wrote for it."""
    house = find_home()
    command = str(find_command(data, host, house))
    line = next((known for known in records.list_installed(house, host.id) if known == command), None)
    return line if is_whole_script(data, host, path, records.get_record(house, first)) else None


# What is there for a folder.


@dataclass(frozen=True, slots=True)
class Present:
    """The settings files of a host that speak of our hooks, and the hooks in them that are not ours."""

    here: dict[Path, bytes]
    """Those that hold in a folder: the user's own, and those of the projects that it lies in."""
    strange: dict[Path, tuple[str, ...]]
    """Hooks that pass for ours and were not installed: their command lines, or none where the file itself is one."""
    unread: dict[Path, str]
    """Files that cannot be read, and why, as a sentence."""


def find_hooks(host: Host, folder: Path) -> Present:
    """Where hooks of a host are, as seen from a folder."""
    house = find_home()
    known = [Path(path) for path, record in records.read_records(house).items() if record.host == host.id]
    usual = [host.find_settings(), host.find_settings(find_root(folder))]
    ours = (file for file in known if _is_near(host, file, folder))
    near = {os.path.realpath(file): file for file in (*ours, *reversed(usual))}
    on_record = {os.path.realpath(file) for file in known}
    present = Present({}, {}, {})
    for real, file in reversed(near.items()):  # the user's own first, by its usual name
        try:
            found = read_files(host, file)
        except SettingsError as error:
            present.unread[file] = str(error)
            continue
        for path, data in found.items():
            if data is not None and (lines := _list_foreign(host, file, path, data)) is not None:
                present.strange[path] = lines
        own = get_project(host, file) is None
        if (data := found[file]) is not None and (real in on_record or (own and has_our_hooks(host, data, house))):
            present.here[file] = data
    return present


def has_our_hooks(host: Host, data: bytes, house: Path) -> bool:
    """Whether there are hooks that have the form of ours: the user's own, where the record of them was lost."""
    if host.script:
        return find_command(data, host, house) is not None
    return bool((root := _parse_settings(data)) and list_our_hooks(root, host, house))


def _list_foreign(host: Host, first: Path, path: Path, data: bytes) -> tuple[str, ...] | None:
    """The hooks of a file that pass for ours and were not installed; none where the file itself is one, None for none.

    They name a file as that of our hook is named, in any case: disks may not tell cases apart.
    """
    if host.script:
        foreign = SHIM in data.decode("utf-8", "replace").casefold() and not _find_installed(host, first, path, data)
        return () if foreign else None
    installed, root = records.list_installed(find_home(), host.id), _parse_settings(data)
    lines = dict.fromkeys(hook.command for hook in list_hooks(root)) if root else ()
    return tuple(line for line in lines if line not in installed and SHIM in line.casefold()) or None


def _parse_settings(data: bytes) -> Node | None:
    try:
        return jsonc.parse_jsonc(data.decode())
    except (JsonError, UnicodeDecodeError, RecursionError):
        return None


def _is_near(host: Host, file: Path, folder: Path) -> bool:
    root = get_project(host, file)
    return root is not None and folder.resolve().is_relative_to(root.resolve())
