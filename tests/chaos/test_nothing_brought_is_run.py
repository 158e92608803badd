"""A clone that names programs to run, code to import and addresses to send to: no command does any of it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from clones import all_at_once, hostile, lines_of, made
from harness import Ran, run_insula

from insula import settings
from insula.coding.hosts import doctor, install, present, records, runtime, trials
from insula.coding.hosts.places import HOSTS, HookCommand, Host
from insula.settings import FILE

INSULA = Path(sys.executable).with_name("insula")
SAYS = "that Insula did not install and does not run"
NAMES = sorted(HOSTS)

COMMANDS = (
    "doctor",
    "doctor --live gemini",
    "install codex --project",
    "uninstall cursor --project --dry-run",
    "replay .",
    "model install qwen-coder-1.5b",
    "mcp",
    "chat",
)
"""What a person may type in a clone: of each kind of what may be run, imported, read or sent to, one."""


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with Insula's folder where it is by default."""
    folder = tmp_path / "user"
    folder.mkdir()
    for name in ("INSULA_HOME", "XDG_DATA_HOME", *(host.variable for host in HOSTS.values() if host.variable)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NO_COLOR", "1")
    return folder


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """The file that is there once anything of the clone was run."""
    return tmp_path / "canary"


@pytest.fixture
def clone(tmp_path: Path, canary: Path) -> Path:
    return made(tmp_path / "clone", canary)


def strangers(host: Host, folder: Path) -> set[str]:
    found = present.find_hooks(host, folder).strange
    return {line for lines in found.values() for line in lines} | {
        str(path) for path, lines in found.items() if not lines
    }


# The hooks.


@pytest.mark.parametrize(("name", "installed"), [*((name, False) for name in NAMES), ("codex", True), ("cline", True)])
def test_no_line_but_the_one_on_record_is_run(
    name: str, installed: bool, clone: Path, canary: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a clone says that Insula's hook is; and a genuine one beside it is tried as ever."""
    tried: list[str] = []

    def attempt(command: records.Installed, *_: object) -> trials.Trial:
        tried.append(command)
        return trials.Trial([], [trials.HookRun("", 0, b"", 0.0)])

    monkeypatch.setattr(trials, "try_command", attempt)
    monkeypatch.setattr(trials, "read_version", cache(trials.read_version))  # each interpreter is asked once
    monkeypatch.setenv("PATH", f".::{clone}:{os.environ['PATH']}")
    monkeypatch.chdir(clone)
    host, ours = HOSTS[name], str(HookCommand(runtime.find_interpreter(), str(user / ".insula"), name))
    if installed:
        install.install_hooks(host)
    lines = lines_of(name, clone, user / ".insula")
    for some in [[line] for line in lines] if host.script else [lines]:
        hostile(host, clone, some)
        checks = list(doctor.examine_host(host))
        assert any(SAYS in check.says for check in checks), some
        assert strangers(host, clone) == (
            {*map(str, present.list_files(host, host.find_settings(clone)))} if host.script else {*lines}
        )
        assert all(
            len(check.says) < 1_000 and "\x1b" not in check.says and "\u202e" not in check.says for check in checks
        )
    assert set(tried) == ({ours} if installed else set())
    assert not canary.exists()


def doctor_in(folder: Path) -> Ran:
    """What the doctor says in a folder, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run_insula("doctor")


def test_a_record_that_a_repository_could_bring_is_not_used(
    clone: Path, canary: Path, monkeypatch: pytest.MonkeyPatch, user: Path
) -> None:
    """The folder of the record may not be relative, in the repository, a link into it, or writable by others."""
    line = str(HookCommand(str(clone / "evil"), str(clone / "x"), "claude-code"))
    hostile(HOSTS["claude-code"], clone, [line])
    file = str(HOSTS["claude-code"].find_settings(clone))
    (clone / "x/installed.json").write_text(json.dumps({"files": {file: {"host": "claude-code", "command": line}}}))
    monkeypatch.setenv("INSULA_HOME", "x")
    done = doctor_in(clone)
    assert done.status == 1 and "point INSULA_HOME at an absolute path" in done.err
    (user / "link").symlink_to(clone / "x")
    (clone / "inner/.git").mkdir(parents=True)
    for named, here in ((clone / "x", clone), (user / "link", clone), (clone / "x", clone / "inner")):
        monkeypatch.setenv("INSULA_HOME", str(named))
        done = doctor_in(here)
        assert done.status == 1 and "a repository may have brought it" in " ".join(done.out.split()), done.out
    (clone / "inner/.git").rmdir()
    (clone / ".git").rmdir()  # as what was downloaded and unpacked
    assert "a repository may have brought it" in " ".join(doctor_in(clone).out.split())
    monkeypatch.setenv("INSULA_HOME", str(user / "own"))
    (user / "own").mkdir()
    (user / "own/installed.json").symlink_to(clone / "x/installed.json")
    assert "is a link" in doctor_in(clone).out
    (user / "own/installed.json").unlink()
    (user / "own/installed.json").write_bytes((clone / "x/installed.json").read_bytes())
    (user / "own/installed.json").chmod(0o666)
    assert "others may write to" in " ".join(doctor_in(clone).out.split())
    assert not canary.exists()


@pytest.mark.parametrize("brought", ['home = "x"\nINSULA_HOME = "x"\n', ""])
def test_neither_settings_nor_an_environment_file_of_a_clone_moves_the_record(
    brought: str, clone: Path, canary: Path
) -> None:
    line = str(HookCommand(str(clone / "evil"), str(clone / "x"), "claude-code"))
    hostile(HOSTS["claude-code"], clone, [line])
    record = {"files": {str(HOSTS["claude-code"].find_settings(clone)): {"host": "claude-code", "command": line}}}
    for folder in ("x", ".insula", "."):
        (clone / folder).mkdir(exist_ok=True)
        (clone / folder / "installed.json").write_text(json.dumps(record))
    (clone / FILE).write_text(brought)
    for name in (".env", ".envrc", ".env.local"):
        (clone / name).write_text(f"INSULA_HOME=x\nexport INSULA_HOME={clone}/x\nINSULA_EMBED=evilmod:f\n")
    assert doctor_in(clone).status == 2
    assert not canary.exists()


@pytest.mark.parametrize("name", ["claude-code", "opencode", "cline"])
@pytest.mark.parametrize("kind", ["pipe", "loop", "device", "out", "folder", "bytes", "huge"])
def test_a_hook_file_that_is_no_file_does_not_hang_the_doctor_and_hides_no_other(
    name: str, kind: str, clone: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    host = HOSTS[name]
    other = HOSTS["gemini" if name != "gemini" else "codex"]
    hostile(other, clone, ["./evil -I -S ./x/hook/run.py"])
    path = host.find_settings(clone)
    path.parent.mkdir(parents=True, exist_ok=True)
    (user / "secret").write_text("{}")
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "device":
            path.symlink_to("/dev/zero")
        case "out":
            path.symlink_to(user / "secret")
        case "folder":
            path.mkdir()
        case "huge":
            path.write_text('{"hooks": {' + ",".join(f'"e{number}": []' for number in range(60_000)) + "}}")
        case _:
            path.write_bytes(b'\xff\xfe{"hooks": "\xe9"}')
    began = time.process_time()
    checks = list(doctor.examine_host())
    assert time.process_time() - began < 20
    assert any(check.host == other.id and SAYS in check.says for check in checks)
    if kind not in {"bytes", "huge"}:
        assert any(check.host == name and check.state == "broken" for check in checks)


# All that may be typed.


@pytest.fixture
def listening() -> Iterator[tuple[str, Callable[[], int]]]:
    """An address that a clone would have words sent to, and how often somebody came."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        done = threading.Event()

        def wait() -> None:
            while not done.is_set():
                try:
                    connection, who = server.accept()
                except OSError:
                    continue
                came.append(who)
                connection.close()

        thread = threading.Thread(target=wait)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", lambda: len(came)
        done.set()
        thread.join()


def typed(command: str, folder: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run the real command in a folder, as a shell does."""
    return subprocess.run(
        [INSULA, *command.split()],
        cwd=folder,
        env={**os.environ, **env},
        input="hello there\n",
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_runs_imports_or_sends_to_what_a_clone_names(
    command: str, clone: Path, canary: Path, listening: tuple[str, Callable[[], int]], user: Path
) -> None:
    url, came = listening
    all_at_once(clone, canary, url)
    own = settings.home() / FILE
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('model = "test"\n')  # the person's own; the clone's must not take its place
    offline = {"PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_RETRIES": "0", "UV_OFFLINE": "1"}
    done = typed(command, clone, PATH=f".::{os.environ['PATH']}", **offline)
    assert done.returncode in {0, 1, 2, 3} and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert not canary.exists(), canary.read_text()
    assert not came()
    assert command != "chat" or "I am the test model" in done.stdout
    assert command != "doctor" or (done.returncode == 2 and SAYS in " ".join(done.stdout.split()))
