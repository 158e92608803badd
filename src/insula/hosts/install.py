"""Puts the hooks into the settings of a coding agent, and takes them out again, to the byte.

What else stands in the file is not ours: comments, layout, unknown keys and other people's hooks stay as they are.
A hook is ours when its command runs `hook/run.py` of an Insula folder for this host, and never by a looser sign.
"""

import contextlib
import difflib
import json
import os
import shutil
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from insula.errors import InsulaError, SettingsError
from insula.hosts import files, jsonc, places, runtime, switch
from insula.hosts.jsonc import JsonError, Node
from insula.hosts.places import HOSTS, Command, Host

RECORD = "installed.json"
BACKUPS = "backups"
KEPT = 10
"""Backups of one file."""
EMPTY = "{}\n"
"""A settings file before anything stands in it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done to a settings file, or would be."""

    host: Host
    file: Path
    changed: bool
    diff: str = ""
    shared: bool = False
    """Whether it is a file that people commit, so that others would get a path of this machine."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A hook of ours in a settings file: where it stands, and its command."""

    event: str
    group: int
    index: int
    command: Command
    node: Node
    """The text of the command."""


def handlers(root: Node, host: Host, house: Path) -> Iterator[Handler]:
    """The hooks of ours in a settings file."""
    hooks = root.get("hooks")
    for member in hooks.members if hooks else ():
        if hooks and member.node is not hooks.get(member.key):
            continue  # the same event once more: readers of JSON go by the last
        for number, group in enumerate(member.node.members):
            inner = group.node.get("hooks")
            for index, one in enumerate(inner.members if inner else ()):
                node = one.node.get("command")
                command = places.read_command(node.value) if node else None
                if node and command and places.is_ours(command, host.id, house):
                    yield Handler(member.key, number, index, command, node)


def hooked(text: str, host: Host, command: Command) -> tuple[str, list[str]]:
    """The settings with our hooks in them, and the containers that had to be made for it.

    Ours stand after those of others: a host may know a hook by its place.

    Raises:
        JsonError: the text is no settings file.
    """
    house, wanted = Path(command.home), str(command)
    made: list[str] = []
    for stale in _stale(text, host, house, wanted):
        text = jsonc.replace(text, stale.node, wanted)
    entries = {on.event: host.entry(on, wanted, host.scale) for on in host.events}
    root = _checked(text, host)
    if root.get("hooks") is None:
        return jsonc.append(text, root, {event: [entry] for event, entry in entries.items()}, "hooks"), ["hooks"]
    there = {handler.event for handler in handlers(root, host, house)}
    for event in (one for one in entries if one not in there):
        hooks = _checked(text, host).get("hooks")
        assert hooks is not None  # noqa: S101 it was there above, and nothing was taken out
        if (box := hooks.get(event)) is not None:
            text = jsonc.append(text, box, entries[event])
        else:
            text = jsonc.append(text, hooks, [entries[event]], event)
            made.append(event)
    return text, made


def _stale(text: str, host: Host, house: Path, wanted: str) -> list[Handler]:
    """Ours with another command, last first, so that a change does not move the places of those to come."""
    found = [one for one in handlers(_checked(text, host), host, house) if one.node.value != wanted]
    return sorted(found, key=lambda one: -one.node.start)


def unhooked(text: str, host: Host, house: Path, made: Sequence[str] | None) -> str:
    """The settings without our hooks, and without the containers that we made for them.

    Args:
        text: the settings.
        host: whose they are.
        house: our folder.
        made: the containers; None where nobody remembers, and then all that our hooks leave empty.

    Raises:
        JsonError: the text is no settings file.
    """
    order = [on.event for on in host.events]
    while found := list(handlers(_checked(text, host), host, house)):
        # What was put in last is taken out first: then each step meets the text that its counterpart left.
        last = max(found, key=lambda one: (order.index(one.event) if one.event in order else -1, one.node.start))
        text = jsonc.remove(text, *_widest(text, last, made))
    return text


def _widest(text: str, found: Handler, made: Sequence[str] | None) -> tuple[Node, int]:
    """The largest part that holds our hook and nothing else: the hook, its group, the event, or all hooks."""
    root = jsonc.parse(text)
    hooks = cast(Node, root.get("hooks"))
    place = [(root, "hooks"), (hooks, found.event)]
    event = cast(Node, hooks.get(found.event))
    group = event.members[found.group].node
    inner = cast(Node, group.get("hooks"))
    box, index = inner, found.index
    if not jsonc.holds_only(text, box, index):
        return box, index
    box, index = event, found.group  # a group without a hook does nothing, and it was ours
    for outer, key in reversed(place):
        if not jsonc.holds_only(text, box, index) or not (made is None or key in made or "hooks" in made):
            break
        box, index = outer, max(number for number, one in enumerate(outer.members) if one.key == key)
    return box, index


def _checked(text: str, host: Host) -> Node:
    """The settings, read.

    Raises:
        JsonError: they are no JSON, or hooks stand in it in a form that no host has.
    """
    root = jsonc.parse(text)
    hooks = root.get("hooks")
    if hooks is not None and hooks.kind != "object":
        raise JsonError(f"line {text.count(chr(10), 0, hooks.start) + 1}: 'hooks' is not an object")
    for on in host.events:
        if hooks and (event := hooks.get(on.event)) and event.kind != "array":
            raise JsonError(f"line {text.count(chr(10), 0, event.start) + 1}: '{on.event}' is not a list")
    return root


def install(host: Host, project: Path | None = None, dry_run: bool = False) -> Outcome:
    """Put the hooks of Insula into the settings of a host; a second time changes nothing.

    Args:
        host: the coding agent.
        project: the folder of a project; the user's own settings by default.
        dry_run: only tell what would change.

    Raises:
        SettingsError: no interpreter will do, or a file cannot be read or written. Nothing is changed then.
    """
    house, file = places.home(), host.settings(project)
    command = Command(runtime.interpreter(), str(house), host.id)
    outcome = _outcome(host, file, _with(file, host, command)[:2], shared=project is not None and host.shared)
    if dry_run:
        return outcome
    with files.alone(house):
        before, after, made = _with(file, host, command)  # again: another process may have been at work
        runtime.write(house, command.python)
        switch.refresh(house)
        if before != after:
            _remember(house, host, file, before, made)
            _change(house, file, before, after)
    return _outcome(host, file, (before, after), shared=outcome.shared)


def _with(file: Path, host: Host, command: Command) -> tuple[bytes | None, bytes, list[str]]:
    before = files.read(file)
    with _named(file, host):
        text = (before or b"").decode()
        after, made = hooked(text if text.strip("\ufeff \t\r\n") else EMPTY, host, command)
    return before, after.encode(), made


def uninstall(host: Host, project: Path | None = None, dry_run: bool = False, file: Path | None = None) -> Outcome:
    """Take the hooks of Insula out of the settings of a host; what is not ours stays as it is.

    Args:
        host: the coding agent.
        project: the folder of a project; the user's own settings by default.
        dry_run: only tell what would change.
        file: the settings file, where it is known.

    Raises:
        SettingsError: a file cannot be read or written.
    """
    house, file = places.home(), file or host.settings(project)
    outcome = _outcome(host, file, _without(house, host, file))
    if dry_run or not (outcome.changed or house.exists()):
        return outcome
    with files.alone(house):
        before, after = _without(house, host, file)
        known = _records(house).get(_key(file), {})
        if before != after:
            _change(house, file, before, after)
        if before is not None and after is None and known.get("folder"):
            with contextlib.suppress(OSError):  # somebody put something else there
                file.parent.rmdir()
        _forget(house, file)
    return _outcome(host, file, (before, after))


def _without(house: Path, host: Host, file: Path) -> tuple[bytes | None, bytes | None]:
    """The file as it is and as it was before us; None where there is none."""
    if (before := files.read(file)) is None:
        return None, None
    known = _records(house).get(_key(file), {})
    with _named(file, host):
        text = before.decode()
        if not text.strip("\ufeff \t\r\n"):
            return before, before
        after = unhooked(text, host, house, known.get("made"))
    if after == EMPTY and after != text and "before" in known:
        return before, None if known["before"] is None else str(known["before"]).encode()
    return before, after.encode()


@contextlib.contextmanager
def _named(file: Path, host: Host) -> Generator[None]:
    """Says which file cannot be used, and what to do."""
    try:
        yield
    except (JsonError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error) if isinstance(error, JsonError) else "it is no text in UTF-8"
        raise SettingsError(
            f"{str(file)!r} is no settings file of {host.name} ({reason}); mend it and try again: it is untouched."
        ) from error


def uninstall_all(project: Path) -> tuple[list[Outcome], list[InsulaError]]:
    """Take the hooks out of every settings file that they were put into, then remove what they run.

    What was learned stays. If a file cannot be mended, the code that its hooks run stays, too.
    """
    house = places.home()
    known = [(HOSTS[one["host"]], Path(path)) for path, one in _records(house).items() if one.get("host") in HOSTS]
    usual = [(host, host.settings(where)) for host in HOSTS.values() for where in (None, project)]
    outcomes: list[Outcome] = []
    failures: list[InsulaError] = []
    for host, file in dict.fromkeys([*known, *usual]):
        try:
            outcomes.append(uninstall(host, file=file))
        except InsulaError as error:
            failures.append(error)
    if not failures and house.exists():
        with files.alone(house):
            shutil.rmtree(house / "hook", ignore_errors=True)
            (house / RECORD).unlink(missing_ok=True)
    return [outcome for outcome in outcomes if outcome.changed], failures


def installed(host: Host, project: Path) -> dict[Path, bytes]:
    """The settings files of a host that speak of our hooks: the user's own, this project's, and those on record.

    Raises:
        SettingsError: one cannot be read.
    """
    house = places.home()
    known = [Path(path) for path, one in _records(house).items() if one.get("host") == host.id]
    found: dict[Path, bytes] = {}
    for file in dict.fromkeys([host.settings(), host.settings(project), *known]):
        data = files.read(file)
        if data is not None and (file in known or f"/{places.SHIM}".encode() in data):
            found[file] = data
    return found


def in_use(house: Path) -> bool:
    """Whether any settings file is on record."""
    return bool(_records(house))


def _outcome(host: Host, file: Path, change: tuple[bytes | None, bytes | None], shared: bool = False) -> Outcome:
    before, after = ((data or b"").decode("utf-8", "replace").splitlines() for data in change)
    diff = difflib.unified_diff(before, after, str(file), str(file), lineterm="")
    return Outcome(host, file, change[0] != change[1], "\n".join(diff), shared)


def _change(house: Path, file: Path, before: bytes | None, after: bytes | None) -> None:
    """Keep a copy, then put the new text in its place, unless somebody else has been faster."""
    if before is not None:
        _back_up(house, file, before)
    if files.read(file) != before:
        raise SettingsError(f"{str(file)!r} was changed by another program just now; try again.")
    try:
        if after is None:
            Path(os.path.realpath(file)).unlink()
            return
        Path(os.path.realpath(file)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{str(file)!r} cannot be written ({error.strerror}); allow it and try again.") from error
    files.replace(file, after)


def _back_up(house: Path, file: Path, data: bytes) -> None:
    folder = files.private_folder(house / BACKUPS)
    name = f"{file.parent.name.strip('.')}-{file.name}-{sha256(_key(file).encode()).hexdigest()[:8]}"
    files.replace(folder / f"{name}-{time.time_ns()}", data, 0o600)
    for old in sorted(folder.glob(f"{name}-*"))[:-KEPT]:
        old.unlink(missing_ok=True)


def _records(house: Path) -> dict[str, dict[str, Any]]:
    """What is remembered of each settings file, by its path."""
    listed: object = files.read_json(house / RECORD).get("files")
    found = cast(dict[str, object], listed) if isinstance(listed, dict) else {}
    return {path: cast(dict[str, Any], one) for path, one in found.items() if isinstance(one, dict)}


def _remember(house: Path, host: Host, file: Path, before: bytes | None, made: list[str]) -> None:
    """Write down what the file was like, so that it can be so again."""
    records = _records(house)
    text = (before or b"").decode()
    fresh: dict[str, Any] = {"host": host.id, "made": made}
    if before is None or not text.strip("\ufeff \t\r\n"):
        fresh["before"] = None if before is None else text
        fresh["folder"] = not file.parent.exists()
    elif any(handlers(jsonc.parse(text), host, house)):  # an upgrade: what was true before us is on record already
        old = records.get(_key(file), {})
        fresh = {**old, "host": host.id, **({"made": [*old["made"], *made]} if "made" in old else {})}
    _keep(house, {**records, _key(file): fresh})


def _forget(house: Path, file: Path) -> None:
    records = _records(house)
    if records.pop(_key(file), None) is not None:
        _keep(house, records)


def _keep(house: Path, records: dict[str, dict[str, Any]]) -> None:
    data = json.dumps({"v": 1, "files": records}, indent=1).encode()
    files.replace(files.private_folder(house) / RECORD, data, 0o600)


def _key(file: Path) -> str:
    return str(file.absolute())
