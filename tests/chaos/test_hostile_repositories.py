"""Many cloned repositories that mean harm: each command stays quick and small, and says a sentence or works."""

import contextlib
import json
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from clones import hostile, lines_of

from insula.cli import main
from insula.hosts.places import HOSTS
from insula.settings import FILE

COMMANDS = (
    "model list",
    "doctor",
    "install claude-code --project --dry-run",
    "install gemini --project --dry-run",
    "uninstall --dry-run",
    "off --project",
    "rules",
)
DEAR = ("chat --model test", "status")
"""Commands that open the memory: they read the same files in the same way, and are run in some repositories alone."""
MOST_MEMORY = 30 << 20
"""What a repository may cost beyond what the command takes in an empty folder."""
HANGS = 60
"""Seconds after which a command is taken to wait for ever; no measure of speed."""
DEPTH = 200_000

Put = Callable[[Path], object]


def _link(target: str) -> Put:
    return lambda path: path.symlink_to(target)


def _text(text: str | bytes) -> Put:
    return lambda path: path.write_bytes(text.encode() if isinstance(text, str) else text)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 33)


def _socket(path: Path) -> None:
    folder = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(folder)


KINDS: dict[str, Put] = {
    "zero": _link("/dev/zero"),
    "random": _link("/dev/urandom"),
    "full": _link("/dev/full"),
    "terminal": _link("/dev/tty"),
    "pipe": os.mkfifo,
    "socket": _socket,
    "loop": lambda path: path.symlink_to(path.name),
    "out": _link("/etc/passwd"),
    "process": _link("/proc/self/mem"),
    "chain": lambda path: (path.with_name("next").symlink_to("/dev/zero"), path.symlink_to("next")),
    "folder": Path.mkdir,
    "sparse": _sparse,
    "binary": _text(random.Random(1).randbytes(4_000)),
    "utf-16": _text("max_tokens = 3".encode("utf-16")),
    "nul": _text(b"\0" * 4_000),
}
TOML: dict[str, str] = {
    "unknown": "colour = 1",
    "escapes": '"\\u001b]0;owned\\u0007\\u202e" = 1',
    "model": 'model = "https://evil.example/v1"\nidentity = "/etc/passwd"',
    "users": '[users."../../etc"]\ntoken = "x"',
    "dotted": ".".join(["a"] * 4_000) + " = 1",
    "dotted-long": ".".join(["a"] * 40_000) + " = 1",
    "arrays": "a = " + "[" * DEPTH,
    "arrays-closed": "timeout = " + "[" * 900 + "]" * 900,
    "inline": "timeout = " + "{a=" * 900 + "1" + "}" * 900,
    "digits": "timeout = " + "9" * 4_200,
    "digits-long": "timeout = " + "9" * 7_900,
    "text": f'timeout = "{"x" * 7_000}"',
    "dates": "timeout = 2020-01-01T00:00:00Z",
    "infinite": "timeout = inf\nmax_tokens = nan",
    "zone": 'time_zone = "../../../../etc/passwd"',
    "many": "\n".join(f"k{number} = 1" for number in range(700)),
    "types": "max_tokens = {}\ntemperature = []\nstm_capacity = true\nusers = 3\nholdout = 'x'",
    "unicode": 'time_zone = "\U0001f4a9\u0301\u202e"',
}
JSON: dict[str, str] = {
    "deep": "[" * DEPTH,
    "deep-hooks": '{"hooks": ' + '{"PreToolUse":' * 20_000,
    "wide": json.dumps({f"k{number}": number for number in range(60_000)}),
    "types": '{"hooks": [1, 2], "disableAllHooks": {}}',
    "nested-types": '{"hooks": {"PreToolUse": [{"hooks": [{"command": 3}, null, "x"]}]}}',
    "comments": "/*" * 200_000,
    "escapes": '{"hooks": {"\\u001b]0;owned\\u0007": [{"command": "\\u202e"}]}}',
    "text": '{"a": "' + "\\u0000" * 100_000,
}
NAMES = ("plain", "a space", "'; rm -rf x", "ünïcödé", "\u202egnp.toml", "日本語", "-rf", "$(id)", "a" * 200, "\udcff")


def _made(root: Path) -> list[Path]:
    """The repositories, each with one thing that means harm."""
    places = ["insula.toml", str(HOSTS["claude-code"].settings(Path())), ".git"]
    things = [(place, name, put) for place in places for name, put in KINDS.items()]
    things += [("insula.toml", name, _text(text)) for name, text in TOML.items()]
    things += [(str(HOSTS["gemini"].settings(Path())), name, _text(text)) for name, text in JSON.items()]
    things += [(".git/index", name, KINDS[name]) for name in ("zero", "pipe", "sparse", "out", "folder", "loop", "nul")]
    made: list[Path] = []
    for number, (place, name, put) in enumerate(things):
        folder = root / f"{number}-{NAMES[number % len(NAMES)]}"
        target = folder / place
        target.parent.mkdir(parents=True)
        if place != ".git":
            (folder / ".git").mkdir(exist_ok=True)
        put(target)
        made.append(folder)
        assert os.path.lexists(target), name
    for host in HOSTS.values():  # whose hooks name what the repository brought
        folder = root / f"hooks-{host.id}"
        (folder / ".git").mkdir(parents=True)
        hostile(host, folder, lines_of(host.id, folder, Path.home() / ".insula"))
        made.append(folder)
    return made


def _run(command: str, folder: Path) -> tuple[int, int, str]:
    """Run a command in a folder, in a process of its own; returns status, peak of memory and what it said."""
    with tempfile.TemporaryFile() as said, Path(os.devnull).open("rb") as nothing:
        child = os.fork()
        if not child:
            os.chdir(folder)
            for number, stream in enumerate((nothing, said, said)):
                os.dup2(stream.fileno(), number)
            sys.argv = ["insula", *command.split()]
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # a failed test must not hurt the machine
            signal.alarm(HANGS)
            _leave(_status())
        _, status, used = os.wait4(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024, said.read().decode("utf-8", "replace")


def _status() -> int:
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
    try:
        main.main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    except BaseException:  # noqa: BLE001 whatever it is, it must not go on as a second run of the tests
        traceback.print_exc()
        return 4
    return 0


def _leave(status: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")


def _trouble(command: str, folder: Path, usual: int) -> str:
    """What is wrong with how a command did in a repository; empty where nothing is."""
    status, memory, said = _run(command, folder)
    if status in {0, 1, 2} and "Traceback" not in said and "\x1b" not in said and memory <= usual + MOST_MEMORY:
        return ""
    return f"{folder.name!r} {command}: {status}, {(memory - usual) >> 20} MB more, {said[-300:]!r}"


@needs_fork
def test_no_repository_can_hang_fill_or_stop_a_command(tmp_path: Path) -> None:
    """Each repository meets one of the commands in turn."""
    (tmp_path / "empty").mkdir()
    usual = {command: _run(command, tmp_path / "empty")[1] for command in COMMANDS}
    repositories = _made(tmp_path / "cloned")
    assert len(repositories) >= 80
    met = ((folder, COMMANDS[number % len(COMMANDS)]) for number, folder in enumerate(repositories))
    troubles = [_trouble(command, folder, usual[command]) for folder, command in met]
    assert not (bad := [trouble for trouble in troubles if trouble]), "\n".join(bad)


@needs_fork
@pytest.mark.parametrize("command", DEAR)
def test_what_a_repository_brought_is_left_aside_by_what_opens_the_memory(tmp_path: Path, command: str) -> None:
    for needed in ("insula.cli.chat", "pydantic_ai.models.test", "alembic.command"):
        import_module(needed)  # once, and not in each process
    for name in ("empty", "zero", "pipe", "unknown"):
        (tmp_path / name).mkdir()
    (tmp_path / "zero" / FILE).symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe" / FILE)
    (tmp_path / "unknown" / FILE).write_text("colour = 1")
    usual, memory, _ = _run(command, tmp_path / "empty")
    for name in ("zero",) if command.startswith("chat") else ("zero", "pipe", "unknown"):  # a talk takes a second
        status, more, said = _run(command, tmp_path / name)
        assert (status, "left aside" in said) == (usual, True), said
        assert more <= memory + MOST_MEMORY
