"""`insula config`: the file of settings, begun, changed and refused."""

import json
import tomllib
from pathlib import Path

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


def test_with_json_a_command_that_speaks_says_it_as_json() -> None:
    ran = insula("rules", "pin", "reread", "--json")
    assert (ran.status, ran.json["said"][0][:33]) == (0, "'reread' is used in every session")
    assert insula("rules", "show", "reread", "--json").json["state"] == "pinned"
