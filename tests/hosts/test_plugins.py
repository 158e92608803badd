"""The hook in a host's own plugin format: it has what the format asks for, and does alone what hooks do."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from insula.cli.main import app
from insula.coding.hosts import places, plugins
from insula.coding.hosts.plugins import FORMS
from insula.errors import InputError

Json = dict[str, Any]
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
VERSION = re.compile(r"\d+\.\d+\.\d+")


def read(folder: Path, path: str) -> Json:
    return json.loads((folder / path).read_text("utf-8"))


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("INSULA_HOME")
    return tmp_path / "user"


def test_claude_code_finds_a_marketplace_and_in_it_the_plugin(tmp_path: Path) -> None:
    plugins.build_plugin(places.get_host("claude-code"), tmp_path / "out")
    market = read(tmp_path / "out", ".claude-plugin/marketplace.json")
    (offered,) = market["plugins"]
    plugin = read(tmp_path / "out" / offered["source"], ".claude-plugin/plugin.json")
    assert NAME.fullmatch(market["name"])
    assert market["owner"]["name"]
    assert (plugin["name"], plugin["version"]) == (offered["name"], offered["version"])
    assert NAME.fullmatch(plugin["name"])
    assert VERSION.match(plugin["version"])
    assert "hooks" not in plugin, "hooks/hooks.json is found by itself, and named besides it would be loaded twice"


def test_gemini_finds_an_extension(tmp_path: Path) -> None:
    plugins.build_plugin(places.get_host("gemini"), tmp_path / "out")
    extension = read(tmp_path / "out", "gemini-extension.json")
    assert NAME.fullmatch(extension["name"])
    assert VERSION.match(extension["version"])


@pytest.mark.parametrize("name", FORMS)
def test_a_plugin_has_the_events_of_the_settings_and_no_path_of_this_machine(name: str, tmp_path: Path) -> None:
    host, form = places.get_host(name), FORMS[name]
    files = plugins.build_plugin(host, tmp_path / "out")
    hooks = read(tmp_path / "out", form.within + plugins.HOOKS)["hooks"]
    assert list(hooks) == [on.event for on in host.events]
    for on in host.events:
        (group,) = hooks[on.event]
        (handler,) = group["hooks"]
        assert (group.get("matcher"), handler["timeout"]) == (on.matcher, on.seconds * host.scale)
        assert handler["command"].startswith(f'python3 -I -S "{form.root}/hook/run.py" {name} ')
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in files)
    assert all(file.is_file() for file in files)


@pytest.mark.parametrize("named", ["x", "./x", "../project/x"])
def test_a_relative_home_which_a_project_would_bring_is_not_the_plugins(
    named: str, tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins.build_plugin(places.get_host("gemini"), tmp_path / "out")
    project = tmp_path / "project"
    project.mkdir()
    command = [sys.executable, "-I", "-S", str(tmp_path / "out/hook/run.py"), "gemini"]
    event = b'{"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/"}'
    env = {"HOME": str(user), "INSULA_HOME": named}
    subprocess.run(command, input=event, env=env, cwd=project, check=True)
    assert not list(project.iterdir()) and (user / ".insula").exists()
    subprocess.run(command, input=event, env={**env, "INSULA_HOME": "~/moved"}, cwd=project, check=True)
    assert not list(project.iterdir()) and (user / "moved").exists()


def test_nothing_is_overwritten_and_an_unknown_host_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    plugins.build_plugin(places.get_host("gemini"), tmp_path / "mine")
    for taken in (tmp_path / "mine", tmp_path / "mine" / "gemini-extension.json"):
        with pytest.raises(InputError, match="name a new folder"):
            plugins.build_plugin(places.get_host("gemini"), taken)
    with pytest.raises(InputError, match="No plugin is made for Codex, only for claude-code, gemini"):
        plugins.build_plugin(places.get_host("codex"), tmp_path / "codex")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name not in {"home", "user"}) == ["mine"]


def test_the_command_says_how_to_install_what_it_wrote(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["plugin", "build", "claude-code", str(tmp_path / "out")])
    assert said.exit_code == 0
    assert f"claude plugin marketplace add {tmp_path / 'out'} && claude plugin install insula@insula" in said.output
    told = CliRunner().invoke(app, ["plugin", "build", "gemini", str(tmp_path / "other"), "--json"])
    assert json.loads(told.output)["install"] == f"gemini extensions install {tmp_path / 'other'}"
