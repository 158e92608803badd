"""Where hooks of ours are: for the user, in a project, and in projects that are not at hand; and those of others."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from insula.coding.hosts import entries, files, jsonc, places, projects, records, scripts
from insula.coding.hosts.jsonc import JsonError
from insula.coding.hosts.places import Host
from insula.coding.hosts.projects import project_of
from insula.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Present:
    """The settings files of a host that speak of our hooks, and the hooks in them that are not ours."""

    here: dict[Path, bytes]
    """Those that hold in a folder: the user's own, and those of the projects that it lies in."""
    elsewhere: tuple[Path, ...]
    """Those of other projects, on record."""
    strange: dict[Path, tuple[str, ...]]
    """Hooks that Insula did not install: their command lines, or none where the file itself is the hook. Of the user's
    own settings only those that pass for ours; of a project, which may be a clone, all."""
    unread: dict[Path, str]
    """Files that cannot be read, and why, as a sentence."""


def find(host: Host, folder: Path) -> Present:
    """Where hooks of a host are, as seen from a folder."""
    known = [Path(path) for path, one in records.read(places.home()).items() if one.get("host") == host.id]
    usual = [host.settings(), host.settings(projects.root(folder))]
    ours = (file for file in known if _holds(host, file, folder))
    near = {os.path.realpath(file): file for file in (*ours, *reversed(usual))}
    on_record = {os.path.realpath(file) for file in known}
    elsewhere = (file for file in known if os.path.realpath(file) not in near and file.exists())
    found = Present({}, tuple(elsewhere), {}, {})
    for real, file in reversed(near.items()):  # the user's own first, by its usual name
        try:
            data = read(host, file)
            found.strange.update(_strange(host, file, data))
        except SettingsError as error:
            found.unread[file] = str(error)
            continue
        if data is not None and (real in on_record or (project_of(host, file) is None and _has_ours(host, data))):
            found.here[file] = data
    return found


def read(host: Host, file: Path) -> bytes | None:
    """The bytes of a settings file of a host; None where there is none. What a project brought is read with care.

    Raises:
        SettingsError: it cannot be read.
    """
    return files.read(file, project_of(host, file))


def passes_for_ours(line: str) -> bool:
    """Whether a command line names a file as that of our hook is named, in any case: disks may not tell cases apart."""
    return places.SHIM in line.casefold()


def _has_ours(host: Host, data: bytes) -> bool:
    """Whether there are hooks that have the form of ours: the user's own, where the record of them was lost."""
    house = places.home()
    if host.script:
        return scripts.command_in(data, host, house) is not None
    return any(entries.handlers(root, host, house)) if (root := _parsed(data)) else False


def _strange(host: Host, file: Path, data: bytes | None) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The hooks of a file, or of the scripts beside it, that Insula did not install.

    Raises:
        SettingsError: a script cannot be read.
    """
    house, of_project = places.home(), project_of(host, file) is not None
    if host.script:
        for path, text in scripts.strange(host, file, house).items():
            if of_project or passes_for_ours(text):
                yield path, ()
    elif data is not None and (root := _parsed(data)):
        installed = records.installed(house, host.id)
        lines = [hook.command for hook in entries.hooks_in(root) if hook.command not in installed]
        if lines := [line for line in dict.fromkeys(lines) if of_project or passes_for_ours(line)]:
            yield file, tuple(lines)


def _parsed(data: bytes) -> jsonc.Node | None:
    try:
        return jsonc.parse(data.decode())
    except (JsonError, UnicodeDecodeError, RecursionError):
        return None


def _holds(host: Host, file: Path, folder: Path) -> bool:
    root = project_of(host, file)
    return root is not None and folder.resolve().is_relative_to(root.resolve())
