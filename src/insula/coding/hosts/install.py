"""Puts the hooks into the settings of a coding agent, and takes them out again.

What else stands in the file is not ours: comments, layout, unknown keys and other people's hooks stay as they are, and
a file that nobody else has changed is put back to the byte. A hook is taken for ours to edit when its command runs
`hook/run.py` of Insula's folder for this host, and never by a looser sign. None is run for that: see `records`.
"""

import contextlib
import difflib
import os
import shutil
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import cast

from insula.coding.hosts import files, jsonc, places, present, records, runtime, switch
from insula.coding.hosts.jsonc import JsonError, Node
from insula.coding.hosts.places import HOSTS, HookCommand, Host
from insula.coding.hosts.present import InstalledHook, list_our_hooks
from insula.coding.hosts.records import InstallRecord
from insula.errors import InsulaError, SettingsError

KEPT = 10
"""Backups of one file."""

Changes = Mapping[Path, tuple[bytes | None, bytes | None]]
"""What files are and will be; None where there is none."""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What was done to a settings file, or would be."""

    host: Host
    file: Path
    changed: bool
    diff: str = ""
    kept: tuple[Path, ...] = ()
    """Scripts of ours that somebody has changed, so that they stay."""
    code: runtime.Condition = "whole"
    """What the code was before."""


# The text of a settings file.


def add_hooks(text: str, host: Host, command: HookCommand) -> str:
    """The settings with our hooks in them, behind those of others: a host may know a hook by its place.

    Raises:
        JsonError: the text is no settings file.
    """
    house, wanted = Path(command.home), str(command)
    ours = list_our_hooks(_parse_settings(text, host), host, house)
    for stale in sorted(ours, key=lambda hook: -hook.node.start):  # the last first, so that no place moves
        if stale.node.value != wanted:
            text = jsonc.replace_value(text, stale.node, wanted)
    entries = {on.event: host.entry(on, wanted, host.scale) for on in host.events}
    root = _parse_settings(text, host)
    if root.get_value("hooks") is None:
        return jsonc.append_value(text, root, {event: [entry] for event, entry in entries.items()}, "hooks")
    there = {hook.event for hook in ours}
    for event in (name for name in entries if name not in there):
        hooks = cast(Node, _parse_settings(text, host).get_value("hooks"))
        if (known := hooks.get_value(event)) is not None:
            text = jsonc.append_value(text, known, entries[event])
        else:
            text = jsonc.append_value(text, hooks, [entries[event]], event)
    return text


def remove_hooks(text: str, host: Host, house: Path) -> str:
    """The settings without our hooks, and without the containers that they leave empty.

    Raises:
        JsonError: the text is no settings file.
    """
    while ours := list_our_hooks(_parse_settings(text, host), host, house):
        text = jsonc.remove_member(text, *_find_widest(text, max(ours, key=lambda hook: hook.node.start)))
    return text


def _find_widest(text: str, hook: InstalledHook) -> tuple[Node, int]:
    """The largest part that holds our hook and nothing else, no comment either: all hooks, the event, its group."""
    root = jsonc.parse_jsonc(text)
    hooks = cast(Node, root.get_value("hooks"))
    event = cast(Node, hooks.get_value(hook.event))
    group = event.members[hook.group].node
    inner = group.get_value("hooks")
    if inner and (len(inner.members) > 1 or {member.key for member in group.members} - {"matcher", "hooks"}):
        return inner, hook.index
    parts = [(root, root.find_place("hooks")), (hooks, hooks.find_place(hook.event)), (event, hook.group)]
    for number, (box, index) in enumerate(parts):
        alone = all(len(within.members) == 1 for within, _ in parts[number + 1 :])
        if alone and not jsonc.has_comment(text, box.members[index]):
            return box, index
    return (inner, hook.index) if inner else parts[-1]


def _parse_settings(text: str, host: Host) -> Node:
    """The settings, read.

    Raises:
        JsonError: they are no JSON, or hooks stand in it in a form that no host has.
    """
    root = jsonc.parse_jsonc(text)
    hooks = root.get_value("hooks")
    if hooks is not None and hooks.kind != "object":
        raise JsonError(f"line {text.count(chr(10), 0, hooks.start) + 1}: 'hooks' is not an object")
    for on in host.events:
        if hooks and (event := hooks.get_value(on.event)) and event.kind != "array":
            raise JsonError(f"line {text.count(chr(10), 0, event.start) + 1}: '{on.event}' is not a list")
    return root


def _is_blank(data: bytes) -> bool:
    return not data.decode().strip("\ufeff \t\r\n")


@contextlib.contextmanager
def _naming_file(file: Path, host: Host) -> Generator[None]:
    """Says which file cannot be used, and what to do."""
    try:
        yield
    except (JsonError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error) if isinstance(error, JsonError) else "it is no text in UTF-8"
        raise SettingsError(
            f"{str(file)!r} is no settings file of {host.name} ({reason}); mend it and try again: it is untouched."
        ) from error


# Installing.


def install_hooks(host: Host, project: Path | None = None, dry_run: bool = False) -> InstallResult:
    """Put the hooks of Insula into the settings of a host; a second time changes nothing.

    Args:
        project: the folder of a project; the user's own settings by default.
        dry_run: only tell what would change.

    Raises:
        SettingsError: no interpreter will do, or a file cannot be read or written. Nothing is changed then.
    """
    house, file = places.find_home(), host.find_settings(project)
    command = HookCommand(runtime.find_interpreter(), str(house), host.id)
    changes = _plan_install(house, host, file, command)
    if dry_run:
        return _make_outcome(host, file, changes)
    with files.lock_folder(house):
        changes = _plan_install(house, host, file, command)  # again: another process may have been at work
        code = runtime.check_code(house)
        runtime.write_code(house, command.python)
        switch.refresh_holdout(house)
        copies = {path: _back_up_file(house, path, before) for path, (before, _) in changes.items()}
        if changes or records.get_record(house, file).command != str(command):
            _save_record(house, host, file, command, changes, copies)
        for path, change in changes.items():
            _apply_change(host, path, *change)
    return replace(_make_outcome(host, file, changes), code=code)


def _plan_install(house: Path, host: Host, file: Path, command: HookCommand) -> Changes:
    """What an installation changes."""
    record = records.get_record(house, file)
    now = {
        path: (before, _render_file(host, path, before, command, record))
        for path, before in present.read_files(host, file).items()
    }
    return {path: (before, after) for path, (before, after) in now.items() if before != after}


def _render_file(host: Host, path: Path, before: bytes | None, command: HookCommand, record: InstallRecord) -> bytes:
    """What a file is to be.

    Raises:
        SettingsError: it is of another, or was changed by hand, and cannot be edited.
    """
    if host.script:
        if before is not None and not present.is_whole_script(before, host, path, record):
            ours = present.find_command(before, host, Path(command.home))
            why = "was changed by hand" if ours else "is not of Insula's making"
            raise SettingsError(f"{str(path)!r} {why} and would be overwritten; move it away and try again.")
        return present.render_script(host, command)
    with _naming_file(path, host):
        text = host.empty if before is None or _is_blank(before) else before.decode()
        return add_hooks(text, host, command).encode()


def _save_record(
    house: Path, host: Host, first: Path, command: HookCommand, changes: Changes, copies: Mapping[Path, str]
) -> None:
    """Write down what is put there, and where a copy of what there was is kept, so that it can be so again."""
    old = records.get_record(house, first)
    written, backups = dict(old.written), dict(old.backups)
    for path, (before, after) in changes.items():
        if before is None or not present.has_our_hooks(host, before, house):
            backups[path.name] = copies[path]
        elif not (old.is_as_written(path, before) or old.is_as_written(path, after)):
            backups.pop(path.name, None)  # somebody has changed it since we did
        written[path.name] = records.hash_file(after or b"")
    folders = old.folders or [str(path) for path in (first.parent, *first.parent.parents) if not path.exists()]
    record = InstallRecord(host=host.id, command=str(command), folders=folders, written=written, backups=backups)
    records.save_record(house, first, record)


def _apply_change(host: Host, file: Path, before: bytes | None, after: bytes | None) -> None:
    """Put the new text in the place of a file, unless somebody else has been faster."""
    if files.read_file(file) != before:
        raise SettingsError(f"{str(file)!r} was changed by another program just now; try again.")
    try:
        if after is None:
            Path(os.path.realpath(file)).unlink()
            return
        Path(os.path.realpath(file)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{str(file)!r} cannot be written ({error.strerror}); allow it and try again.") from error
    files.replace_file(file, after, 0o700 if host.per_event else None)  # what is run by its name must be a program


def _back_up_file(house: Path, file: Path, data: bytes | None) -> str:
    """Keep a copy of a file; returns its name, empty where there is no file."""
    if data is None:
        return ""
    folder = files.make_private_folder(house / switch.BACKUPS)
    stem = f"{file.parent.name.strip('.')}-{file.name}-{sha256(records.get_key(file).encode()).hexdigest()[:8]}"
    name = f"{stem}-{time.time_ns()}"
    files.replace_file(folder / name, data, 0o600)
    for old in sorted(folder.glob(f"{stem}-*"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return name


# Uninstalling.


def uninstall_hooks(
    host: Host, project: Path | None = None, dry_run: bool = False, file: Path | None = None
) -> InstallResult:
    """Take the hooks of Insula out of the settings of a host; what is not ours stays as it is.

    Args:
        project: the folder of a project; the user's own settings by default.
        dry_run: only tell what would change.

    Raises:
        SettingsError: a file cannot be read or written.
    """
    house, file = places.find_home(), file or host.find_settings(project)
    changes, kept = _plan_uninstall(house, host, file)
    if dry_run or not (changes or house.exists()):
        return _make_outcome(host, file, changes, kept=kept)
    with files.lock_folder(house):
        changes, kept = _plan_uninstall(house, host, file)
        for path, (before, after) in changes.items():
            _back_up_file(house, path, before)
            _apply_change(host, path, before, after)
        if not kept and all(after is None for _, after in changes.values()):
            _remove_folders(records.get_record(house, file).folders)
        records.save_record(house, file, None)
    return _make_outcome(host, file, changes, kept=kept)


def _plan_uninstall(house: Path, host: Host, first: Path) -> tuple[Changes, tuple[Path, ...]]:
    """What an uninstallation changes, and the scripts that it leaves because somebody else has changed them."""
    record, there = records.get_record(house, first), present.read_files(host, first)
    now = {
        path: (data, _render_without_ours(house, host, path, data, record))
        for path, data in there.items()
        if data is not None
    }
    changed = (path for path, (data, after) in now.items() if host.script and data == after)
    kept = tuple(path for path in changed if present.find_command(there[path] or b"", host, house))
    return {path: (data, after) for path, (data, after) in now.items() if data != after}, kept


def _render_without_ours(house: Path, host: Host, path: Path, data: bytes, record: InstallRecord) -> bytes | None:
    """A file as it was before us, where nobody else has changed it; else without what is ours; None to remove it."""
    if host.script:
        return None if present.is_whole_script(data, host, path, record) else data
    name = record.backups.get(path.name)
    if name is not None and record.is_as_written(path, data):
        copy = files.read_file(house / switch.BACKUPS / name) if name else b""
        if copy is not None:  # the backups may have been erased
            return copy if name else None
    with _naming_file(path, host):
        return data if _is_blank(data) else remove_hooks(data.decode(), host, house).encode()


def _remove_folders(made: Sequence[str]) -> None:
    """Take away the folders that we made, unless somebody put something else there."""
    for folder in made:
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def uninstall_all(project: Path) -> tuple[list[InstallResult], list[InsulaError]]:
    """Take the hooks out of every settings file that they were put into, then remove what they run.

    What was learned stays. If a file cannot be mended, the code that its hooks run stays, too.
    """
    house = places.find_home()
    known = [
        (HOSTS[record.host], Path(path)) for path, record in records.read_records(house).items() if record.host in HOSTS
    ]
    usual = [(host, host.find_settings(where)) for host in HOSTS.values() for where in (None, project)]
    outcomes: list[InstallResult] = []
    failures: list[InsulaError] = []
    for host, file in dict.fromkeys([*known, *usual]):
        try:
            outcomes.append(uninstall_hooks(host, file=file))
        except InsulaError as error:
            failures.append(error)
    if not failures and house.exists() and not any(outcome.kept for outcome in outcomes):
        with files.lock_folder(house):
            shutil.rmtree(house / "hook", ignore_errors=True)
            (house / records.FILE).unlink(missing_ok=True)
            switch.remove_empty_home(house)
    return [outcome for outcome in outcomes if outcome.changed or outcome.kept], failures


def _make_outcome(host: Host, file: Path, changes: Changes, kept: tuple[Path, ...] = ()) -> InstallResult:
    diff = "\n".join(line for path, change in changes.items() for line in _make_diff(path, *change))
    return InstallResult(host, file, bool(changes), diff, kept)


def _make_diff(path: Path, before: bytes | None, after: bytes | None) -> Iterator[str]:
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    return difflib.unified_diff(old, new, str(path), str(path), lineterm="")
