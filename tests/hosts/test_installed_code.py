"""The code that hooks run: copied, complete, mended; and whatever fails in it, its host notices nothing."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest
from installing import insula, settings_of

from insula.coding.hosts import install, places, present, runtime
from insula.coding.hosts.places import HookCommand, Host
from insula.errors import SettingsError

pytestmark = pytest.mark.usefixtures("user")


def shim(home: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-I", "-S", home / places.SHIM, *words]
    return subprocess.run(argv, input=stdin, capture_output=True, check=False)


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
    insula("install", "codex")
    (group,) = json.loads(settings_of("codex").read_text())["hooks"]["PostToolUse"]
    done = subprocess.run(
        ["sh", "-c", group["hooks"][0]["command"]], input=b"no json", capture_output=True, check=False
    )
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


def test_a_program_that_writes_at_the_same_time_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = settings_of("claude-code")
    file.parent.mkdir()
    file.write_text("{}")
    back_up = install._back_up_file  # pyright: ignore[reportPrivateUsage]

    def slow(*arguments: Any) -> str:
        file.write_text('{"model": "theirs"}')
        return back_up(*arguments)

    monkeypatch.setattr(install, "_back_up_file", slow)
    code, output = insula("install", "claude-code")
    assert code == 1 and "changed by another program" in output
    assert file.read_text() == '{"model": "theirs"}'


@pytest.mark.parametrize("name", ["cline", "opencode"])
@pytest.mark.parametrize("then", ["install", "uninstall"])
def test_what_an_earlier_version_wrote_is_ours(name: str, then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = present.render_script

    def before(host: Host, command: HookCommand) -> bytes:
        return now(host, command) + b"\n"

    with monkeypatch.context() as earlier:
        earlier.setattr(present, "render_script", before)
        insula("install", name)
    old = settings_of(name).read_text()
    assert insula(then, name)[0] == 0
    left = [path.read_text() for path in settings_of(name).parent.glob("*") if path.is_file()]
    assert left == ([old[:-1]] * len(left) if then == "install" else [])
    assert bool(left) is (then == "install")
