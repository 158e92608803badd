"""`insula config`, `-h`, and errors as JSON."""

import json
import tomllib
from pathlib import Path

import pytest

from insula.cli import main
from insula.cli.commented import commented
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
    lines = [line[1:] for line in commented().splitlines() if line.startswith("#") and not line.startswith("# ")]
    given = tomllib.loads("\n".join(line for line in lines if not line.endswith("=")))
    default = Settings().model_dump(mode="json")
    assert given.keys() == {name for name, value in default.items() if value is not None} - {"users"}
    assert Settings(**given) == Settings()


def test_the_settings_in_force_are_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_TIMEOUT", "7")
    assert "timeout = 7.0" in run(capsys, monkeypatch, "config", "show")[1]
    assert json.loads(run(capsys, monkeypatch, "config", "show", "--json")[1])["timeout"] == 7.0


def test_where_they_are_looked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    assert run(capsys, monkeypatch, "config", "path")[1] == f"{home / 'insula.toml'}\n"


@pytest.mark.parametrize("words", [("-h",), ("rules", "-h"), ("config", "show", "-h")])
def test_a_short_option_asks_for_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    code, out, _ = run(capsys, monkeypatch, *words)
    assert (code, "Usage:" in out) == (0, True)


@pytest.mark.parametrize("words", [("status", "--json", "--nothing"), ("nothing", "--json")])
def test_with_json_even_a_word_that_is_no_option_is_told_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, monkeypatch, *words)
    assert (code, out, json.loads(err)["error"]["kind"]) == (2, "", "UsageError")


@pytest.mark.parametrize(
    "words",
    [("replay", "nowhere"), ("memory", "show", "9"), ("soul", "undo"), ("rules", "mute", "x"), ("rules", "show", "x")],
)
def test_with_json_each_command_tells_of_what_fails_in_the_same_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, monkeypatch, *words, "--json")
    assert (code, out, json.loads(err)["error"]["kind"]) == (1, "", "InputError")


def test_with_json_a_command_that_speaks_says_it_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "rules", "pin", "reread", "--json")
    assert code == 0
    assert json.loads(out)["said"][0].startswith("'reread' will be told in every session")
    assert json.loads(run(capsys, monkeypatch, "rules", "show", "reread", "--json")[1])["state"] == "pinned"
