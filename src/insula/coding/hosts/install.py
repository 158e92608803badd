"""Puts the hooks into the settings of a coding agent, and takes them out again, to the byte.

What else stands in the file is not ours: comments, layout, unknown keys and other people's hooks stay as they are.
A hook is taken for ours to edit when its command runs `hook/run.py` of Insula's folder for this host, and never by a
looser sign. None is run for that: see `records`.
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
from typing import Any, cast

from insula.coding.hosts import files, jsonc, places, present, records, runtime, scripts, switch
from insula.coding.hosts.jsonc import JsonError, Node
from insula.coding.hosts.places import HOSTS, HookCommand, Host
from insula.coding.hosts.present import InstalledHook, list_our_hooks
from insula.errors import InsulaError, SettingsError

BACKUPS = "backups"
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
    shared: bool = False
    """Whether it is a file that people commit, so that others would get a path of this machine."""
    kept: tuple[Path, ...] = ()
    """Scripts of ours that somebody has changed, so that they stay."""
    code: runtime.Condition = "whole"
    """What the code was before."""
    holdout: tuple[object, float] | None = None
    """The share that stood in our file before, None for none; and that of the settings, which stands there now."""


def add_hooks(text: str, host: Host, command: HookCommand) -> tuple[str, list[str]]:
    """The settings with our hooks in them, and the containers that had to be made for it.

    Ours stand after those of others: a host may know a hook by its place.

    Raises:
        JsonError: the text is no settings file.
    """
    house, wanted = Path(command.home), str(command)
    made: list[str] = []
    for stale in _list_stale(text, host, house, wanted):
        text = jsonc.replace_value(text, stale.node, wanted)
    entries = {on.event: host.entry(on, wanted, host.scale) for on in host.events}
    root = _parse_settings(text, host)
    if root.get_value("hooks") is None:
        return jsonc.append_value(text, root, {event: [entry] for event, entry in entries.items()}, "hooks"), ["hooks"]
    there = {handler.event for handler in list_our_hooks(root, host, house)}
    for event in (name for name in entries if name not in there):
        hooks = _parse_settings(text, host).get_value("hooks")
        assert hooks is not None  # noqa: S101 it was there above, and nothing was taken out
        if (box := hooks.get_value(event)) is not None:
            text = jsonc.append_value(text, box, entries[event])
        else:
            text = jsonc.append_value(text, hooks, [entries[event]], event)
            made.append(event)
    return text, made


def _list_stale(text: str, host: Host, house: Path, wanted: str) -> list[InstalledHook]:
    """Ours with another command, last first, so that a change does not move the places of those to come."""
    stale = [hook for hook in list_our_hooks(_parse_settings(text, host), host, house) if hook.node.value != wanted]
    return sorted(stale, key=lambda hook: -hook.node.start)


def remove_hooks(text: str, host: Host, house: Path, made: Sequence[str] | None) -> str:
    """The settings without our hooks, and without the containers that we made for them.

    Args:
        made: the containers; None where nobody remembers, and then all that our hooks leave empty.

    Raises:
        JsonError: the text is no settings file.
    """
    order = [on.event for on in host.events]
    while ours := list(list_our_hooks(_parse_settings(text, host), host, house)):
        # What was put in last is taken out first: then each step meets the text that its counterpart left.
        last = max(ours, key=lambda hook: (order.index(hook.event) if hook.event in order else -1, hook.node.start))
        text = jsonc.remove_member(text, *_find_widest(text, last, made))
    return text


def _find_widest(text: str, hook: InstalledHook, made: Sequence[str] | None) -> tuple[Node, int]:
    """The largest part that holds our hook and nothing else: the hook, its group, the event, or all hooks."""
    root = jsonc.parse_jsonc(text)
    hooks = cast(Node, root.get_value("hooks"))
    place = [(root, "hooks"), (hooks, hook.event)]
    event = cast(Node, hooks.get_value(hook.event))
    if hook.index >= 0:
        group = event.members[hook.group].node
        inner = cast(Node, group.get_value("hooks"))
        if not jsonc.holds_only(text, inner, hook.index) or not _is_as_made(text, group):
            return inner, hook.index
    box, index = event, hook.group  # a group without a hook does nothing, and it was ours
    for outer, key in reversed(place):
        above = max(number for number, member in enumerate(outer.members) if member.key == key)
        alone = jsonc.holds_only(text, box, index) and jsonc.is_plain(text, outer.members[above])
        if not alone or not (made is None or key in made or "hooks" in made):
            break
        box, index = outer, above
    return box, index


def _is_as_made(text: str, group: Node) -> bool:
    """Whether a person has written nothing of their own into a group."""
    return {member.key for member in group.members} <= {"matcher", "hooks"} and jsonc.is_bare(text, group)


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
    shared = project is not None and host.shared
    changes, _ = _plan_install(house, host, file, command)
    if dry_run:
        return _make_outcome(host, file, changes, shared)
    with files.lock_folder(house):
        changes, made = _plan_install(house, host, file, command)  # again: another process may have been at work
        code = runtime.check_code(house)
        runtime.write_code(house, command.python)
        holdout = switch.refresh_holdout(house)
        if changes or records.get_record(house, file).get("command") != str(command):
            _save_record(house, host, file, command, changes, made)
        for path, change in changes.items():
            _apply_change(house, host, path, *change)
    return replace(_make_outcome(host, file, changes, shared), code=code, holdout=holdout)


def _plan_install(house: Path, host: Host, file: Path, command: HookCommand) -> tuple[Changes, list[str]]:
    """What an installation changes, and the containers that it makes."""
    if host.script:
        after = scripts.render_script(host, command)
        there = scripts.plan_scripts(host, file, command, records.get_digests(house, file))
        return {path: (data, after) for path, data in there.items()}, []
    before = present.read_settings(host, file)
    with _naming_file(file, host):
        text = (before or b"").decode()
        new, made = add_hooks(text if text.strip("\ufeff \t\r\n") else host.empty, host, command)
    return {file: (before, new.encode())} if new.encode() != before else {}, made


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
        for path, change in changes.items():
            _apply_change(house, host, path, *change)
        if not kept and all(after is None for _, after in changes.values()):
            _remove_folders(records.get_record(house, file).get("folders", []))
        records.forget_record(house, file)
    return _make_outcome(host, file, changes, kept=kept)


def _plan_uninstall(house: Path, host: Host, file: Path) -> tuple[Changes, tuple[Path, ...]]:
    """What an uninstallation changes, and what it leaves because somebody else has changed it."""
    if host.script:
        whole, kept = scripts.plan_removal(host, file, house, records.get_digests(house, file))
        return {path: (data, None) for path, data in whole.items()}, kept
    before, after = _without_ours(house, host, file)
    return {file: (before, after)} if before != after else {}, ()


def _remove_folders(made: Sequence[str]) -> None:
    """Take away the folders that we made, unless somebody put something else there."""
    for folder in made:
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def _without_ours(house: Path, host: Host, file: Path) -> tuple[bytes | None, bytes | None]:
    """The file as it is and as it was before us; None where there is none."""
    if (before := present.read_settings(host, file)) is None:
        return None, None
    known = records.get_record(house, file)
    with _naming_file(file, host):
        text = before.decode()
        if not text.strip("\ufeff \t\r\n"):
            return before, before
        after = remove_hooks(text, host, house, known.get("made"))
    if after == host.empty and after != text and "before" in known:
        return before, None if known["before"] is None else str(known["before"]).encode()
    return before, after.encode()


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


def uninstall_all(project: Path) -> tuple[list[InstallResult], list[InsulaError]]:
    """Take the hooks out of every settings file that they were put into, then remove what they run.

    What was learned stays. If a file cannot be mended, the code that its hooks run stays, too.
    """
    house = places.find_home()
    known = [
        (HOSTS[record["host"]], Path(path))
        for path, record in records.read_records(house).items()
        if record.get("host") in HOSTS
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


def has_hooks(house: Path) -> bool:
    """Whether any settings file is on record."""
    return bool(records.read_records(house))


def _make_outcome(
    host: Host, file: Path, changes: Changes, shared: bool = False, kept: tuple[Path, ...] = ()
) -> InstallResult:
    diff = "\n".join(line for path, change in changes.items() for line in _make_diff(path, *change))
    return InstallResult(host, file, bool(changes), diff, shared, kept)


def _make_diff(path: Path, before: bytes | None, after: bytes | None) -> Iterator[str]:
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    return difflib.unified_diff(old, new, str(path), str(path), lineterm="")


def _apply_change(house: Path, host: Host, file: Path, before: bytes | None, after: bytes | None) -> None:
    """Keep a copy, then put the new text in its place, unless somebody else has been faster."""
    if before is not None:
        _back_up_file(house, file, before)
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


def _back_up_file(house: Path, file: Path, data: bytes) -> None:
    folder = files.make_private_folder(house / BACKUPS)
    name = f"{file.parent.name.strip('.')}-{file.name}-{sha256(records.get_key(file).encode()).hexdigest()[:8]}"
    files.replace_file(folder / f"{name}-{time.time_ns()}", data, 0o600)
    for old in sorted(folder.glob(f"{name}-*"))[:-KEPT]:
        old.unlink(missing_ok=True)


def _save_record(house: Path, host: Host, file: Path, command: HookCommand, changes: Changes, made: list[str]) -> None:
    """Write down what is put there, and what there was, so that it can be so again."""
    old = records.get_record(house, file)
    fresh: dict[str, Any] = {"folders": old.get("folders") or _list_missing_folders(file.parent)}
    if host.script:
        written = {path.name: scripts.hash_script(after or b"") for path, (_, after) in changes.items()}
        fresh["digests"] = {**records.get_digests(house, file), **written}
    elif file in changes:
        fresh |= _describe_before(house, host, changes[file][0], made, old)
    else:
        fresh |= old
    fresh |= {"host": host.id, "command": str(command)}
    records.save_record(house, file, fresh)


def _describe_before(
    house: Path, host: Host, before: bytes | None, made: list[str], old: dict[str, Any]
) -> dict[str, Any]:
    text = (before or b"").decode()
    if before is None or not text.strip("\ufeff \t\r\n"):
        return {"made": made, "before": None if before is None else text}
    if any(
        list_our_hooks(jsonc.parse_jsonc(text), host, house)
    ):  # an upgrade: what was true before us is on record already
        return {**old, **({"made": [*old["made"], *made]} if "made" in old else {})}
    return {"made": made}


def _list_missing_folders(folder: Path) -> list[str]:
    """The folders that there are not yet, the innermost first."""
    return [str(path) for path in (folder, *folder.parents) if not path.exists()]
