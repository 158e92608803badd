"""What a host itself lets run: hooks may be switched off in its settings, or wait for the trust of its user."""

import os
import platform
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from insula import foreign
from insula.coding.hosts import jsonc
from insula.coding.hosts.files import MOST_BYTES
from insula.coding.hosts.jsonc import Node
from insula.coding.hosts.places import Host, get_project
from insula.coding.hosts.present import InstalledHook
from insula.value import is_list, is_object

State = Literal["ok", "idle", "warn", "broken"]
"""`idle`: nothing is broken, and yet the hooks do not run here."""


@dataclass(frozen=True, slots=True)
class HostCheck:
    """What was looked at, what was found, and what to do about it."""

    host: str
    """The host's id; empty for what concerns them all."""
    name: str
    state: State
    says: str
    remedy: str = ""


_MANAGED = {
    "Darwin": Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
    "Windows": Path("C:/ProgramData/ClaudeCode/managed-settings.json"),
}.get(platform.system(), Path("/etc/claude-code/managed-settings.json"))
"""What whoever manages a machine has set for Claude Code."""


def check_consent(
    host: Host, file: Path, root: Node, handlers: Sequence[InstalledHook], here: Path
) -> Iterator[HostCheck]:
    """Whether the host runs these hooks of ours in a project, as far as its files tell."""
    if not handlers:
        return
    if host.id == "codex":
        yield from _check_codex(host, file, handlers)
    elif host.id == "gemini":
        yield from _check_gemini(host, file, root, handlers)
    else:
        yield from _check_disabled(host, here)


def _check_disabled(host: Host, here: Path) -> Iterator[HostCheck]:
    own, claude = host.find_settings(), host.id == "claude-code"
    others = (here / host.folder / "settings.json", _MANAGED) if claude else ()
    for file in (own, host.find_settings(here), *others):
        values = _read_values(file, here if file != own and file.is_relative_to(here) else None)
        if values.get("disableAllHooks") is True:
            yield HostCheck(host.id, "allowed", "broken", f"{file} disables all hooks", "remove disableAllHooks there")
        if file == _MANAGED and values.get("allowManagedHooksOnly") is True:
            remedy = "ask who manages this machine"
            yield HostCheck(host.id, "allowed", "broken", f"{file} allows managed hooks only", remedy)


def _check_codex(host: Host, file: Path, handlers: Sequence[InstalledHook]) -> Iterator[HostCheck]:
    """Codex runs what its user has trusted, by the place and a digest of each hook."""
    config = host.find_settings().parent / "config.toml"
    try:
        values = tomllib.loads(foreign.read(config, MOST_BYTES).decode())
    except FileNotFoundError:
        values: dict[str, Any] = {}
    except (OSError, ValueError, RecursionError) as error:
        yield HostCheck(host.id, "trust", "warn", f"{config} cannot be read ({error})", "mend it")
        return
    features = _get_table(values, "features")
    if False in (features.get("hooks"), features.get("codex_hooks")):
        yield HostCheck(
            host.id, "allowed", "broken", f"{config} turns hooks off", "remove hooks = false under [features]"
        )
    if (folder := get_project(host, file)) and not _is_trusted(values, folder):
        yield HostCheck(
            host.id, "project", "idle", f"Codex does not trust the project {folder} and skips its hooks",
            f"run `codex` in {folder} once and trust the folder",
        )  # fmt: skip
    states = _get_table(_get_table(values, "hooks"), "state")
    trusts = {handler.event: _read_trust(states, file, handler) for handler in handlers}
    untrusted = [event for event, state in trusts.items() if state != "trusted"]
    if not untrusted:
        yield HostCheck(host.id, "trust", "ok", "Codex has trusted these hooks; if it asks again, they have changed")
    elif "disabled" in trusts.values():
        yield HostCheck(
            host.id, "trust", "broken", f"disabled in Codex: {', '.join(untrusted)}", "open Codex, run /hooks"
        )
    else:
        says = f"Codex has not trusted these hooks and skips them ({', '.join(untrusted)})"
        yield HostCheck(host.id, "trust", "idle", says, "open Codex and run /hooks")


def _is_trusted(values: Mapping[str, Any], project: Path) -> bool:
    entries = _get_table(values, "projects")
    names = {str(project), os.path.realpath(project)}
    return any(_get_table(entries, name).get("trust_level") == "trusted" for name in names)


def _read_trust(states: Mapping[str, Any], file: Path, handler: InstalledHook) -> str:
    event = "".join("_" + letter.lower() if letter.isupper() else letter for letter in handler.event).strip("_")
    for path in (str(file), os.path.realpath(file)):  # Codex resolves links in CODEX_HOME, not in the usual folder
        state = _get_table(states, f"{path}:{event}:{handler.group}:{handler.index}")
        if state.get("enabled") is False:
            return "disabled"
        if state.get("trusted_hash"):
            return "trusted"
    return "unknown"


def _check_gemini(host: Host, file: Path, root: Node, handlers: Sequence[InstalledHook]) -> Iterator[HostCheck]:
    config = root.get_value("hooksConfig")
    plain: object = config.to_plain() if config else None
    values: dict[str, Any] = plain if is_object(plain) else {}
    if values.get("enabled") is False:
        says = f"{file} turns hooks off"
        yield HostCheck(host.id, "allowed", "broken", says, "remove enabled = false under hooksConfig")
    disabled: object = values.get("disabled")
    if is_list(disabled) and any(handler.node.value in disabled for handler in handlers):
        yield HostCheck(
            host.id, "allowed", "broken", f"{file} disables our hooks by name", "enable them: /hooks in Gemini"
        )


def _read_values(file: Path, project: Path | None = None) -> dict[str, Any]:
    """A settings file as values, read with the project that brought it, if one did; empty where it cannot be used."""
    try:
        root = jsonc.parse_jsonc(foreign.read(file, MOST_BYTES, project).decode())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], root.to_plain())


def _get_table(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    table: object = values.get(key)
    return table if is_object(table) else {}
