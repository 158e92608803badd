"""`insula config`, `-h`, and errors as JSON."""

import json
import tomllib
from pathlib import Path

import pytest

from insula.cli import main
from insula.cli.config import write_commented
from insula.settings import Settings


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["insula", *words])
    with pytest.raises(SystemExit) as ended:
        main.main()
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_file_of_settings_is_begun_once_and_sets_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    assert run(capsys, monkeypatch, "config", "init")[0] == 0
    text = (home / "insula.toml").read_text("utf-8")
    assert tomllib.loads(text) == {}
    code, out, err = run(capsys, monkeypatch, "config", "init", "--json")
    assert (code, out) == (1, "")
    assert json.loads(err)["error"]["kind"] == "InputError"
    assert (home / "insula.toml").read_text("utf-8") == text


def test_each_line_of_it_can_be_set_by_taking_the_mark_away() -> None:
    lines = [line[1:] for line in write_commented().splitlines() if line.startswith("#") and not line.startswith("# ")]
    given = tomllib.loads("\n".join(line for line in lines if not line.endswith("=")))
    default = Settings().model_dump(mode="json")
    assert given.keys() == {name for name, value in default.items() if value is not None} - {"users"}
    assert Settings(**given) == Settings()


def test_with_json_a_command_that_speaks_says_it_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "rules", "pin", "reread", "--json")
    assert code == 0
    assert json.loads(out)["said"][0].startswith("'reread' is used in every session")
    assert json.loads(run(capsys, monkeypatch, "rules", "show", "reread", "--json")[1])["state"] == "pinned"
