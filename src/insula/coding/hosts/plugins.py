"""The hook as a plugin in a host's own format: a folder that the host installs, with the hook's code in it.

Events, matchers and timeouts are those of `places`; the code is what `insula install` copies. A plugin keeps what it
observes where every hook does, so that it and an installed hook beside it count a call once.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import insula
from insula.coding.hosts import runtime
from insula.coding.hosts.places import Host
from insula.errors import InputError, SettingsError

NAME = "insula"
ABOUT = "Notices when the agent goes round in circles, fails alike again and again or goes round a check, and says so."
RUN = "hook/run.py"
HOOKS = "hooks/hooks.json"
README = f"""# Insula

{ABOUT}

It follows what the agent does by its hooks, turn by turn, and says nothing to a session in which nothing goes wrong.
It needs Python 3.11 or newer as `python3`, and nothing else. What it observes stays on this machine, in `~/.insula`;
nothing is sent. `INSULA_OFF=1` switches it off. It does no harm beside hooks that `insula install` has put into the
settings.
"""
PYTHON = "python3"
"""By its name, as a plugin may be installed on another machine than it was built on."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a host has its plugins."""

    root: str
    """What the host puts the plugin's folder for in a command."""
    within: str
    """Where the plugin lies in the folder; empty for the folder itself."""
    manifests: Callable[[str], Mapping[str, object]]
    """The host's own files, by their path, for a version."""
    install: str
    """How a person installs it from the folder."""


def _make_claude_files(version: str) -> Mapping[str, object]:
    about = {"name": NAME, "description": ABOUT, "version": version, "author": {"name": "Insula"}}
    offered = {**about, "source": f"./{NAME}", "category": "productivity"}
    market = {"name": NAME, "owner": {"name": "Insula"}, "description": ABOUT, "plugins": [offered]}
    return {
        ".claude-plugin/marketplace.json": market,
        f"{NAME}/.claude-plugin/plugin.json": {**about, "license": "Apache-2.0"},
    }


def _make_gemini_files(version: str) -> Mapping[str, object]:
    return {"gemini-extension.json": {"name": NAME, "version": version, "description": ABOUT}}


FORMS: Mapping[str, Form] = {
    "claude-code": Form(
        root="${CLAUDE_PLUGIN_ROOT}",
        within=f"{NAME}/",
        manifests=_make_claude_files,
        install=f"claude plugin marketplace add {{folder}} && claude plugin install {NAME}@{NAME}",
    ),
    "gemini": Form(
        root="${extensionPath}", within="", manifests=_make_gemini_files, install="gemini extensions install {folder}"
    ),
}


def get_form(host: Host) -> Form:
    """How that host has its plugins.

    Raises:
        InputError: none is made for it.
    """
    if host.id not in FORMS:
        raise InputError(
            f"No plugin is made for {host.name}, only for {', '.join(FORMS)}; use insula install {host.id}."
        )
    return FORMS[host.id]


def render_plugin(host: Host) -> Mapping[str, bytes]:
    """The files of the plugin, by their path.

    Raises:
        InputError: none is made for that host.
        SettingsError: a part of the hook's code is missing.
    """
    made = get_form(host)
    code = runtime.collect_modules()
    lib = runtime.name_lib(code)
    command = f'{PYTHON} -I -S "{made.root}/{RUN}" {host.id} || true'
    hooks = {"hooks": {on.event: [host.entry(on, command, host.scale)] for on in host.events}}
    return {
        **{path: _dump_json(value) for path, value in made.manifests(insula.__version__).items()},
        made.within + "README.md": README.encode(),
        made.within + HOOKS: _dump_json(hooks),
        made.within + RUN: runtime.render_runner(lib, shared=True),
        **{f"{made.within}hook/{lib}/{path}": data for path, data in code.items()},
    }


def build_plugin(host: Host, folder: Path) -> tuple[Path, ...]:
    """Write the plugin to a folder that is not there yet, or empty; returns its files.

    Raises:
        InputError: no plugin is made for that host, or the folder holds something.
        SettingsError: it cannot be written.
    """
    folder = folder.expanduser().absolute()
    files = {folder / path: data for path, data in render_plugin(host).items()}
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError(f"{str(folder)!r} is not empty, and nothing is overwritten; name a new folder.")
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise SettingsError(f"{str(folder)!r} cannot be written ({error.strerror}); make room or allow it.") from error
    return tuple(files)


def _dump_json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()
