"""What the tests of the contract share: a person's own folder, and PostgreSQL where it is there."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of somebody on this machine, in whose sessions nothing is withheld by chance."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("INSULA_HOLDOUT", "0")
    return folder


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is: a file, and a database of PostgreSQL where there is one."""
    return str(tmp_path / "insula.db") if request.param == "sqlite" else request.getfixturevalue("database")
