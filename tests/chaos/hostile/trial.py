"""One try: some work in a process of its own, inside a site whose every corner is watched, and what it did there."""

import contextlib
import json
import logging
import os
import resource
import shutil
import signal
import stat
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from insula.cli.common import PORT

Kind = Literal["hung", "executed", "followed", "told", "written", "failed"]
KINDS: tuple[Kind, ...] = ("hung", "executed", "followed", "told", "written", "failed")
"""What is counted. Failed: a traceback, a status that means nothing, or more memory than the work takes elsewhere."""
CPU_SECONDS = 20
"""Seconds of work after which a command is taken to be held up; it needs a second or two."""
BLOCKED_SECONDS = 120
"""After which a process is taken to wait for ever; no measure of speed."""
MOST_MEMORY = 64 << 20
"""Bytes that something hostile may cost beyond what the same work takes without it."""
TOKEN = "kumquat-7731"
"""A word that stands in all that is hostile, and nowhere else."""
CANARY = "canary"
DEVICES = ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full", "/dev/tty", "/proc/self/mem", "/etc/passwd")
OWN_SERVER = str(("127.0.0.1", PORT))
"""`insula status` asks whether one runs."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {"os.rename": 1, "os.remove": 0, "os.mkdir": 0, "os.rmdir": 0, "os.symlink": 1, "os.link": 1, "os.chmod": 0}
"""Audit events that change a folder, and which argument names the place."""
_RUNS = frozenset(("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn"))


@dataclass(frozen=True)
class Site:
    """The folders of a play: a home with Insula's folder in it, what lies outside, and clones."""

    root: Path

    @property
    def user(self) -> Path:
        """The home of the person."""
        return self.root / "user"

    @property
    def home(self) -> Path:
        """Insula's folder."""
        return self.user / ".insula"

    @property
    def outside(self) -> Path:
        """What no repository may have read or written."""
        return self.root / "outside"

    @property
    def canary(self) -> Path:
        """A file that is there once something of theirs was run."""
        return self.root / CANARY

    def make(self) -> "Site":
        """Make the folders, and what is to be left alone."""
        for folder in (self.user, self.home, self.outside, self.root / "clones", self.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        (self.outside / "secret.txt").write_text(f"{TOKEN} lies outside\n")
        (self.outside / "secret.jsonl").write_text(json.dumps({"type": "user", "message": {"content": TOKEN}}) + "\n")
        (self.outside / "ignore").write_text("*\n")
        return self

    def environment(self) -> dict[str, str]:
        """The variables of whoever works here."""
        return {
            "HOME": str(self.user),
            "INSULA_HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "PATH": f".:{os.environ['PATH']}",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "INSULA_HOLDOUT": "off",
            "INSULA_EMBED": "none",
            "PIP_INDEX_URL": "http://127.0.0.1:9",
            "PIP_RETRIES": "0",
            # pip asks `rustc` for its version, and where that is rustup's, it makes a folder of its own
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path("~/.rustup").expanduser())),
            "UV_OFFLINE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@dataclass
class Outcome:
    """What a try came to.

    Attributes:
        status: of its process, negative where a signal ended it.
        cpu: seconds of work.
        memory: the peak, in bytes.
        said: what it wrote to standard output and standard error.
        troubles: what of the kinds was found, each with a clause that says what.
    """

    status: int
    cpu: float
    memory: int
    out: str
    err: str
    troubles: dict[Kind, list[str]] = field(default_factory=dict[Kind, list[str]])

    @property
    def said(self) -> str:
        """All that it wrote."""
        return self.out + self.err

    def note(self, kind: Kind, what: str) -> None:
        """Count a trouble."""
        self.troubles.setdefault(kind, []).append(what)

    def forgive(self, kind: Kind, what: str) -> None:
        """Take back what was meant to be."""
        self.troubles[kind] = [each for each in self.troubles.get(kind, ()) if each != what]


def run(work: Callable[[], object], site: Site, folder: Path, given: bytes = b"", *, hushed: bool = False) -> Outcome:
    """Do some work in a process of its own, in a folder; what it did is counted, but for what it was told.

    Args:
        work: what is done; `SystemExit` gives its status.
        site: where.
        folder: the working folder.
        given: standard input.
        hushed: whether what is said goes to a person's terminal, where escapes would be obeyed.
    """
    before = dict(_tree(site, folder))
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with tempfile.TemporaryFile() as seen:
            stdin.write(given)
            stdin.seek(0)
            child = os.fork()
            if not child:
                _be_the_child(work, site, folder, (stdin.fileno(), out.fileno(), err.fileno()), seen.fileno())
            _, status, used = os.wait4(child, 0)
            seen.seek(0)
            events = [json.loads(line) for line in seen.read().splitlines()]
        out.seek(0)
        err.seek(0)
        outcome = Outcome(
            os.waitstatus_to_exitcode(status),
            used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024,
            out.read().decode("utf-8", "replace"),
            err.read().decode("utf-8", "replace"),
        )
    _judge_end(outcome, hushed)
    for event, *words in events:
        _judge_event(outcome, site, event, words)
    _judge_tree(outcome, site, before, dict(_tree(site, folder)))
    return outcome


def _be_the_child(work: Callable[[], object], site: Site, folder: Path, streams: tuple[int, ...], seen: int) -> None:
    """Work, and never return: whatever happens must not go on as a second run of the tests."""
    status = 70
    try:
        seen = os.dup(seen)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        environment = site.environment()
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        logging.getLogger().handlers.clear()  # a test before may have had its log elsewhere
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # a failed test must not hurt the machine
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        signal.alarm(BLOCKED_SECONDS)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
        sys.addaudithook(_watch(seen))
        status = _status(work)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    except BaseException:  # noqa: BLE001 of ours, in the parent's words
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _status(work: Callable[[], object]) -> int:
    try:
        work()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 whatever it is, it is said
        traceback.print_exc()
        return 70
    return 0


def _watch(seen: int) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that writes down what is opened, changed, run and called."""

    def watch(event: str, words: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = words
            found = [event, _name(path), flags] if isinstance(path, str | bytes | os.PathLike) else None
        elif event in _CHANGES:  # what is named from an open folder is seen in the folder itself
            found = [event, _name(words[_CHANGES[event]])] if words[-1] == -1 or event == "os.symlink" else None
        elif event in _RUNS:
            found = [event, _program(words[0], words[-1] if event == "subprocess.Popen" else None)]
        elif event == "socket.connect":
            found = [event, str(words[1])]
        else:
            found = None
        if found:
            os.write(seen, json.dumps(found).encode() + b"\n")

    return watch


def _program(name: Any, environment: Any) -> str:
    """Where a program lies that is named as for a shell."""
    said = "" if name is None else os.fsdecode(name)
    folders = (environment or os.environ).get("PATH", os.defpath)
    return _name(said if "/" in said else shutil.which(said, path=folders) or f"/nowhere/{said}")


def _name(path: Any) -> str:
    if isinstance(path, int):
        return ""
    try:
        return str(Path(os.fsdecode(path)).absolute())
    except (TypeError, ValueError, OSError):
        return ""


def _judge_end(outcome: Outcome, hushed: bool) -> None:
    if -outcome.status in {signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL}:
        outcome.note("hung", f"ended by signal {-outcome.status} after {outcome.cpu:.1f} s of work")
    elif outcome.status not in {0, 1, 2, 3, 130} or "Traceback" in outcome.said:
        outcome.note("failed", f"status {outcome.status}: {outcome.said[-300:]!r}")
    if hushed and (bad := next((char for char in outcome.said if _is_obeyed(char)), "")):
        outcome.note("executed", f"a terminal would obey {bad!r} in {outcome.said[:200]!r}")


def _is_obeyed(char: str) -> bool:
    """Whether a terminal does something at a character, or shows what is not there."""
    return (char < " " and char not in "\n\t\r") or "\x7f" <= char <= "\x9f" or char in "\u202d\u202e"


def _judge_event(outcome: Outcome, site: Site, event: str, words: list[Any]) -> None:
    if event == "socket.connect":
        if words[0] != OWN_SERVER:
            outcome.note("followed", f"called {words[0]}")
        return
    path = words[0]
    real = os.path.realpath(path)
    if event in _RUNS:
        if _is_in(real, str(site.root)):
            outcome.note("executed", f"ran {real}")
    elif event == "open" and not words[1] & _WRITING:
        if _is_in(real, str(site.outside)) or path in DEVICES or real in DEVICES:
            outcome.note("followed", f"read {real}")
    elif not _may_write(real, site):
        outcome.note("written", f"{event} {real}")


def _may_write(path: str, site: Site) -> bool:
    """Whether a place is one whose changes are seen afterwards, or none."""
    return _is_in(path, str(site.root)) or path in {os.devnull, "", "/dev/tty"}


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _tree(site: Site, folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """All that lies in the person's home, outside and in the clone, with what changes when it is written to."""
    for top in (site.user, site.outside, folder, site.root / "tmp"):
        for where, folders, files in os.walk(top):
            if Path(where) == site.home:
                folders.clear()
                continue
            for name in [*files, *folders]:
                path = f"{where}/{name}"
                found = os.lstat(path)
                kept = 0 if stat.S_ISDIR(found.st_mode) else found.st_mtime_ns
                yield path, (found.st_mode, found.st_size if not stat.S_ISDIR(found.st_mode) else 0, kept)
    if site.canary.exists():
        yield str(site.canary), (site.canary.stat().st_size,)


def _judge_tree(outcome: Outcome, site: Site, before: Mapping[str, object], after: Mapping[str, object]) -> None:
    for path in sorted({*before, *after}):
        if before.get(path) == after.get(path):
            continue
        if path == str(site.canary):
            outcome.note("executed", f"{site.canary.read_text()[-100:]!r} was run")
        else:
            outcome.note("written", f"{path!r} is another than before")
