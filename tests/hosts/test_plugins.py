"""The hook in a host's own plugin format: it has what the format asks for, and does alone what hooks do."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula
from installing import install, settings_of

Json = dict[str, Any]
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
VERSION = re.compile(r"\d+\.\d+\.\d+")


def build(host: str, folder: Path) -> None:
    """Write the plugin of a host; it fails where the command does."""
    ran = run_insula("plugin", "build", host, folder)
    assert ran.status == 0, ran.err


def read(folder: Path, path: str) -> Json:
    return json.loads((folder / path).read_text("utf-8"))


pytestmark = pytest.mark.usefixtures("user")


def test_claude_code_finds_a_marketplace_and_in_it_the_plugin(tmp_path: Path) -> None:
    build("claude-code", tmp_path / "out")
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
    build("gemini", tmp_path / "out")
    extension = read(tmp_path / "out", "gemini-extension.json")
    assert NAME.fullmatch(extension["name"])
    assert VERSION.match(extension["version"])


@pytest.mark.parametrize(("host", "root"), [("claude-code", "CLAUDE_PLUGIN_ROOT"), ("gemini", "extensionPath")])
def test_a_plugin_has_the_events_of_the_settings_and_no_path_of_this_machine(
    host: str, root: str, tmp_path: Path
) -> None:
    build(host, tmp_path / "out")
    install(host)
    (written,) = (tmp_path / "out").rglob("hooks.json")
    hooks, installed = (
        read(written.parent, written.name)["hooks"],
        read(settings_of(host).parent, "settings.json")["hooks"],
    )
    assert list(hooks) == list(installed)
    for event, (group,) in hooks.items():
        ((handler,), (known,)) = group["hooks"], installed[event][0]["hooks"]
        assert (group.get("matcher"), handler["timeout"]) == (installed[event][0].get("matcher"), known["timeout"])
        assert handler["command"].startswith(f'python3 -I -S "${{{root}}}/hook/run.py" {host} ')
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize("named", ["x", "./x", "../project/x"])
def test_a_relative_home_which_a_project_would_bring_is_not_the_plugins(
    named: str, tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build("gemini", tmp_path / "out")
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
    build("gemini", tmp_path / "mine")
    for taken in (tmp_path / "mine", tmp_path / "mine" / "gemini-extension.json"):
        assert "name a new folder" in run_insula("plugin", "build", "gemini", taken).err
    said = run_insula("plugin", "build", "codex", tmp_path / "codex").err
    assert "No plugin is made for Codex, only for claude-code, gemini" in said
    assert not (tmp_path / "codex").exists()


def test_the_command_says_how_to_install_what_it_wrote(tmp_path: Path) -> None:
    said = run_insula("plugin", "build", "claude-code", tmp_path / "out").out
    assert f"claude plugin marketplace add {tmp_path / 'out'} && claude plugin install insula@insula" in said
    told = run_insula("plugin", "build", "gemini", tmp_path / "other", "--json").json
    assert told["install"] == f"gemini extensions install {tmp_path / 'other'}"
