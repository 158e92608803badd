"""Installing must be as safe as not installing: what is not ours is never touched, and all can be taken back."""

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest
from typer.testing import CliRunner

import mortal
from insula.cli.main import app, main
from insula.coding.hosts import files, install, jsonc, places, present, records, runtime
from insula.coding.hosts.places import HOSTS
from insula.errors import InputError, InsulaError, SettingsError

NAMES = sorted(HOSTS)
SCRIPTED = [name for name in NAMES if HOSTS[name].script]
EDITED = [name for name in NAMES if not HOSTS[name].script]
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


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with an empty home, who stands in a project."""
    folder = tmp_path / "user"
    (folder / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for host in HOSTS.values():
        monkeypatch.delenv(host.variable, raising=False)
    monkeypatch.chdir(folder / "project")
    return folder


def settings(name: str, text: str | bytes = WRITTEN) -> Path:
    file = HOSTS[name].find_settings()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def insula(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, words)
    said = f"{result.exception}" if isinstance(result.exception, InsulaError) else result.output
    return result.exit_code, said


def shim(home: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-I", "-S", home / places.SHIM, *words]
    return subprocess.run(argv, input=stdin, capture_output=True, check=False)


# The settings file.


@pytest.mark.parametrize("name", ["claude-code", "copilot", "cursor"])
def test_a_file_that_was_not_there_is_gone_again_with_its_folders(name: str, user: Path) -> None:
    before = sorted(user.rglob("*"))
    file = HOSTS[name].find_settings()
    assert insula("install", name)[0] == 0
    hooks = json.loads(file.read_text())["hooks"]
    assert list(hooks) == [on.event for on in HOSTS[name].events]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert insula("uninstall", name)[0] == 0
    assert sorted(user.rglob("*")) == before


@pytest.mark.parametrize("text", ["", "{}\n", '{"hooks": {"Stop": []}}', "\ufeff{\r\n}\r\n"])
def test_a_nearly_empty_file_is_as_before_to_the_byte(text: str) -> None:
    file = settings("claude-code", text)
    assert insula("install", "claude-code")[0] == 0
    assert jsonc.parse_jsonc(file.read_bytes().decode()).get_value("hooks")
    insula("uninstall", "claude-code")
    assert file.read_bytes() == text.encode()


@pytest.mark.parametrize("after", ["{", '"hooks": {', '"Stop": ['])
def test_a_comment_above_our_hooks_does_not_keep_them_from_being_taken_out(after: str, home: Path) -> None:
    file = HOSTS["codex"].find_settings()
    insula("install", "codex")
    file.write_text(file.read_text().replace(after, f"{after} // my hooks", 1))
    code, output = insula("uninstall", "codex")
    assert code == 0 and "taken out" in output
    assert "// my hooks\n" in file.read_text()
    assert not list(present.list_our_hooks(jsonc.parse_jsonc(file.read_text()), HOSTS["codex"], home))


def test_a_byte_order_mark_and_the_ends_of_lines_survive() -> None:
    file = settings("gemini", "\ufeff" + WRITTEN.replace("\n", "\r\n"))
    insula("install", "gemini")
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf{\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_timeouts_have_the_unit_of_their_host() -> None:
    def timeouts(name: str) -> dict[str, int]:
        install.install_hooks(HOSTS[name])
        hooks = json.loads(HOSTS[name].find_settings().read_text())["hooks"]
        return {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()}

    assert timeouts("claude-code")["PostToolUse"] == 5
    assert timeouts("gemini")["AfterTool"] == 5000
    assert timeouts("codex")["SessionEnd"] == 1  # Codex clamps it


def test_a_host_that_wants_a_version_in_its_file_gets_one_there() -> None:
    for name in ("copilot", "cursor"):
        install.install_hooks(HOSTS[name])
        assert json.loads(HOSTS[name].find_settings().read_text())["version"] == 1
    hook = json.loads(HOSTS["copilot"].find_settings().read_text())["hooks"]["postToolUse"][0]
    assert (hook["type"], hook["timeoutSec"]) == ("command", 5)
    assert hook["bash"].endswith("copilot || true")


def test_ours_stand_behind_those_that_codex_knows_by_their_place() -> None:
    theirs: dict[str, Any] = {"hooks": [{"type": "command", "command": "theirs"}]}
    file = settings("codex", json.dumps({"hooks": {"PostToolUse": [theirs], "Stop": [theirs]}}))
    install.install_hooks(HOSTS["codex"])
    hooks = json.loads(file.read_text())["hooks"]
    assert [hooks[event][0] for event in ("PostToolUse", "Stop")] == [theirs, theirs]
    assert [len(hooks[event]) for event in ("PostToolUse", "Stop")] == [2, 2]


def test_a_link_stays_a_link_and_the_mode_stays(user: Path) -> None:
    target = user / "dotfiles.json"
    target.write_text(WRITTEN)
    target.chmod(0o640)
    file = HOSTS["claude-code"].find_settings()
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
        ('{\n"a": 1,\n"b"\n}', "line 4: a colon is missing"),
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
    for _ in range(install.KEPT):
        insula("install", "claude-code")
        insula("uninstall", "claude-code")
    kept = sorted((home / "backups").iterdir())
    assert len(kept) == install.KEPT
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


def test_a_folder_in_the_place_of_the_file_is_named() -> None:
    HOSTS["claude-code"].find_settings().mkdir(parents=True)
    code, output = insula("install", "claude-code")
    assert code == 1 and "is a directory" in output


def test_a_program_that_writes_at_the_same_time_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = settings("claude-code")
    back_up = install._back_up_file  # pyright: ignore[reportPrivateUsage]

    def slow(*arguments: Any) -> None:
        back_up(*arguments)
        file.write_text('{"model": "theirs"}')

    monkeypatch.setattr(install, "_back_up_file", slow)
    code, output = insula("install", "claude-code")
    assert code == 1 and "changed by another program" in output
    assert file.read_text() == '{"model": "theirs"}'


def installed(name: str, variables: dict[str, str], folder: str) -> None:
    """Install a hook, in a process of its own."""
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["insula", "install", name]
    main()


def test_installs_at_the_same_time_lose_nothing(home: Path) -> None:
    settings("claude-code")
    here = {name: os.environ[name] for name in ("HOME", "INSULA_HOME")}
    running = [mortal.begun(installed, name, here, str(Path.cwd())) for name in [*NAMES, *NAMES]]
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * len(running)
    for name in EDITED:
        root = jsonc.parse_jsonc(HOSTS[name].find_settings().read_text())
        assert len(list(present.list_our_hooks(root, HOSTS[name], home))) == len(HOSTS[name].events)
    assert set(json.loads((home / records.FILE).read_text())["files"]) == {
        str(HOSTS[name].find_settings()) for name in NAMES
    }
    insula("uninstall", "--all")
    assert HOSTS["claude-code"].find_settings().read_text() == WRITTEN


def test_hooks_of_others_are_not_ours_whatever_their_path(home: Path) -> None:
    for text in (
        "node /x/hook.js",
        "/usr/bin/python3 -I -S /opt/insula/hook/run.py claude-code",
        f"/usr/bin/python3 {home}/hook/run.py claude-code",
        f"/usr/bin/python3 -I -S {home}/hook/run.py codex || true",
        f"/usr/bin/python3 -I -S {home}/hook/run.py claude-code && rm x",
        f"'{home}/hook/run.py",
    ):
        command = places.read_command(text)
        assert command is None or not places.is_ours(command, "claude-code", home), text


def test_a_changed_interpreter_changes_our_commands_alone(home: Path) -> None:
    file = settings("claude-code")
    install.install_hooks(HOSTS["claude-code"])
    now = file.read_text()
    python = shlex.quote(runtime.find_interpreter())
    file.write_text(now.replace(f"{python} -I", "/old/python3 -I"))
    assert insula("install", "claude-code")[0] == 0
    assert file.read_text() == now
    insula("uninstall", "claude-code")
    assert file.read_text() == WRITTEN


def test_an_event_that_a_person_took_out_comes_back_and_all_goes_again(home: Path) -> None:
    file = settings("claude-code")
    install.install_hooks(HOSTS["claude-code"])
    text = file.read_text()
    hooks = jsonc.parse_jsonc(text).get_value("hooks")
    assert hooks
    index = next(number for number, one in enumerate(hooks.members) if one.key == "SessionEnd")
    file.write_text(jsonc.remove_member(text, hooks, index))
    install.install_hooks(HOSTS["claude-code"])
    insula("uninstall", "claude-code")
    assert file.read_text() == WRITTEN


@pytest.mark.parametrize("lost", ["installed.json", "."])
def test_hooks_can_be_taken_out_when_our_folder_is_lost(lost: str, home: Path) -> None:
    file = settings("claude-code")
    install.install_hooks(HOSTS["claude-code"])
    (home / lost).unlink() if lost != "." else shutil.rmtree(home)
    assert insula("uninstall", "claude-code")[0] == 0
    assert file.read_text() == WRITTEN


def test_what_a_person_put_into_the_folder_that_we_made_stays() -> None:
    file = HOSTS["codex"].find_settings()
    install.install_hooks(HOSTS["codex"])
    (file.parent / "config.toml").write_text("model = 'x'")
    insula("uninstall", "codex")
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


# Scopes.


def test_the_variables_that_move_a_host_are_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, below in (("claude-code", "settings.json"), ("codex", "hooks.json"), ("gemini", ".gemini/settings.json")):
        monkeypatch.setenv(HOSTS[name].variable, str(tmp_path / name))
        assert HOSTS[name].find_settings() == tmp_path / name / below


def test_a_project_keeps_the_path_of_this_machine_out_of_shared_settings(user: Path) -> None:
    _, output = insula("install", "claude-code", "--project")
    assert (user / "project/.claude/settings.local.json").exists()
    assert "local settings" in output
    assert "do not commit" in insula("install", "gemini", "--project")[1]


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


def test_a_folder_without_a_repository_is_a_project_that_is_named(user: Path) -> None:
    assert f"{user / 'project'}, which is no git repository" in insula("install", "codex", "--project")[1]


@pytest.mark.parametrize("folder", ["/", "."])
def test_nothing_is_installed_for_a_folder_that_is_no_project(
    folder: str, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user / folder)
    code, output = insula("install", "codex", "--project")
    assert code == 1 and ("home folder" in output or "root of all" in output) and "git init" in output
    assert [path for path in user.rglob("*") if path.is_file()] == []


def test_where_the_hooks_are_instead_is_said() -> None:
    insula("install", "codex", "--project")
    assert "there are: insula uninstall codex --project" in insula("uninstall", "codex")[1]
    insula("uninstall", "codex", "--project")
    insula("install", "codex")
    assert "for all your projects: insula uninstall codex" in insula("uninstall", "codex", "--project")[1]


def test_an_installation_that_mends_says_so(home: Path) -> None:
    insula("install", "codex")
    assert "hooks are already in" in insula("install", "codex")[1]
    shutil.rmtree(home / "hook")
    assert "was missing and is back" in insula("install", "codex")[1]
    next((home / "hook").glob("lib-*/insula/value.py")).write_text("(")
    assert "was damaged and is mended" in insula("install", "codex")[1]


def test_an_installation_that_is_switched_off_says_so() -> None:
    insula("off")
    assert "switched off at present: insula on" in insula("install", "codex")[1]
    insula("on")
    insula("off", "--project")
    assert "in this project at present: insula on --project" in insula("install", "codex")[1]


def test_a_dry_run_tells_a_program_what_would_change() -> None:
    record = json.loads(insula("install", "codex", "--dry-run", "--json")[1])
    assert (record["changed"], record["would_change"]) == (False, True)
    insula("install", "codex")
    assert json.loads(insula("install", "codex", "--dry-run", "--json")[1])["would_change"] is False


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
    HOSTS["codex"].find_settings().write_text("{")
    code, output = insula("uninstall", "--all")
    assert code == 1 and str(HOSTS["codex"].find_settings()) in output
    assert not HOSTS["claude-code"].find_settings().exists()
    assert (home / "hook/run.py").exists()


@pytest.mark.parametrize("words", [["install", "vim"], ["install"], ["uninstall"], ["uninstall", "--all", "codex"]])
def test_a_command_that_makes_no_sense_says_what_would(words: list[str]) -> None:
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, InputError)


# The code that hooks run.


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A small package with a hook, to be broken at will."""
    folder = tmp_path / "source" / "insula"
    for part in (*runtime.CODE, "redaction/helper.py", "coding/step/senses/__init__.py", "typed.py"):
        file = folder / part if part.endswith(".py") else folder / part / "__init__.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (folder / "coding/hosts/hook.py").write_text(
        "def main(home, argv):\n    from insula.redaction import helper\n    print('answer')\n"
    )
    return folder


def test_the_hook_s_half_of_the_package_is_copied_and_nothing_else(package: Path) -> None:
    copied = set(runtime.collect_modules(package))
    assert {"insula/redaction/helper.py", "insula/coding/hosts/hook.py", "insula/__init__.py"} <= copied
    assert "insula/typed.py" not in copied


def test_that_half_holds_whatever_it_imports_anywhere() -> None:
    graph = grimp.build_graph("insula", exclude_type_checking_imports=True)
    half = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in runtime.collect_modules()}
    imported = {each for module in half & graph.modules for each in graph.find_modules_directly_imported_by(module)}
    assert imported - half == set()


def test_a_missing_part_is_found_before_anything_is_installed(package: Path, home: Path) -> None:
    (package / "worth.py").unlink()
    with pytest.raises(SettingsError, match=r"'worth\.py', which the hook needs"):
        runtime.write_code(home, sys.executable, package)
    assert not list(home.iterdir())


def test_every_copied_module_needs_the_standard_library_alone(home: Path) -> None:
    runtime.write_code(home, runtime.find_interpreter())
    lib = home / "hook" / runtime.find_lib(home)
    files = [path for path in runtime.collect_modules() if path.endswith(".py")]
    names = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in files]
    assert "insula.coding.hosts.hook" in names
    code = f"import sys; sys.path.insert(0, {str(lib)!r}); print([__import__(name) for name in {names!r}][0].__file__)"
    done = subprocess.run(
        [runtime.find_interpreter(), "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == "" and done.stdout.startswith(str(lib))


def test_the_copy_is_compiled_and_for_its_owner_alone(home: Path) -> None:
    runtime.write_code(home, runtime.find_interpreter())
    lib = home / "hook" / runtime.find_lib(home)
    assert [path.name for path in lib.rglob("*.pyc")] == [f"compiled.{sys.implementation.cache_tag}.pyc"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home / "hook").rglob("*")} == {0o700, 0o600}


def test_an_upgrade_keeps_the_command_and_the_code_of_hooks_that_run(home: Path, package: Path) -> None:
    libs: list[str] = []
    for version in range(3):
        (package / "redaction/helper.py").write_text(f"version = {version}")
        runtime.write_code(home, sys.executable, package)
        libs.append(runtime.find_lib(home))
    assert len(set(libs)) == 3
    assert sorted(path.name for path in (home / "hook").iterdir()) == sorted(["run.py", *libs[1:]])
    assert shim(home, "codex").stdout == b"answer\n"


def test_a_damaged_copy_is_mended(home: Path, package: Path) -> None:
    runtime.write_code(home, sys.executable, package)
    lib = home / "hook" / runtime.find_lib(home)
    (lib / "insula/redaction/helper.py").write_text("broken(")
    runtime.write_code(home, sys.executable, package)
    assert (lib / "insula/redaction/helper.py").read_text() == ""
    assert sorted(path.name for path in (home / "hook").iterdir()) == sorted(["run.py", lib.name])


@pytest.mark.parametrize(
    ("hook", "kind"),
    [
        ("def main(home, argv):\n    print('half'); 1 / 0\n", "ZeroDivisionError"),
        ("def main(home, argv:\n", "SyntaxError"),
        ("import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("def main(home, argv):\n    raise KeyboardInterrupt\n", "KeyboardInterrupt"),
        ("def main(home, argv):\n    def f(): f()\n    f()\n", "RecursionError"),
    ],
)
def test_whatever_fails_in_a_hook_its_host_notices_nothing(hook: str, kind: str, home: Path, package: Path) -> None:
    runtime.write_code(home, sys.executable, package)
    (home / "hook" / runtime.find_lib(home) / "insula/coding/hosts/hook.py").write_text(hook)
    next((home / "hook").rglob("*.pyc")).unlink()
    done = shim(home, "codex")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    noted = json.loads((home / "failures.jsonl").read_text())
    assert (noted["kind"], noted["host"]) == (kind, "codex")


def test_the_count_of_failures_goes_on_when_its_file_is_full(home: Path, package: Path) -> None:
    (package / "coding/hosts/hook.py").write_text("def main(home, argv):\n    1 / 0\n")
    runtime.write_code(home, sys.executable, package)
    (home / "failures.jsonl").write_text("x" * 262144)
    shim(home, "codex")
    assert (home / "failures.1.jsonl").stat().st_size == 262144
    assert json.loads((home / "failures.jsonl").read_text())["kind"] == "ZeroDivisionError"


def test_a_hook_that_ends_itself_keeps_its_answer(home: Path, package: Path) -> None:
    (package / "coding/hosts/hook.py").write_text("import sys\ndef main(home, argv):\n    print(*argv); sys.exit(3)\n")
    runtime.write_code(home, sys.executable, package)
    done = shim(home, "codex")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"codex\n", b"")
    assert not (home / "failures.jsonl").exists()


def test_the_installed_hook_answers_from_a_folder_with_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "a folder's name"
    monkeypatch.setenv("INSULA_HOME", str(home))
    install.install_hooks(HOSTS["codex"])
    handler = next(
        present.list_our_hooks(jsonc.parse_jsonc(HOSTS["codex"].find_settings().read_text()), HOSTS["codex"], home)
    )
    done = subprocess.run(["sh", "-c", str(handler.node.value)], input=b"no json", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert json.loads((home / "failures.jsonl").read_text())["host"] == "codex"


# The interpreter.


def fake_python(path: Path, said: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{said}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def staying(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests themselves live in a passing folder; look at the names of folders alone."""
    monkeypatch.setattr(runtime, "list_passing_folders", list[Path])


@pytest.mark.usefixtures("staying")
@pytest.mark.parametrize(
    ("folder", "said", "why"),
    [
        ("uv/archive-v0/x/bin", "echo 3 12", "passing folder"),
        ("shims", "echo 3 12", "passing folder"),
        (".cache/pipx/x/bin", "echo 3 12", "passing folder"),
        ("bin", "echo 3 8", "Python 3.8, and hooks need 3.11"),
        ("bin", "exit 1", "does not run"),
        ("bin", "echo nonsense", "does not run"),
    ],
)
def test_an_interpreter_that_will_not_do_is_refused(tmp_path: Path, folder: str, said: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        runtime.check_interpreter(fake_python(tmp_path / folder / "python3", said))


def test_an_interpreter_in_a_temporary_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="passing folder"):
        runtime.check_interpreter(fake_python(tmp_path / "python3", "echo 3 12"))


@pytest.mark.usefixtures("staying")
def test_the_steadiest_name_of_the_interpreter_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = fake_python(tmp_path / "bin/python3.11", "echo 3 11")
    monkeypatch.setattr(sys, "_base_executable", str(base))
    assert runtime.find_interpreter() == str(base)
    other = fake_python(tmp_path / "bin/python3", "echo 3 13")
    assert runtime.find_interpreter() == str(base)
    other.unlink()
    other.symlink_to(base)
    assert runtime.find_interpreter() == str(other)


def test_a_hook_is_no_part_of_the_environment_that_it_was_installed_from() -> None:
    assert not Path(runtime.find_interpreter()).is_relative_to(sys.prefix)


def test_a_file_of_ours_that_is_damaged_is_as_none(home: Path) -> None:
    (home / records.FILE).write_text('{"files": [')
    assert files.read_json(home / records.FILE) == {}
    file = settings("claude-code")
    insula("install", "claude-code")
    insula("uninstall", "claude-code")
    assert file.read_text() == WRITTEN
