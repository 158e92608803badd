"""`insula model` as its user meets it; what it fetches is made up, and the reasoner itself is too large for a test."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness import Ran, run_insula

from insula.testing import ModelUnavailable

CONTENT = b"weights"
ABOUT = "as small as can be"
TINY = SimpleNamespace(
    parts=(1, 2),
    name="tiny",
    about=ABOUT,
    file="tiny.gguf",
    package="",
    bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)


def insula(*words: str) -> Ran:
    return run_insula("model", *words)


@pytest.fixture(autouse=True)
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Only the tiny model is known; where it was brought to."""
    folders: list[Path] = []

    def install(weights: Any, folder: Path, on_bytes: Callable[[int], object]) -> Path:
        folders.append(folder)
        on_bytes(weights.bytes)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / weights.file).write_bytes(CONTENT)
        return folder / weights.file

    monkeypatch.setattr("insula.llm.local.WEIGHTS", {"tiny": TINY})
    monkeypatch.setattr("insula.cli.model.install_weights", install)
    return folders


def test_weights_are_brought_into_insulas_folder_and_listed_with_their_place(home: Path) -> None:
    assert "not installed; run: insula model install tiny" in insula("list").out
    path = home / "weights" / "tiny.gguf"
    installed = insula("install", "tiny")
    assert (installed.status, installed.out) == (0, f"{path}\n")
    assert "in 2 packages" in installed.err
    assert f"0 MB  {path}\n" in insula("list").out
    assert insula("path", "tiny") == Ran(0, f"{path}\n", "")


def test_a_damaged_file_is_replaced(home: Path, fetched: list[Path]) -> None:
    insula("install", "tiny")
    (home / "weights" / "tiny.gguf").write_bytes(b"damaged")
    assert insula("install", "tiny").status == 0
    assert (len(fetched), (home / "weights" / "tiny.gguf").read_bytes()) == (2, CONTENT)


def test_the_setting_names_another_folder(tmp_path: Path, fetched: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_WEIGHTS", str(tmp_path / "elsewhere"))
    assert insula("install", "tiny").out == f"{tmp_path / 'elsewhere' / 'tiny.gguf'}\n"
    assert fetched == [tmp_path / "elsewhere"]
    assert insula("path", "tiny").status == 0


def test_machines_get_json(home: Path) -> None:
    (known,) = insula("list", "--json").json["models"]
    assert known == {"name": "tiny", "about": ABOUT, "bytes": 7, "installed": False, "path": None}
    record = insula("install", "tiny", "--json").json
    assert (record["installed"], record["path"]) == (True, str(home / "weights" / "tiny.gguf"))


@pytest.mark.parametrize("command", ["install", "path"])
def test_an_unknown_name_is_told_with_the_known_ones(command: str) -> None:
    said = "insula: There are no embedded weights called 'nothing'; name one of tiny.\n"
    assert insula(command, "nothing") == Ran(1, "", said)


def test_a_failure_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Path:
        raise ModelUnavailable("It cannot be fetched.")

    monkeypatch.setattr("insula.cli.model.install_weights", fails)
    failed = insula("install", "tiny")
    assert (failed.status, failed.out, failed.err.splitlines()[-1]) == (1, "", "insula: It cannot be fetched.")
