"""What a host itself lets run: hooks may be switched off in its settings, or wait for the trust of its user."""

import os
import platform
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from insula.hosts import jsonc
from insula.hosts.install import Handler
from insula.hosts.jsonc import Node
from insula.hosts.places import Host

State = Literal["ok", "warn", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    host: str
    """The host's id; empty for what concerns them all."""
    name: str
    state: State
    says: str
    remedy: str = ""


def leave(host: Host, file: Path, root: Node, handlers: Sequence[Handler]) -> Iterable[Check]:
    """Whether the host runs these hooks of ours, as far as its files tell."""
    looks: Mapping[str, Callable[[], Iterable[Check]]] = {
        "claude-code": lambda: _claude(host),
        "codex": lambda: _codex(host, file, handlers),
        "gemini": lambda: _gemini(host, file, root, handlers),
    }
    return looks[host.id]() if host.id in looks else ()


def _claude(host: Host) -> Iterator[Check]:
    managed = {
        "Darwin": Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
        "Windows": Path("C:/ProgramData/ClaudeCode/managed-settings.json"),
    }.get(platform.system(), Path("/etc/claude-code/managed-settings.json"))
    here = Path.cwd() / host.folder
    for file in (host.settings(), here / "settings.json", here / "settings.local.json", managed):
        values = _values(file)
        if values.get("disableAllHooks") is True:
            yield Check(host.id, "allowed", "broken", f"{file} disables all hooks", "remove disableAllHooks there")
        if file == managed and values.get("allowManagedHooksOnly") is True:
            remedy = "ask who manages this machine"
            yield Check(host.id, "allowed", "broken", f"{file} allows managed hooks only", remedy)


def _codex(host: Host, file: Path, handlers: Sequence[Handler]) -> Iterator[Check]:
    """Codex runs what its user has trusted, by the place and a digest of each hook."""
    config = host.settings().parent / "config.toml"
    try:
        values = tomllib.loads(config.read_text("utf-8"))
    except FileNotFoundError:
        values: dict[str, Any] = {}
    except (OSError, ValueError) as error:
        yield Check(host.id, "trust", "warn", f"{config} cannot be read ({error})", "mend it")
        return
    features = _table(values, "features")
    if False in (features.get("hooks"), features.get("codex_hooks")):
        yield Check(host.id, "allowed", "broken", f"{config} turns hooks off", "remove hooks = false under [features]")
    states = _table(_table(values, "hooks"), "state")
    found = {handler.event: _trusted(states, file, handler) for handler in handlers}
    untrusted = [event for event, state in found.items() if state != "trusted"]
    if not untrusted:
        yield Check(host.id, "trust", "ok", "Codex has trusted these hooks; if it asks again, they have changed")
    elif "disabled" in found.values():
        yield Check(host.id, "trust", "broken", f"disabled in Codex: {', '.join(untrusted)}", "open Codex, run /hooks")
    else:
        says = f"Codex has not trusted these hooks and skips them ({', '.join(untrusted)})"
        yield Check(host.id, "trust", "warn", says, "open Codex and run /hooks")


def _trusted(states: Mapping[str, Any], file: Path, handler: Handler) -> str:
    event = "".join("_" + letter.lower() if letter.isupper() else letter for letter in handler.event).strip("_")
    for path in (str(file), os.path.realpath(file)):  # Codex resolves links in CODEX_HOME, not in the usual folder
        state = _table(states, f"{path}:{event}:{handler.group}:{handler.index}")
        if state.get("enabled") is False:
            return "disabled"
        if state.get("trusted_hash"):
            return "trusted"
    return "unknown"


def _gemini(host: Host, file: Path, root: Node, handlers: Sequence[Handler]) -> Iterator[Check]:
    config = root.get("hooksConfig")
    values = cast(dict[str, Any], config.plain()) if config and config.kind == "object" else {}
    if values.get("enabled") is False:
        says = f"{file} turns hooks off"
        yield Check(host.id, "allowed", "broken", says, "remove enabled = false under hooksConfig")
    disabled: object = values.get("disabled")
    names = cast(list[object], disabled) if isinstance(disabled, list) else []
    if any(handler.node.value in names for handler in handlers):
        yield Check(host.id, "allowed", "broken", f"{file} disables our hooks by name", "enable them: /hooks in Gemini")


def _values(file: Path) -> dict[str, Any]:
    """A settings file as values; empty where it cannot be used, which is said elsewhere."""
    try:
        return cast(dict[str, Any], jsonc.parse(file.read_text("utf-8")).plain())
    except (OSError, ValueError, RecursionError):
        return {}


def _table(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    found: object = values.get(key)
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}
