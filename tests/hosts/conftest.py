"""What the tests of the hosts share: what a trial of a hook came to, and what the hook's code was compiled to."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from installing import VARIABLES

from insula.coding.hosts import doctor, places, runtime, trials
from insula.coding.hosts.places import Host
from insula.coding.hosts.records import Installed
from insula.coding.hosts.trials import Trial

Attempt = Callable[[Installed, Host, str, str, Mapping[str, str]], Trial]
_UNREAD = {"sessions", "failures.jsonl", "installed.json", "lock"}
"""What no trial reads, in the folder of the hooks' state."""
_KNOWN: dict[tuple[object, ...], Trial] = {}


@pytest.fixture
def user(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose home is empty but for a project, in which they stand."""
    folder = tmp_path / "user"
    (folder / "project").mkdir(parents=True)
    home.chmod(0o700)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder / "project")
    return folder


@pytest.fixture
def each_tried(tried_once: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every trial is made, as outside of tests."""
    monkeypatch.setattr(trials, "try_command", tried_once)


@pytest.fixture(autouse=True)
def tried_once(monkeypatch: pytest.MonkeyPatch) -> Attempt:
    """A trial of the doctor's takes seconds: one that went well is not repeated with the same command and code.

    Returns what tries a hook however often it was tried.
    """
    attempt = trials.try_command

    def known(command: Installed, host: Host, session: str, cwd: str, env: Mapping[str, str]) -> Trial:
        if not session.startswith(doctor.TRIAL):
            return attempt(command, host, session, cwd, env)
        if (state := (host.id, *_state(command, places.find_home()))) in _KNOWN:
            return _KNOWN[state]
        trial = attempt(command, host, session, cwd, env)
        if trial.failing[-1].output:
            _KNOWN[state] = trial
        return trial

    monkeypatch.setattr(trials, "try_command", known)
    return attempt


def _state(command: str, house: Path) -> tuple[object, ...]:
    """All that a hook's answer hangs on: its command, and each file and folder that it may read or write."""
    tops = sorted(path for path in house.iterdir() if path.name not in _UNREAD)
    found = sorted(one for top in tops for one in (top, *top.rglob("*")))
    files = ((str(one.relative_to(house)), one.stat().st_mode, _content(one)) for one in found)
    return command.replace(str(house), ""), house.stat().st_mode, *files


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() and path.suffix != ".pyc" else b""


_SAID: dict[tuple[str, ...], str] = {}
_COMPILED: dict[tuple[str, str], dict[str, bytes]] = {}
"""By interpreter and name of the folder, which is a digest of the sources: the compiled files."""


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same interpreter makes the same of the same code each time that it is installed, and has the same version."""
    run: Callable[..., str] = runtime._run_python  # pyright: ignore[reportPrivateUsage]

    def known(python: str, *words: str) -> str:
        if not python.startswith(sys.base_prefix):
            return run(python, *words)
        if len(words) < 4:
            key = (python, *words)
            if key not in _SAID:
                _SAID[key] = run(python, *words)
            return _SAID[key]
        fresh, key = Path(words[-2]), (python, Path(words[-1]).name)
        if key not in _COMPILED:
            said = run(python, *words)
            _COMPILED[key] = {str(path.relative_to(fresh)): path.read_bytes() for path in fresh.rglob("*.pyc")}
            return said
        for name, compiled in _COMPILED[key].items():
            (fresh / name).parent.mkdir(mode=0o700, exist_ok=True)
            (fresh / name).touch(mode=0o600)
            (fresh / name).write_bytes(compiled)
        return ""

    monkeypatch.setattr(runtime, "_run_python", known)
