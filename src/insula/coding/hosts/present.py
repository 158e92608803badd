"""The hooks that are there: in a settings file, for the user, and in a project.

A hook is taken for Insula's own by its form, which `insula install` renews and `insula uninstall` takes out. The form
says nothing of who wrote a line, so none is ever run for it: `records.list_installed` says which were installed.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from insula.coding.hosts import files, jsonc, records, scripts
from insula.coding.hosts.jsonc import JsonError, Node
from insula.coding.hosts.places import SHIM, Host, find_home, find_root, get_project, is_ours, read_command
from insula.errors import SettingsError

_KEYS = ("command", "bash", "powershell")
"""Under which a hook has its command line; Copilot has one for each shell."""


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


def list_our_hooks(root: Node, host: Host, house: Path) -> Iterator[InstalledHook]:
    """The hooks in a settings file that have the form of ours."""
    return (hook for hook in list_hooks(root) if _is_ours(hook.command, host, house))


def _is_ours(line: str, host: Host, house: Path) -> bool:
    command = read_command(line)
    return command is not None and is_ours(command, host.id, house)


def _list_entries(group: Node) -> Iterator[tuple[int, Node]]:
    """The hooks in a group with their places; a hook without a group is at -1."""
    inner = group.get_value("hooks")
    yield from enumerate(member.node for member in inner.members) if inner else ((-1, group),)


@dataclass(frozen=True, slots=True)
class Present:
    """The settings files of a host that speak of our hooks, and the hooks in them that are not ours."""

    here: dict[Path, bytes]
    """Those that hold in a folder: the user's own, and those of the projects that it lies in."""
    strange: dict[Path, tuple[str, ...]]
    """Hooks that Insula did not install: their command lines, or none where the file itself is the hook. Of the user's
    own settings only those that pass for ours; of a project, which may be a clone, all."""
    unread: dict[Path, str]
    """Files that cannot be read, and why, as a sentence."""


def find_hooks(host: Host, folder: Path) -> Present:
    """Where hooks of a host are, as seen from a folder."""
    known = [Path(path) for path, record in records.read_records(find_home()).items() if record.get("host") == host.id]
    usual = [host.find_settings(), host.find_settings(find_root(folder))]
    ours = (file for file in known if _is_near(host, file, folder))
    near = {os.path.realpath(file): file for file in (*ours, *reversed(usual))}
    on_record = {os.path.realpath(file) for file in known}
    present = Present({}, {}, {})
    for real, file in reversed(near.items()):  # the user's own first, by its usual name
        try:
            data = read_settings(host, file)
            present.strange.update(_list_foreign(host, file, data))
        except SettingsError as error:
            present.unread[file] = str(error)
            continue
        if data is not None and (real in on_record or (get_project(host, file) is None and _has_our_hooks(host, data))):
            present.here[file] = data
    return present


def read_settings(host: Host, file: Path) -> bytes | None:
    """The bytes of a settings file of a host; None where there is none. What a project brought is read with care.

    Raises:
        SettingsError: it cannot be read.
    """
    return files.read_file(file, get_project(host, file))


def passes_for_ours(line: str) -> bool:
    """Whether a command line names a file as that of our hook is named, in any case: disks may not tell cases apart."""
    return SHIM in line.casefold()


def _has_our_hooks(host: Host, data: bytes) -> bool:
    """Whether there are hooks that have the form of ours: the user's own, where the record of them was lost."""
    house = find_home()
    if host.script:
        return scripts.find_command(data, host, house) is not None
    return any(list_our_hooks(root, host, house)) if (root := _parse_settings(data)) else False


def _list_foreign(host: Host, file: Path, data: bytes | None) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The hooks of a file, or of the scripts beside it, that Insula did not install.

    Raises:
        SettingsError: a script cannot be read.
    """
    house, of_project = find_home(), get_project(host, file) is not None
    if host.script:
        for path, text in scripts.list_foreign_scripts(host, file, house).items():
            if of_project or passes_for_ours(text):
                yield path, ()
    elif data is not None and (root := _parse_settings(data)):
        installed = records.list_installed(house, host.id)
        lines = [hook.command for hook in list_hooks(root) if hook.command not in installed]
        if lines := [line for line in dict.fromkeys(lines) if of_project or passes_for_ours(line)]:
            yield file, tuple(lines)


def _parse_settings(data: bytes) -> Node | None:
    try:
        return jsonc.parse_jsonc(data.decode())
    except (JsonError, UnicodeDecodeError, RecursionError):
        return None


def _is_near(host: Host, file: Path, folder: Path) -> bool:
    root = get_project(host, file)
    return root is not None and folder.resolve().is_relative_to(root.resolve())
