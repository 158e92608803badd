"""The doctor finds what a hook cannot say, and leaves no trace of having looked."""

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import run_insula
from installing import examine, found, install, settings_of, troubles

pytestmark = pytest.mark.usefixtures("user")


def trust(project: Path | None = None) -> None:
    """What Codex writes when its user trusts the hooks."""
    file = settings_of("codex", project)
    events = "session_start user_prompt_submit pre_tool_use subagent_start post_tool_use stop session_end"
    text = "".join(f'[hooks.state."{file}:{event}:0:0"]\ntrusted_hash = "sha256:x"\n' for event in events.split(" "))
    (settings_of("codex").parent / "config.toml").write_text(text)


@pytest.mark.usefixtures("each_tried")
@pytest.mark.parametrize("name", ["codex", "opencode"])
def test_a_fresh_installation_is_well_and_the_trial_leaves_no_trace(name: str, home: Path) -> None:
    install(name)
    if name == "codex":
        trust()
    before = {path for path in home.rglob("*") if "__pycache__" not in path.parts}
    checks = examine()
    assert troubles(checks) == {}
    assert "speaks after similar errors" in found("command", checks)[0].says
    left = {path for path in home.rglob("*") if "__pycache__" not in path.parts} - before
    assert left <= {home / "sessions"}
    if name == "codex":
        assert troubles(examine()) == troubles(checks), "and nothing is left that the next trial would meet"


def test_it_says_of_each_sense_in_a_line_whether_it_is_on_and_why() -> None:
    def senses() -> dict[str, str]:
        return {check.name: check.says for check in examine() if check.says.startswith(("on: ", "off: "))}

    install("codex")
    told = senses()
    assert len(told) == 9
    counted = r"\(\d+ of \d+ notes useful, \d+ false; "
    assert re.match(f"on: fails again and again {counted}below the bar; on: ", told["nociception"])
    assert told["spatial"] == "off: a changed file that many import (no note judged)"
    assert told["o2"].startswith("off: the context fills fast (") and told["o2"].endswith("; too few to decide)")
    run_insula("on", "o2")
    run_insula("off", "bypass")
    switched = senses()
    assert switched["o2"] == "on" + told["o2"].removeprefix("off").replace("too few to decide", "switched by you")
    assert re.fullmatch(rf"off: goes round a check {counted}switched by you\)", switched["bypass"])


def lib(home: Path) -> Path:
    """The one copy of the code that hooks run."""
    (folder,) = (home / "hook").glob("lib-*")
    return folder


def lose_all(home: Path) -> None:
    shutil.rmtree(home / "hook")


def damage_module(home: Path) -> None:
    (lib(home) / "insula/coding/step/senses/__init__.py").write_text("(")


def forbid(home: Path) -> None:
    home.chmod(0o500)


@pytest.mark.parametrize(
    ("damage", "name", "said"),
    [
        (lose_all, "code", "run.py is missing"),
        (damage_module, "code", "is damaged"),
        (forbid, "folder", "cannot be written"),
    ],
)
def test_a_broken_installation_is_found(damage: Callable[[Path], None], name: str, said: str, home: Path) -> None:
    install("claude-code")
    damage(home)
    try:
        check = found(name, examine())[0]
    finally:
        home.chmod(0o700)
    assert check.state == "broken" and said in check.says and check.remedy


def test_code_of_another_version_is_found(home: Path) -> None:
    install("claude-code")
    run, other = home / "hook/run.py", "lib-0123456789abcdef"
    run.write_text(run.read_text().replace(lib(home).name, other))
    lib(home).rename(home / "hook" / other)
    assert "another version" in troubles(examine())["code"]


def test_what_others_may_read_is_found(home: Path) -> None:
    install("claude-code")
    (home / "hook.json").chmod(0o644)
    check = found("folder", examine())[0]
    assert check.state == "warn" and "hook.json" in check.says and "chmod" in check.remedy


def test_a_settings_file_that_broke_is_found() -> None:
    install("claude-code")
    file = settings_of("claude-code")
    text = file.read_text()
    file.write_text(text + "}")
    check = found("settings", examine())[0]
    assert check.state == "broken" and "line" in check.says
    file.write_text(text.replace("PostToolUseFailure", "PostToolUseX"))
    check = found("settings", examine())[0]
    assert check.state == "broken" and "lacks PostToolUseFailure" in check.says
    file.write_text("{}")
    assert "no hook" in found("settings", examine())[0].says


@pytest.mark.parametrize("name", ["claude-code", "opencode"])
def test_hooks_that_the_record_does_not_know_are_named_and_not_tried_until_they_are_installed_again(
    name: str, home: Path
) -> None:
    """As those of an earlier version, whose record has no command, and those whose record was lost."""
    install(name)
    record = json.loads((home / "installed.json").read_text())
    for one in record["files"].values():
        del one["command"]
    written = settings_of(name).read_bytes()
    for lost in (json.dumps(record), "{}"):
        (home / "installed.json").write_text(lost)
        check = found("foreign", examine())[0]
        assert check.state == "warn" and "did not install and does not run" in check.says
        assert f"insula install {name}" in check.remedy
        install(name)
        assert settings_of(name).read_bytes() == written
        checks = examine()
        assert not found("foreign", checks) and found("command", checks)[0].state == "ok"


def test_every_switch_is_seen(home: Path, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install("claude-code")
    (user / "project/.git").mkdir()
    run_insula("off", "--project")
    assert "switched off in" in troubles(examine())["switch"]
    run_insula("off")
    assert found("switch", examine())[0].remedy == "insula on"
    run_insula("on")
    run_insula("on", "--project")
    monkeypatch.setenv("INSULA_OFF", "1")
    checks = examine()
    assert "INSULA_OFF" in troubles(checks)["switch"]
    assert found("command", checks)[0].state == "ok"


def test_failures_are_counted_by_kind_and_host(home: Path) -> None:
    install("claude-code")
    now = int(time.time())
    failed = [
        *[{"v": 1, "t": now, "host": "claude-code", "kind": "OSError"}] * 3,
        {"v": 1, "t": now, "host": "codex", "kind": "KeyError"},
        {"v": 1, "t": now - 8 * 86400, "host": "claude-code", "kind": "Old"},
    ]
    (home / "failures.jsonl").write_text("\n".join(["cut sh", "[1]", '{"t": "x"}', *map(json.dumps, failed)]))
    said = [check.says for check in found("failures", examine())]
    assert [text.split(" in ")[0] for text in said] == ["3 × OSError of Claude Code", "1 × KeyError of Codex"]
    assert len(found("failures", examine("claude-code"))) == 1


def test_what_was_no_event_asks_for_no_new_install(home: Path) -> None:
    install("claude-code")
    failed = {"v": 1, "t": int(time.time()), "host": "claude-code", "kind": "PayloadError"}
    (home / "failures.jsonl").write_text(json.dumps(failed))
    (check,) = found("failures", examine())
    assert (check.state, "install" in check.remedy) == ("warn", False)


def test_hooks_of_another_project_are_not_well_here(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install("codex", "--project")
    (user / "project/inner").mkdir()
    monkeypatch.chdir(user / "project/inner")
    assert str(settings_of("codex", user / "project")) in found("settings", examine())[0].says
    monkeypatch.chdir(user)
    checks = examine()
    assert [(check.name, check.state) for check in checks] == [("hooks", "idle")]


def test_the_exit_status_tells_what_is_broken_from_what_does_not_run(home: Path) -> None:
    def status(*words: str) -> int:
        ran = run_insula("doctor", *words, "--json")
        assert ran.json["status"] == ran.status and ran.json["ok"] is (ran.status == 0)
        return ran.status

    assert status() == status("gemini") == run_insula("doctor").status == 2
    install("gemini")
    assert status() == 0
    run_insula("off")
    assert status() == 2
    run_insula("on")
    install("codex")
    assert (status("gemini"), status("codex"), status()) == (0, 2, 2)
    (home / "hook.json").write_text("{")
    assert status("codex") == 1


# What a host lets run.


def test_hooks_that_claude_code_does_not_run_are_found_in_the_project_that_forbids_them(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("claude-code")
    local = user / "project/.claude/settings.local.json"
    local.parent.mkdir()
    local.write_text('{"disableAllHooks": true, // for now\n}')
    assert str(local) in troubles(examine())["allowed"]
    install("claude-code", "--project")
    assert len(found("allowed", examine())) == 1
    monkeypatch.chdir(user)
    assert not found("allowed", examine())


def test_a_project_that_codex_does_not_trust_is_told_from_hooks_that_it_does_not(user: Path) -> None:
    install("codex", "--project")
    settings_of("codex").parent.mkdir()
    trust(user / "project")
    checks = examine()
    assert found("trust", checks)[0].state == "ok"
    assert found("project", checks)[0].state == "idle" and "trust the folder" in found("project", checks)[0].remedy
    config = settings_of("codex").parent / "config.toml"
    config.write_text(config.read_text() + f'[projects."{user / "project"}"]\ntrust_level = "trusted"\n')
    assert not found("project", examine())


def test_hooks_that_gemini_does_not_run_are_found() -> None:
    install("gemini")
    file = settings_of("gemini")
    text = file.read_text()
    file.write_text(text.replace("{", '{"hooksConfig": {"enabled": false},', 1))
    assert "turns hooks off" in troubles(examine())["allowed"]
    (group,) = json.loads(text)["hooks"]["AfterTool"]
    command = group["hooks"][0]["command"]
    file.write_text(text.replace("{", '{"hooksConfig": ' + json.dumps({"disabled": [command]}) + ",", 1))
    assert "by name" in troubles(examine())["allowed"]


def test_hooks_that_codex_has_not_trusted_are_a_warning_with_the_way_to_trust_them() -> None:
    install("codex")
    check = found("trust", examine())[0]
    assert check.state == "idle" and "PostToolUse" in check.says and "/hooks" in check.remedy
    trust()
    assert found("trust", examine())[0].state == "ok"
    config = settings_of("codex").parent / "config.toml"
    config.write_text(config.read_text() + "enabled = false\n")
    assert "disabled in Codex: SessionEnd" in troubles(examine())["trust"]
    config.write_text("[features]\nhooks = false")
    assert "turns hooks off" in troubles(examine())["allowed"]
    config.write_text("[features")
    assert "cannot be read" in troubles(examine())["trust"]


# Whether it runs.


def test_a_hook_that_fails_within_is_found_though_it_says_nothing(home: Path) -> None:
    install("claude-code")
    (lib(home) / "insula/coding/step/senses/__init__.py").write_text("(")
    next(lib(home).rglob("*.pyc")).unlink()
    checks = examine()
    assert "said nothing" in troubles(checks)["command"]
    assert found("failures", examine())[0].state == "warn"


# Hosts that pass over our hooks.


@pytest.mark.parametrize("name", ["copilot", "qwen"])
def test_hooks_that_are_switched_off_in_the_settings_of_their_host_are_found(name: str) -> None:
    install(name)
    file = settings_of(name)
    file.write_text(json.dumps({"disableAllHooks": True, **json.loads(file.read_text())}))
    (check,) = found("allowed", examine(name))
    assert check.state == "broken" and "disables all hooks" in check.says
