"""The doctor finds what a hook cannot say, and leaves no trace of having looked."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from insula.cli import lines
from insula.cli.main import app
from insula.coding.hosts import doctor, install, jsonc, present, records, runtime, switch, trials
from insula.coding.hosts.consent import HostCheck
from insula.coding.hosts.live import Proof
from insula.coding.hosts.places import HOSTS, Host
from insula.coding.step.senses import EVERY
from insula.coding.step.senses.register import MEASURED


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user"
    (folder / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NO_COLOR", "1")
    for host in HOSTS.values():
        monkeypatch.delenv(host.variable, raising=False)
    monkeypatch.chdir(folder / "project")
    return folder


@pytest.fixture
def house(home: Path) -> Path:
    """A folder as `insula install` would make it."""
    home.chmod(0o700)
    return home


def examine(
    host: Host | None = None, folder: Path | None = None, prove: doctor.Prover | None = None
) -> list[HostCheck]:
    return list(doctor.examine_host(host, folder, prove))


def found(name: str, checks: list[HostCheck]) -> list[HostCheck]:
    return [check for check in checks if check.name == name]


def troubles(checks: list[HostCheck]) -> dict[str, str]:
    return {check.name: check.says for check in checks if check.state != "ok"}


def trust(project: Path | None = None) -> None:
    """What Codex writes when its user trusts the hooks."""
    file = HOSTS["codex"].find_settings(project)
    text = ""
    for event in (
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "subagent_start",
        "post_tool_use",
        "stop",
        "session_end",
    ):
        text += f'[hooks.state."{file}:{event}:0:0"]\ntrusted_hash = "sha256:x"\n'
    (HOSTS["codex"].find_settings().parent / "config.toml").write_text(text)


@pytest.mark.parametrize("name", ["codex", "opencode"])
def test_a_fresh_installation_is_well_and_the_trial_leaves_no_trace(
    name: str, house: Path, attempt: Callable[..., trials.Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "try_command", attempt)
    install.install_hooks(HOSTS[name])
    if name == "codex":
        trust()
    before = {path for path in house.rglob("*") if "__pycache__" not in path.parts}
    checks = examine()
    assert troubles(checks).keys() == ({"experimental"} if HOSTS[name].unproven else set())
    assert "speaks after similar errors" in found("command", checks)[0].says
    left = {path for path in house.rglob("*") if "__pycache__" not in path.parts} - before
    assert left <= {house / "sessions"}
    if name == "codex":
        assert troubles(examine()) == troubles(checks), "and nothing is left that the next trial would meet"


def test_it_says_of_each_sense_in_a_line_whether_it_is_on_and_why(house: Path) -> None:
    def senses() -> dict[str, str]:
        return {check.name: check.says for check in examine() if check.name in EVERY}

    install.install_hooks(HOSTS["codex"])
    told = senses()
    assert told.keys() == EVERY
    assert told["nociception"].startswith("on: fails again and again (8 of 10 notes useful, 0 false; ")
    assert told["spatial"] == "off: a changed file that many import (no note judged)"
    o2 = next(row for row in MEASURED if row.sense == "o2")
    figures = f"{o2.useful} of {o2.texts} notes useful, {o2.false} false"
    assert told["o2"] == f"off: the context fills fast ({figures}; too few to decide)"
    switch.switch_sense(house, "o2", True)
    switch.switch_sense(house, "bypass", False)
    told = senses()
    assert told["o2"] == f"on: the context fills fast ({figures}; switched by you)"
    assert told["bypass"] == "off: goes round a check (no note judged; switched by you)"


def test_without_hooks_it_says_how_to_get_them() -> None:
    assert [check.state for check in examine()] == ["idle"]
    assert [(check.state, check.remedy) for check in examine(HOSTS["codex"])] == [("idle", "insula install codex")]


def lib(house: Path) -> Path:
    return house / "hook" / runtime.find_lib(house)


def lose_all(house: Path) -> None:
    shutil.rmtree(house / "hook")


def lose_code(house: Path) -> None:
    shutil.rmtree(lib(house))


def damage_module(house: Path) -> None:
    (lib(house) / "insula/coding/step/senses/__init__.py").write_text("(")


def forbid(house: Path) -> None:
    house.chmod(0o500)


@pytest.mark.parametrize(
    ("damage", "name", "said"),
    [
        (lose_all, "code", "run.py is missing"),
        (damage_module, "code", "is damaged"),
        (forbid, "folder", "cannot be written"),
    ],
)
def test_a_broken_installation_is_found(damage: Callable[[Path], None], name: str, said: str, house: Path) -> None:
    install.install_hooks(HOSTS["claude-code"])
    damage(house)
    try:
        check = found(name, examine())[0]
    finally:
        house.chmod(0o700)
    assert check.state == "broken" and said in check.says and check.remedy


def test_code_of_another_version_is_found(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["claude-code"])
    contents = {**runtime.collect_modules(), "insula/__init__.py": b"__version__ = '9'"}
    monkeypatch.setattr(runtime, "collect_modules", lambda: contents)
    assert "another version" in troubles(examine())["code"]


def test_what_others_may_read_is_found(house: Path) -> None:
    install.install_hooks(HOSTS["claude-code"])
    (house / "hook.json").chmod(0o644)
    check = found("folder", examine())[0]
    assert check.state == "warn" and "hook.json" in check.says and "chmod" in check.remedy


def test_a_full_disk_is_found(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["claude-code"])

    def full(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=2048)

    monkeypatch.setattr(shutil, "disk_usage", full)
    assert "2 KB are free" in troubles(examine())["disk"]


@pytest.mark.usefixtures("house")
def test_a_settings_file_that_broke_is_found() -> None:
    install.install_hooks(HOSTS["claude-code"])
    file = HOSTS["claude-code"].find_settings()
    text = file.read_text()
    file.write_text(text + "}")
    check = found("settings", examine())[0]
    assert check.state == "broken" and "line" in check.says
    file.write_text(text.replace("PostToolUseFailure", "PostToolUseX"))
    check = found("settings", examine())[0]
    assert check.state == "broken" and "lacks PostToolUseFailure" in check.says
    file.write_text("{}")
    assert "no hook" in found("settings", examine())[0].says


@pytest.mark.usefixtures("house")
def test_an_interpreter_that_is_gone_is_found() -> None:
    install.install_hooks(HOSTS["claude-code"])
    file = HOSTS["claude-code"].find_settings()
    file.write_text(file.read_text().replace(f"{runtime.find_interpreter()} -I", "/gone/python3 -I"))
    check = found("interpreter", examine())[0]
    assert check.state == "broken" and "/gone/python3" in check.says and check.remedy == "insula install claude-code"


@pytest.mark.parametrize("name", ["claude-code", "opencode"])
def test_hooks_that_the_record_does_not_know_are_named_and_not_tried_until_they_are_installed_again(
    name: str, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of an earlier version, whose record has no command, and those whose record was lost."""
    install.install_hooks(HOSTS[name])
    record = json.loads((house / records.FILE).read_text())
    for one in record["files"].values():
        del one["command"]
    written = HOSTS[name].find_settings().read_bytes()
    for lost in (json.dumps(record), "{}"):
        (house / records.FILE).write_text(lost)
        with monkeypatch.context() as patched:
            patched.setattr(trials, "try_command", None)
            patched.setattr(trials, "read_version", None)
            check = found("foreign", examine())[0]
        assert check.state == "warn" and "did not install and does not run" in check.says
        assert f"insula install {name}" in check.remedy
        install.install_hooks(HOSTS[name])
        assert HOSTS[name].find_settings().read_bytes() == written
        assert not found("foreign", examine()) and found("command", examine())[0].state == "ok"


@pytest.mark.usefixtures("house")
def test_other_hooks_in_a_persons_own_settings_are_nobodys_business() -> None:
    file = HOSTS["gemini"].find_settings()
    file.parent.mkdir()
    theirs = {"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "prettier --write ."}]}]}}
    file.write_text(json.dumps(theirs))
    install.install_hooks(HOSTS["gemini"])
    assert not troubles(examine())
    assert not found("foreign", examine())


@pytest.mark.usefixtures("house")
def test_a_home_that_is_reached_by_a_link_has_the_same_hooks(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INSULA_HOME")
    install.install_hooks(HOSTS["gemini"])
    (user.parent / "link").symlink_to(user)
    monkeypatch.setenv("HOME", str(user.parent / "link"))
    assert not troubles(examine())
    assert found("command", examine())[0].state == "ok"


@pytest.mark.usefixtures("house")
def test_hooks_that_are_installed_twice_are_a_warning(user: Path) -> None:
    install.install_hooks(HOSTS["claude-code"])
    install.install_hooks(HOSTS["claude-code"], user / "project")
    check = found("twice", examine())[0]
    assert check.state == "warn" and "2 settings files" in check.says


def test_every_switch_is_seen(house: Path, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["claude-code"])
    (user / "project/.git").mkdir()
    CliRunner().invoke(app, ["off", "--project"])
    assert "switched off in" in troubles(examine())["switch"]
    CliRunner().invoke(app, ["off"])
    assert found("switch", examine())[0].remedy == "insula on"
    CliRunner().invoke(app, ["on"])
    CliRunner().invoke(app, ["on", "--project"])
    monkeypatch.setenv("INSULA_OFF", "1")
    checks = examine()
    assert "INSULA_OFF" in troubles(checks)["switch"]
    assert found("command", checks)[0].state == "ok"


def test_failures_are_counted_by_kind_and_host(house: Path) -> None:
    install.install_hooks(HOSTS["claude-code"])
    now = int(time.time())
    lines = [
        *[{"v": 1, "t": now, "host": "claude-code", "kind": "OSError"}] * 3,
        {"v": 1, "t": now, "host": "codex", "kind": "KeyError"},
        {"v": 1, "t": now - 8 * 86400, "host": "claude-code", "kind": "Old"},
    ]
    (house / "failures.jsonl").write_text("\n".join(["cut sh", "[1]", '{"t": "x"}', *map(json.dumps, lines)]))
    said = [check.says for check in found("failures", examine())]
    assert [text.split(" in ")[0] for text in said] == ["1 × KeyError of Codex", "3 × OSError"]
    assert len(found("failures", examine(HOSTS["claude-code"]))) == 1


def test_each_host_has_one_section_and_what_is_of_none_comes_first(house: Path) -> None:
    for name in ("claude-code", "gemini"):
        install.install_hooks(HOSTS[name])
    failed = [
        {"t": int(time.time()), "host": host, "kind": "OSError"} for host in ("gemini", "nohost", "claude-code", "")
    ]
    (house / "failures.jsonl").write_text("\n".join(map(json.dumps, failed)))
    headings = [*dict.fromkeys(check.host for check in examine())]
    assert headings == ["", "claude-code", "gemini"]
    said = CliRunner().invoke(app, ["doctor"]).output
    assert [line for line in said.splitlines() if line and line[0].isalpha()] == ["Claude Code", "Gemini CLI"]
    assert "1 × OSError of 'nohost' in 7 days" in said
    assert "1 × OSError in 7 days" in said


@pytest.mark.usefixtures("house")
def test_what_other_projects_have_stands_before_the_hosts(user: Path) -> None:
    install.install_hooks(HOSTS["codex"], user / "project")
    install.install_hooks(HOSTS["claude-code"])
    names = [(check.host, check.name) for check in examine(folder=user)]
    assert names.index(("", "elsewhere")) < min(i for i, (host, _) in enumerate(names) if host)
    checks = examine(HOSTS["codex"], user)
    assert [(check.host, check.name) for check in checks] == [("codex", "hooks"), ("codex", "elsewhere")]


def test_every_remedy_that_installs_names_what_to_install(house: Path, user: Path) -> None:
    install.install_hooks(HOSTS["gemini"], user / "project")
    lose_code(house)
    assert found("code", examine())[0].remedy == "run insula install gemini --project again"
    failed = [{"t": int(time.time()), "host": host, "kind": "OSError"} for host in ("gemini", "nohost")]
    (house / "failures.jsonl").write_text("\n".join(map(json.dumps, failed)))
    remedies = [check.remedy for check in found("failures", examine())]
    assert all("run insula install gemini --project again" in remedy for remedy in remedies)
    install.install_hooks(HOSTS["gemini"])
    shutil.rmtree(house / "hook")
    assert found("code", examine())[0].remedy == "run insula install gemini again"


def test_a_file_of_failures_that_was_full_still_counts(house: Path) -> None:
    install.install_hooks(HOSTS["codex"])
    line = json.dumps({"v": 1, "t": int(time.time()), "host": "codex", "kind": "OSError"}) + "\n"
    (house / "failures.1.jsonl").write_text(line * 2)
    (house / "failures.jsonl").write_text(line)
    assert found("failures", examine())[0].says.startswith("3 × OSError")


def test_a_trial_that_was_ended_half_way_is_swept_up(house: Path) -> None:
    install.install_hooks(HOSTS["codex"])
    sessions = [house / "sessions" / f"{doctor.TRIAL}{name}" for name in ("old", "new")]
    for session in (*sessions, house / "sessions/theirs"):
        session.mkdir(parents=True)
    os.utime(sessions[0], (0, time.time() - 2 * doctor.LEFT))
    os.utime(house / "sessions/theirs", (0, 0))
    examine()
    assert {path.name for path in (house / "sessions").iterdir()} == {sessions[1].name, "theirs"}


def test_a_switch_that_cannot_be_read_is_found(house: Path) -> None:
    install.install_hooks(HOSTS["codex"])
    (house / "hook.json").write_text("{")
    check = found("switch", examine())[0]
    assert check.state == "broken" and "cannot be read" in check.says
    assert check.remedy == "run insula on or insula off"


@pytest.mark.usefixtures("house")
def test_hooks_of_another_project_are_not_well_here(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["codex"], user / "project")
    (user / "project/inner").mkdir()
    assert (
        str(HOSTS["codex"].find_settings(user / "project"))
        in found("settings", examine(None, user / "project/inner"))[0].says
    )
    monkeypatch.chdir(user)
    checks = examine()
    assert [(check.name, check.state) for check in checks] == [("hooks", "idle"), ("elsewhere", "note")]
    assert str(HOSTS["codex"].find_settings(user / "project")) in checks[1].says


def test_the_exit_status_tells_what_is_broken_from_what_does_not_run(house: Path) -> None:
    def status(*words: str) -> int:
        result = CliRunner().invoke(app, ["doctor", "--json", *words])
        report = json.loads(result.output)
        assert report["status"] == result.exit_code and report["ok"] is (result.exit_code == 0)
        return result.exit_code

    assert status() == status("gemini") == CliRunner().invoke(app, ["doctor"]).exit_code == 2
    install.install_hooks(HOSTS["gemini"])
    assert status() == 0
    CliRunner().invoke(app, ["off"])
    assert status() == 2
    CliRunner().invoke(app, ["on"])
    install.install_hooks(HOSTS["codex"])
    assert (status("gemini"), status("codex"), status()) == (0, 2, 2)
    (house / "hook.json").write_text("{")
    assert status("codex") == 1


@pytest.mark.usefixtures("house")
def test_lines_for_a_program_are_whole_and_on_a_terminal_no_path_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["gemini"])
    path = str(HOSTS["gemini"].find_settings())
    assert f"settings      5 events in {path}\n" in CliRunner().invoke(app, ["doctor"]).output
    monkeypatch.setattr(lines, "terminal_width", lambda: 40)
    assert f"5 events in\n                {path}\n" in CliRunner().invoke(app, ["doctor"]).output


# What a host lets run.


@pytest.mark.usefixtures("house")
def test_hooks_that_claude_code_does_not_run_are_found(user: Path) -> None:
    install.install_hooks(HOSTS["claude-code"])
    local = user / "project/.claude/settings.local.json"
    local.parent.mkdir()
    local.write_text('{"disableAllHooks": true, // for now\n}')
    assert str(local) in troubles(examine())["allowed"]
    install.install_hooks(HOSTS["claude-code"], user / "project")
    assert len(found("allowed", examine())) == 1


@pytest.mark.usefixtures("house")
def test_what_a_project_forbids_is_looked_up_in_that_project(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["claude-code"])
    local = user / "project/.claude/settings.local.json"
    local.parent.mkdir()
    local.write_text('{"disableAllHooks": true}')
    monkeypatch.chdir(user)
    assert not found("allowed", examine())
    assert found("allowed", examine(None, user / "project"))


@pytest.mark.usefixtures("house")
def test_a_project_that_codex_does_not_trust_is_told_from_hooks_that_it_does_not(user: Path) -> None:
    install.install_hooks(HOSTS["codex"], user / "project")
    HOSTS["codex"].find_settings().parent.mkdir()
    trust(user / "project")
    checks = examine()
    assert found("trust", checks)[0].state == "ok"
    assert found("project", checks)[0].state == "idle" and "trust the folder" in found("project", checks)[0].remedy
    config = HOSTS["codex"].find_settings().parent / "config.toml"
    config.write_text(config.read_text() + f'[projects."{user / "project"}"]\ntrust_level = "trusted"\n')
    assert not found("project", examine())


@pytest.mark.usefixtures("house")
def test_hooks_that_are_not_there_are_not_said_to_be_trusted() -> None:
    install.install_hooks(HOSTS["codex"])
    HOSTS["codex"].find_settings().write_text("{}")
    assert not found("trust", examine())


@pytest.mark.usefixtures("house")
def test_hooks_that_gemini_does_not_run_are_found() -> None:
    install.install_hooks(HOSTS["gemini"])
    file = HOSTS["gemini"].find_settings()
    text = file.read_text()
    file.write_text(text.replace("{", '{"hooksConfig": {"enabled": false},', 1))
    assert "turns hooks off" in troubles(examine())["allowed"]
    root = jsonc.parse_jsonc(text)
    command = next(present.list_our_hooks(root, HOSTS["gemini"], Path(os.environ["INSULA_HOME"]))).node.value
    file.write_text(text.replace("{", '{"hooksConfig": ' + json.dumps({"disabled": [command]}) + ",", 1))
    assert "by name" in troubles(examine())["allowed"]


@pytest.mark.usefixtures("house")
def test_hooks_that_codex_has_not_trusted_are_a_warning_with_the_way_to_trust_them() -> None:
    install.install_hooks(HOSTS["codex"])
    check = found("trust", examine())[0]
    assert check.state == "idle" and "PostToolUse" in check.says and "/hooks" in check.remedy
    trust()
    assert found("trust", examine())[0].state == "ok"
    config = HOSTS["codex"].find_settings().parent / "config.toml"
    config.write_text(config.read_text() + "enabled = false\n")
    assert "disabled in Codex: SessionEnd" in troubles(examine())["trust"]
    config.write_text("[features]\nhooks = false")
    assert "turns hooks off" in troubles(examine())["allowed"]
    config.write_text("[features")
    assert "cannot be read" in troubles(examine())["trust"]


@pytest.mark.usefixtures("house")
def test_the_trust_of_codex_is_by_the_place_of_a_hook() -> None:
    theirs = {"hooks": [{"type": "command", "command": "theirs"}]}
    file = HOSTS["codex"].find_settings()
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"Stop": [theirs]}}))
    install.install_hooks(HOSTS["codex"])
    trust()  # which trusts the first hook of each event: theirs
    assert found("trust", examine())[0].says.endswith("(Stop)")


# Whether it runs.


def answer(text: str, event: str = "PostToolUse") -> trials.HookRun:
    value = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return trials.HookRun("PostToolUse", 0, json.dumps(value).encode(), 0.01)


QUIET = trials.HookRun("PostToolUse", 0, b"", 0.01)


@pytest.mark.parametrize(
    ("healthy", "failing", "said"),
    [
        ([QUIET], [QUIET, answer("a note")], ""),
        ([answer("a note")], [answer("a note")], "though nothing was wrong"),
        ([QUIET], [QUIET], "said nothing"),
        ([QUIET], [answer("")], "not the form"),
        ([QUIET], [answer("a note", "Stop")], "not the form"),
        ([QUIET], [trials.HookRun("PostToolUse", 0, b"a note", 0.01)], "not the form"),
        ([QUIET], [trials.HookRun("PostToolUse", 0, b'{"systemMessage": "a note"}', 0.01)], "not the form"),
        ([QUIET], [answer("x" * 3000)], "more than 2000"),
        ([trials.HookRun("PostToolUse", 2, b"", 0.01)], [answer("a note")], "ended with 2"),
    ],
)
def test_an_answer_that_its_host_would_not_take_is_found(
    healthy: list[trials.HookRun], failing: list[trials.HookRun], said: str
) -> None:
    trial = trials.Trial(healthy, failing + [QUIET] * 4)
    check = doctor._judge_trial(HOSTS["codex"], trial)  # pyright: ignore[reportPrivateUsage]
    assert (check.state, said in check.says) == ("broken" if said else "ok", True)


def test_a_hook_that_fails_within_is_found_though_it_says_nothing(house: Path) -> None:
    install.install_hooks(HOSTS["claude-code"])
    (lib(house) / "insula/coding/step/senses/__init__.py").write_text("(")
    next(lib(house).rglob("*.pyc")).unlink()
    checks = examine()
    assert "said nothing" in troubles(checks)["command"]
    assert found("failures", examine())[0].state == "warn"


@pytest.mark.usefixtures("house")
def test_the_real_client_is_asked_only_where_there_is_one(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install.install_hooks(HOSTS["claude-code"])
    monkeypatch.setenv("PATH", f"{user / 'bin'}:/usr/bin:/bin")
    asked: list[tuple[str, Path]] = []

    def prove(name: str, client: Path) -> Proof:
        asked.append((name, client))
        return Proof(reached=len(asked) == 1, reason="the reason")

    checks = examine(prove=prove)
    assert "not on PATH" in troubles(checks)["live"]
    assert doctor.summarize_checks(checks) == 1  # a proof was asked for, and there is none
    (user / "bin").mkdir()
    (user / "bin/claude").write_text("#!/bin/sh\n")
    (user / "bin/claude").chmod(0o755)
    assert [found("live", examine(prove=prove))[0].state for _ in range(2)] == ["ok", "broken"]
    assert asked[0] == ("claude-code", user / "bin/claude")
    asked.clear()
    settings = HOSTS["claude-code"].find_settings()
    settings.write_text(settings.read_text().replace("{", '{"disableAllHooks": true,', 1))
    assert found("live", examine(prove=prove))[0].says.startswith("in an empty home")


@pytest.mark.usefixtures("house")
@pytest.mark.parametrize("path", [".", "", "bin/../."])
def test_a_client_that_the_working_folder_brought_is_not_run(
    path: str, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install.install_hooks(HOSTS["claude-code"])
    (user / "project/claude").write_text("#!/bin/sh\n")
    (user / "project/claude").chmod(0o755)
    (user / "project/bin").mkdir()
    monkeypatch.setenv("PATH", f"{path}:/usr/bin:/bin")

    def prove(name: str, client: Path) -> Proof:
        raise AssertionError((name, client))

    assert "not on PATH" in troubles(examine(prove=prove))["live"]


def test_the_payloads_of_a_trial_are_those_of_each_host() -> None:
    for host in HOSTS.values():
        healthy, failing = trials.fill_payloads(host, "session", "/folder")
        events = {on.event for on in host.events}
        assert {trials.name_event(host, one) for one in (*healthy, *failing)} <= events
        assert len({json.dumps(one) for one in failing}) == trials.ERRORS
