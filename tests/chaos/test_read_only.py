"""A folder of Insula's in which nothing may be written: every command says so, and a hook leaves its host alone."""

import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import commands
from hostile.trial import Outcome, Site, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's capabilities")
READ = frozenset(
    (
        "",
        "uninstall",
        "config",
        "token",
        "model",
        "config show",
        "config path",
        "token list",
        "model list",
        "model path",
        "plugin build",
        "guidance rules",
        "guidance rules list",
        "guidance rules export",
    )
)
"""Commands that write nothing there, as they are typed here: they may answer."""


def bound(work: Callable[[], None]) -> Callable[[], None]:
    """The same work, for which the rights of files hold although it runs as root."""

    def bound_work() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert not libc.capget(header, sets)
        for effective_or_permitted in (0, 1):
            sets[effective_or_permitted] &= ~0b110  # to pass over the rights to write, read and search
        assert not libc.capset(header, sets)
        work()

    return bound_work


def forbid(folder: Path) -> dict[str, bytes]:
    """Take the right to write from all that lies in a folder; returns its files."""
    files = {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o500 if path.is_dir() else 0o400)
    folder.chmod(0o500)
    return files


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Where somebody has talked before, and may not write any more."""
    made = Site(tmp_path_factory.mktemp("home") / "site").make()
    (made.user / "talk.jsonl").write_text(json.dumps({"role": "user", "content": "I live in Porto."}) + "\n")
    commands.warm()
    said = b"My cat is called Momo.\nFrom now on answer in two sentences.\n"
    assert not run(commands.typed("chat", "chat --model test"), made, made.user, said).status
    return made


def typed(site: Site, name: str, line: str) -> Outcome:
    work = bound(commands.typed(name, line.format(host="claude-code", home=site.root / "tmp")))
    return run(work, site, site.user, commands.GIVEN.get(name, b""))


def test_every_command_says_where_nothing_can_be_written(site: Site) -> None:
    before = forbid(site.home)
    for name, line in commands.lines().items():
        outcome = typed(site, name, line)
        assert "failed" not in outcome.troubles, (name, outcome.said[-500:])
        assert "hung" not in outcome.troubles, name
        assert outcome.said.strip(), name
        assert outcome.status or name in READ, (name, outcome.said)
    assert {path: Path(path).read_bytes() for path in before} == before


def test_a_command_that_cannot_write_names_the_folder_and_the_reason(site: Site) -> None:
    forbid(site.home)
    for name, line in (("chat", "chat --model test"), ("on", "on"), ("token new", "token new me")):
        assert str(site.home) in typed(site, name, line).err, name
