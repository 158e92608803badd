"""`insula model` as its user meets it; what it fetches is made up, and the reasoner itself is too large for a test."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from insula.cli.main import main
from insula.errors import ModelUnavailable
from insula.llm import local
from insula.llm.local import QWEN_CODER, Weights

CONTENT = b"weights"
TINY = replace(
    QWEN_CODER, name="tiny", file="tiny.gguf", bytes=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest()
)
Insula = Callable[..., tuple[int, str, str]]


@pytest.fixture
def insula(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Insula:
    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["insula", "model", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    return run


@pytest.fixture(autouse=True)
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Only the tiny model is known; where it was brought to."""
    folders: list[Path] = []

    def install(weights: Weights, folder: Path, on_bytes: Callable[[int], object]) -> Path:
        folders.append(folder)
        on_bytes(weights.bytes)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / weights.file).write_bytes(CONTENT)
        return folder / weights.file

    monkeypatch.setattr(local, "WEIGHTS", {"tiny": TINY})
    monkeypatch.setattr("insula.cli.model.install_weights", install)
    monkeypatch.setattr("insula.cli.model.parts_of", lambda _: (1, 2))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    return folders


def test_weights_are_brought_into_insulas_folder_and_listed_with_their_place(insula: Insula, home: Path) -> None:
    code, shown, _ = insula("list")
    assert (code, "not installed; run: insula model install tiny" in shown) == (0, True)
    code, shown, said = insula("install", "tiny")
    path = home / "weights" / "tiny.gguf"
    assert (code, shown) == (0, f"{path}\n")
    assert "in 2 packages" in said
    assert f"0 MB  {path}\n" in insula("list")[1]
    assert insula("path", "tiny") == (0, f"{path}\n", "")


def test_a_damaged_file_is_replaced(insula: Insula, home: Path, fetched: list[Path]) -> None:
    insula("install", "tiny")
    (home / "weights" / "tiny.gguf").write_bytes(b"damaged")
    assert insula("install", "tiny")[0] == 0
    assert (len(fetched), (home / "weights" / "tiny.gguf").read_bytes()) == (2, CONTENT)


def test_the_setting_names_another_folder(
    insula: Insula, tmp_path: Path, fetched: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSULA_WEIGHTS", str(tmp_path / "elsewhere"))
    assert insula("install", "tiny")[1] == f"{tmp_path / 'elsewhere' / 'tiny.gguf'}\n"
    assert fetched == [tmp_path / "elsewhere"]
    assert insula("path", "tiny")[0] == 0


def test_machines_get_json(insula: Insula, home: Path) -> None:
    assert json.loads(insula("list", "--json")[1])["models"][0] == {
        "name": "tiny",
        "about": TINY.about,
        "bytes": 7,
        "installed": False,
        "path": None,
    }
    record = json.loads(insula("install", "tiny", "--json")[1])
    assert (record["installed"], record["path"]) == (True, str(home / "weights" / "tiny.gguf"))


@pytest.mark.parametrize("command", ["install", "path"])
def test_an_unknown_name_is_told_with_the_known_ones(insula: Insula, command: str) -> None:
    code, shown, said = insula(command, "nothing")
    assert (code, shown) == (1, "")
    assert said == "insula: There are no embedded weights called 'nothing'; name one of tiny.\n"


def test_a_failure_is_one_sentence(insula: Insula, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Path:
        raise ModelUnavailable("It cannot be fetched.")

    monkeypatch.setattr("insula.cli.model.install_weights", fails)
    code, shown, said = insula("install", "tiny")
    assert (code, shown, said.splitlines()[-1]) == (1, "", "insula: It cannot be fetched.")
