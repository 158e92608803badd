"""Hooks that are files of their own: never over another's, never away with what a person wrote into them."""

import os
import subprocess
from pathlib import Path

import pytest
from installing import examine, found, insula, settings_of

SCRIPTED = ["cline", "opencode"]
EXPERIMENTAL = {"cline": "Cline", "cursor": "Cursor", "droid": "Factory droid"}


pytestmark = pytest.mark.usefixtures("user")


def files(name: str) -> list[Path]:
    """The files of its hooks that there are."""
    return sorted(path for path in settings_of(name).parent.glob("*") if path.is_file())


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_file_of_another_is_refused_and_nothing_is_written(name: str, home: Path) -> None:
    theirs = settings_of(name)
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
    assert files(name) == [changed]
    assert changed.read_text() == text
    assert (home / "hook/run.py").exists(), "it still runs it"


@pytest.mark.parametrize("name", SCRIPTED)
def test_scripts_are_found_and_taken_out_when_our_records_are_lost(name: str, home: Path) -> None:
    insula("install", name)
    (home / "installed.json").unlink()
    assert found("settings", examine(name))
    insula("uninstall", name)
    assert not files(name)


@pytest.mark.parametrize("host", EXPERIMENTAL)
def test_an_experimental_host_says_so_and_what_nobody_has_seen(host: str) -> None:
    said = insula("install", host)[1]
    unseen = said.partition(f"{EXPERIMENTAL[host]} is experimental: ")[2].splitlines()[0]
    assert unseen
    assert unseen[:30] in " ".join(insula("doctor", host)[1].split())


def test_a_program_for_cline_answers_nothing_to_what_it_does_not_know() -> None:
    insula("install", "cline")
    done = subprocess.run([str(files("cline")[0])], input=b"{}", capture_output=True, check=False, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
