"""What the doctor says of hosts that read each other's settings, or pass over ours."""

import json
from pathlib import Path

import pytest

from insula.coding.hosts import doctor, install
from insula.coding.hosts.consent import HostCheck
from insula.coding.hosts.places import HOSTS


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user"
    (folder / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for host in HOSTS.values():
        monkeypatch.delenv(host.variable, raising=False)
    monkeypatch.chdir(folder / "project")
    return folder


def found(host: str, name: str) -> list[HostCheck]:
    return [check for check in doctor.examine_host(HOSTS[host]) if check.name == name]


def test_copilot_and_cursor_run_the_hooks_of_claude_code_too_and_the_doctor_says_that_ours_are_silent(
    user: Path,
) -> None:
    for name in ("copilot", "cursor"):
        install.install_hooks(HOSTS[name])
        assert not found(name, "shared")
    install.install_hooks(HOSTS["claude-code"], user / "project")
    (check,) = found("copilot", "shared")
    assert check.state == "ok" and "settings.local.json; those of Insula are silent" in check.says
    install.install_hooks(HOSTS["claude-code"])
    assert len(found("cursor", "shared")) == 1


def test_a_file_that_makes_droid_pass_over_our_hooks_is_a_warning() -> None:
    install.install_hooks(HOSTS["droid"])
    assert not found("droid", "allowed")
    HOSTS["droid"].find_settings().with_name("hooks.json").write_text("{}")
    (check,) = found("droid", "allowed")
    assert check.state == "warn" and "hooks.json" in check.says and check.remedy


@pytest.mark.parametrize("name", ["copilot", "qwen"])
def test_hooks_that_are_switched_off_in_the_settings_of_their_host_are_found(name: str) -> None:
    install.install_hooks(HOSTS[name])
    file = HOSTS[name].find_settings()
    file.write_text(json.dumps({"disableAllHooks": True, **json.loads(file.read_text())}))
    (check,) = found(name, "allowed")
    assert check.state == "broken" and "disables all hooks" in check.says


def test_a_file_of_another_name_that_a_script_needs_is_missed_by_name() -> None:
    install.install_hooks(HOSTS["cline"])
    file = HOSTS["cline"].find_settings()
    file.with_name("UserPromptSubmit").unlink()
    (check,) = found("cline", "settings")
    assert check.state == "broken" and "lacks UserPromptSubmit" in check.says
