"""Hooks that are files of their own: never over another's, never away with what a person wrote into them."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from insula.cli.main import app
from insula.coding.hosts import present, scripts
from insula.coding.hosts.places import HOSTS, HookCommand, Host
from insula.errors import InsulaError

SCRIPTED = sorted(name for name in HOSTS if HOSTS[name].script)


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user"
    (folder / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for host in HOSTS.values():
        monkeypatch.delenv(host.variable, raising=False)
    monkeypatch.chdir(folder / "project")
    return folder


def files(name: str) -> list[Path]:
    return list(scripts.list_scripts(HOSTS[name], HOSTS[name].find_settings()))


def insula(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, words)
    return result.exit_code, f"{result.exception}" if isinstance(result.exception, InsulaError) else result.output


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.parametrize("where", [[], ["--project"]])
def test_what_was_not_there_is_gone_again_with_its_folders(name: str, where: list[str], user: Path) -> None:
    before = sorted(user.rglob("*"))
    assert insula("install", name, *where)[0] == 0
    written = [path for path in user.rglob("*") if path.is_file()]
    assert len(written) == len(files(name))
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o700 if name == "cline" else 0o600}
    assert insula("uninstall", name, *where)[0] == 0
    assert sorted(user.rglob("*")) == before


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_file_of_another_is_refused_and_nothing_is_written(name: str, home: Path) -> None:
    theirs = files(name)[-1]
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\necho mine\n")
    code, said = insula("install", name)
    assert code == 1 and "not of Insula's making" in said and str(theirs) in said
    assert [path.name for path in theirs.parent.iterdir()] == [theirs.name]
    assert not (home / "hook").exists()
    assert "no hooks of Insula in" in insula("uninstall", name)[1]
    assert theirs.read_text() == "#!/bin/sh\necho mine\n"


@pytest.mark.parametrize("name", SCRIPTED)
def test_what_a_person_changed_stays_and_is_named(name: str, home: Path) -> None:
    insula("install", name)
    changed = files(name)[0]
    text = changed.read_text() + "\n// mine\n"
    changed.write_text(text)
    code, said = insula("install", name)
    assert code == 1 and "was changed by hand" in said
    code, said = insula("uninstall", "--all")
    assert code == 0 and f"{changed} was changed by hand, so it stays" in said
    assert [path for path in files(name) if path.exists()] == [changed]
    assert changed.read_text() == text
    assert (home / "hook/run.py").exists(), "it still runs it"


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.parametrize("then", ["install", "uninstall"])
def test_what_an_earlier_version_wrote_is_ours(name: str, then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = scripts.render_script

    def before(host: Host, command: HookCommand) -> bytes:
        return now(host, command) + b"\n"

    with monkeypatch.context() as earlier:
        earlier.setattr(scripts, "render_script", before)
        insula("install", name)
    old = files(name)[0].read_text()
    assert insula(then, name)[0] == 0
    assert [path.read_text() for path in files(name) if path.exists()] == (
        [old[:-1]] * len(files(name)) if then == "install" else []
    )


@pytest.mark.parametrize("name", SCRIPTED)
def test_scripts_are_found_and_taken_out_when_our_records_are_lost(name: str, home: Path) -> None:
    insula("install", name)
    (home / "installed.json").unlink()
    assert len(present.find_hooks(HOSTS[name], Path.cwd()).here) == 1
    insula("uninstall", name)
    assert not any(path.exists() for path in files(name))


def test_an_experimental_host_says_so_and_what_nobody_has_seen() -> None:
    for name in (name for name in HOSTS if HOSTS[name].unproven):
        said = insula("install", name)[1]
        assert f"{HOSTS[name].name} is experimental: {HOSTS[name].unproven}" in said
        assert HOSTS[name].unproven[:30] in " ".join(insula("doctor", name)[1].split())


def test_a_program_for_cline_answers_nothing_to_what_it_does_not_know() -> None:
    insula("install", "cline")
    done = subprocess.run([str(files("cline")[0])], input=b"{}", capture_output=True, check=False, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
