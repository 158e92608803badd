"""`insula config`: the file of settings, begun, changed and refused."""

import json
import tomllib
from pathlib import Path

import pytest
from harness import run_insula as insula


def test_a_file_of_settings_is_begun_once_and_sets_nothing(home: Path) -> None:
    assert insula("config", "init").status == 0
    text = (home / "insula.toml").read_text("utf-8")
    assert tomllib.loads(text) == {}
    again = insula("config", "init", "--json")
    assert (again.status, again.out, json.loads(again.err)["error"]["kind"]) == (1, "", "InputError")
    assert (home / "insula.toml").read_text("utf-8") == text


def test_each_line_of_it_can_be_set_by_taking_the_mark_away(home: Path) -> None:
    default = insula("config", "show", "--json").json
    insula("config", "init")
    begun = (home / "insula.toml").read_text("utf-8").splitlines()
    lines = [line[1:] for line in begun if line.startswith("#") and not line.startswith("# ") and line[-1] != "="]
    (home / "insula.toml").write_text("\n".join(lines))
    assert tomllib.loads("\n".join(lines)).keys() >= {"model", "retry", "holdout", "embed"}
    assert insula("config", "show", "--json").json == default


def test_one_setting_is_written_and_the_comments_stay(home: Path) -> None:
    file = home / "insula.toml"
    insula("config", "init")
    before = file.read_text()
    assert insula("config", "set", "model", "openai:gpt-5-mini")[0] == 0
    assert json.loads(insula("config", "show", "--json")[1])["model"] == "openai:gpt-5-mini"
    assert len(file.read_text().splitlines()) == len(before.splitlines())
    assert insula("config", "set", "retry", "1")[0] == 0
    assert insula("config", "unset", "model")[0] == 0
    shown = json.loads(insula("config", "show", "--json")[1])
    assert (shown["model"], shown["retry"]) == ("embedded", 1)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [("retry", "7", "cannot be"), ("modell", "x", "no setting"), ("store", "postgresql://a:b@c/d", "password")],
)
def test_a_setting_that_cannot_be_is_not_written(key: str, value: str, why: str, home: Path) -> None:
    code, _, err = insula("config", "set", key, value)
    assert (code, why in err) == (1, True)
    assert not (home / "insula.toml").exists()


def test_with_json_a_command_that_speaks_says_it_as_json() -> None:
    ran = insula("rules", "pin", "reread", "--json")
    assert (ran.status, ran.json["said"][0][:33]) == (0, "'reread' is used in every session")
    assert insula("rules", "show", "reread", "--json").json["state"] == "pinned"
