"""Installing must be as safe as not installing: what is not ours is never touched, and all can be taken back."""

import contextlib
import json
import re
import shutil
import stat
from pathlib import Path

import pytest
from harness import spawn_insula
from installing import GUARD_SECONDS, SETTINGS, VARIABLES, insula, settings_of

NAMES = sorted(SETTINGS)
KEPT = 10
"""Copies of settings that are kept."""
WRITTEN = """\
{
\t// the model that I like
\t"model": "opus", // best
\t"env": {"TOKEN": "x"}, /* keep */
\t"hooks": {
\t\t"Stop": [
\t\t\t{"hooks": [{"type": "command", "command": "node /opt/insula/hook.js"}]}, // mine
\t\t],
\t\t"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}],
\t},
}
"""


pytestmark = pytest.mark.usefixtures("user")


def settings(name: str, text: str | bytes = WRITTEN) -> Path:
    file = settings_of(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def ours(file: Path, home: Path) -> list[str]:
    """The commands of ours in a settings file, which may hold comments."""
    return re.findall(rf'"[^"\n]* -I -S [^"\n]*{re.escape(str(home))}/hook/run\.py [^"\n]*"', file.read_text())


# The settings file.


@pytest.mark.parametrize("name", ["claude-code", "copilot", "cursor", "cline", "opencode"])
@pytest.mark.parametrize("where", [[], ["--project"]])
def test_what_was_not_there_is_gone_again_with_its_folders(name: str, where: list[str], user: Path) -> None:
    before = sorted(user.rglob("*"))
    assert insula("install", name, *where)[0] == 0
    written = [path for path in user.rglob("*") if path.is_file()]
    assert written
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o700 if name == "cline" else 0o600}
    assert insula("uninstall", name, *where)[0] == 0
    assert sorted(user.rglob("*")) == before


def test_a_byte_order_mark_and_the_ends_of_lines_survive() -> None:
    file = settings("gemini", "\ufeff" + WRITTEN.replace("\n", "\r\n"))
    insula("install", "gemini")
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf{\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_timeouts_have_the_unit_of_their_host() -> None:
    def timeouts(name: str) -> dict[str, int]:
        insula("install", name)
        hooks = json.loads(settings_of(name).read_text())["hooks"]
        return {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()}

    assert timeouts("claude-code")["PostToolUse"] == 5
    assert timeouts("gemini")["AfterTool"] == 5000
    assert timeouts("codex")["SessionEnd"] == 1  # Codex clamps it


def test_a_host_that_wants_a_version_in_its_file_gets_one_there() -> None:
    for name in ("copilot", "cursor"):
        insula("install", name)
        assert json.loads(settings_of(name).read_text())["version"] == 1
    hook = json.loads(settings_of("copilot").read_text())["hooks"]["postToolUse"][0]
    assert (hook["type"], hook["timeoutSec"]) == ("command", 5)
    assert hook["bash"].endswith("copilot || true")


def test_a_link_stays_a_link_and_the_mode_stays(user: Path) -> None:
    target = user / "dotfiles.json"
    target.write_text(WRITTEN)
    target.chmod(0o640)
    file = settings_of("claude-code")
    file.parent.mkdir()
    file.symlink_to(target)
    insula("install", "claude-code")
    assert file.is_symlink() and "run.py" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    insula("uninstall", "claude-code")
    assert file.is_symlink() and target.read_text() == WRITTEN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = opus", "line 1: not a value"),
        ('{"hooks": []}', "'hooks' is not an object"),
        ('{\n"hooks": {"Stop": {}}}', "line 2: 'Stop' is not a list"),
        (b"\xff\xfe{\x00}\x00", "no text in UTF-8"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused_and_untouched(text: str | bytes, said: str, home: Path) -> None:
    file = settings("claude-code", text)
    before = file.read_bytes()
    for command in ("install", "uninstall"):
        code, output = insula(command, "claude-code")
        assert code == 1 and said in output and str(file) in output
    assert file.read_bytes() == before
    assert not (home / "hook").exists()


def test_a_copy_is_kept_before_a_change_and_not_for_ever(home: Path) -> None:
    settings("claude-code")
    for _ in range(KEPT):
        insula("install", "claude-code")
        insula("uninstall", "claude-code")
    kept = sorted((home / "backups").iterdir())
    assert len(kept) == KEPT
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert WRITTEN in {path.read_text() for path in kept}


@pytest.mark.parametrize("which", ["file", "folder"])
def test_a_file_that_may_not_be_written_is_left_alone(which: str) -> None:
    file = settings("claude-code")
    locked = file if which == "file" else file.parent
    locked.chmod(0o500)
    try:
        code, output = insula("install", "claude-code")
    finally:
        locked.chmod(0o700)
    assert code == 1 and "read-only" in output
    assert file.read_text() == WRITTEN
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_full_disk_leaves_the_file_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    file = settings("claude-code")

    def full(self: Path, target: Path) -> Path:
        if target == file:
            raise OSError(28, "No space left on device")
        return self.rename(target)

    monkeypatch.setattr(Path, "replace", full)
    code, output = insula("install", "claude-code")
    assert code == 1 and "no space left" in output
    assert file.read_text() == WRITTEN
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_installs_at_the_same_time_lose_nothing(home: Path) -> None:
    file, names = settings("claude-code"), ("claude-code", "codex", "cursor", "opencode")
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(spawn_insula("install", name)) for name in (*names, "claude-code", "codex")]
        assert [process.wait(GUARD_SECONDS) for process in running] == [0] * len(running)
    events = len(json.loads(settings_of("codex").read_text())["hooks"])
    assert len(ours(settings_of("codex"), home)) == events
    assert len(set(re.findall(r'"(\w+)": \[\n[^\]]*run\.py', file.read_text()))) > 5
    known = json.loads((home / "installed.json").read_text())["files"]
    assert set(known) == {str(settings_of(name)) for name in names}
    insula("uninstall", "--all")
    assert file.read_text() == WRITTEN


def test_a_changed_interpreter_changes_our_commands_alone(home: Path) -> None:
    file = settings("claude-code")
    insula("install", "claude-code")
    now = file.read_text()
    file.write_text(re.sub(r'"[^" ]+ -I', '"/old/python3 -I', now))
    assert file.read_text() != now
    assert insula("install", "claude-code")[0] == 0
    assert file.read_text() == now
    insula("uninstall", "claude-code")
    assert file.read_text() == WRITTEN


def test_an_event_that_a_person_took_out_comes_back_and_all_goes_again() -> None:
    file = settings("codex", '{"model": "opus"}')
    insula("install", "codex")
    content = json.loads(file.read_text())
    del content["hooks"]["SessionEnd"]
    file.write_text(json.dumps(content))
    insula("install", "codex")
    assert "SessionEnd" in json.loads(file.read_text())["hooks"]
    insula("uninstall", "codex")
    assert json.loads(file.read_text()) == {"model": "opus"}


@pytest.mark.parametrize("lost", ["installed.json", "."])
def test_hooks_can_be_taken_out_when_our_folder_is_lost(lost: str, home: Path) -> None:
    file = settings("claude-code")
    insula("install", "claude-code")
    (home / lost).unlink() if lost != "." else shutil.rmtree(home)
    assert insula("uninstall", "claude-code")[0] == 0
    assert file.read_text() == WRITTEN


def test_what_a_person_put_into_the_folder_that_we_made_stays() -> None:
    file = settings_of("codex")
    insula("install", "codex")
    (file.parent / "config.toml").write_text("model = 'x'")
    insula("uninstall", "codex")
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


# Scopes.


def test_the_variables_that_move_a_host_are_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = {"claude-code": "settings.json", "codex": "hooks.json", "gemini": ".gemini/settings.json"}
    for (name, below), variable in zip(moved.items(), VARIABLES, strict=False):
        monkeypatch.setenv(variable, str(tmp_path / name))
        assert insula("install", name)[0] == 0
        assert (tmp_path / name / below).is_file()


def test_a_project_is_the_repository_that_one_stands_in(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (user / "project/.git").mkdir()
    (user / "project/deep/inner").mkdir(parents=True)
    monkeypatch.chdir(user / "project/deep/inner")
    code, output = insula("install", "gemini", "--project")
    assert code == 0 and f"The project is {user / 'project'}." in output and "there alone" in output
    assert (user / "project/.gemini/settings.json").exists()
    assert "trust the folder" in insula("install", "codex", "--project")[1]
    assert insula("uninstall", "gemini", "--project")[0] == 0
    assert not (user / "project/.gemini").exists()


@pytest.mark.parametrize("folder", ["/", "."])
def test_nothing_is_installed_for_a_folder_that_is_no_project(
    folder: str, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user / folder)
    code, output = insula("install", "codex", "--project")
    assert code == 1 and ("home folder" in output or "root of all" in output) and "git init" in output
    assert [path for path in user.rglob("*") if path.is_file()] == []


def test_all_is_taken_out_of_every_project_and_what_was_learned_stays(
    home: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        insula("install", name)
    insula("install", "claude-code", "--project")
    other = user / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    insula("install", "codex", "--project")
    monkeypatch.chdir(user)
    (home / "rules.jsonl").write_text("{}\n")
    code, output = insula("uninstall", "--all")
    assert code == 0 and output.count("taken out") == len(NAMES) + 2 and "purge" in output
    assert [path for path in user.rglob("*") if path.is_file()] == []
    assert not (home / "hook").exists() and (home / "rules.jsonl").exists()


def test_the_code_stays_while_a_file_that_runs_it_cannot_be_mended(home: Path) -> None:
    insula("install", "claude-code")
    insula("install", "codex")
    settings_of("codex").write_text("{")
    code, output = insula("uninstall", "--all")
    assert code == 1 and str(settings_of("codex")) in output
    assert not settings_of("claude-code").exists()
    assert (home / "hook/run.py").exists()


def test_a_file_of_ours_that_is_damaged_is_as_none(home: Path) -> None:
    (home / "installed.json").write_text('{"files": [')
    file = settings("claude-code")
    insula("install", "claude-code")
    insula("uninstall", "claude-code")
    assert file.read_text() == WRITTEN
