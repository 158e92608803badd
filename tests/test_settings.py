"""Settings: where they come from, which one wins, and what is said of one that cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula


def show() -> dict[str, Any]:
    """The settings in force here."""
    ran = run_insula("config", "show", "--json")
    assert ran.status == 0, ran.err
    return ran.json


def said() -> str:
    """What is said of settings that are left aside."""
    return " ".join(run_insula("config", "show").err.split())


def refused() -> str:
    """Why the settings cannot be used."""
    ran = run_insula("config", "show", "--json")
    assert (ran.status, ran.out) == (1, "")
    error = json.loads(ran.err)["error"]
    assert error["kind"] == "SettingsError"
    return error["message"]


def test_without_any_file_the_defaults_of_the_seed_hold() -> None:
    found = show()
    assert [found[name] for name in ("max_context_items", "consolidation_threshold", "stm_capacity")] == [16, 0.55, 32]
    assert [found[f"metacog_{name}"] for name in ("turn_interval", "snapshot_history_size")] == [5, 50]


def test_the_environment_wins_over_the_working_folder_and_that_over_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "insula.toml").write_text("max_tokens = 1\nstm_capacity = 1\ntimeout = 1\n")
    (tmp_path / "insula.toml").write_text("max_tokens = 2\nstm_capacity = 2\n")
    monkeypatch.setenv("INSULA_MAX_TOKENS", "3")
    found = show()
    assert (found["max_tokens"], found["stm_capacity"], found["timeout"]) == (3, 2, 1.0)


def test_a_cloned_project_cannot_choose_what_reaches_a_prompt(tmp_path: Path) -> None:
    before = show()
    theirs = {name for name, value in before.items() if isinstance(value, str)}
    for name in sorted(theirs | {"identity", "store", "weights"}):
        (tmp_path / "insula.toml").write_text(f'{name} = "theirs"\n')
        assert show() == before, name
        assert f"{name}, which a working folder may not decide" in said()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max_tokens = 0", "'max_tokens' cannot be 0"),
        ("max_tokens = ", "cannot be read"),
        ("max_tokens = '''", "cannot be read"),
        ("metacog_turn_interval = 1", "'metacog_turn_interval' cannot be 1"),
        ("metacog_turn_interval = 11", "'metacog_turn_interval' cannot be 11"),
        ("metacog_snapshot_history_size = 0", "'metacog_snapshot_history_size' cannot be 0"),
        ('modle = "test"', "There is no setting 'modle'; did you mean 'model'? Change it in "),
        ("colour = 1", "There is no setting 'colour'; take it out of "),
        ('[users.ana]\ntime_zoen = "UTC"', "There is no setting 'users.ana.time_zoen'; did you mean 'time_zone'?"),
    ],
)
def test_a_bad_setting_is_named_with_what_to_do(home: Path, text: str, why: str) -> None:
    (home / "insula.toml").write_text(text)
    told = refused()
    assert why in told
    assert "insula.toml" in told


def test_a_misspelt_variable_is_named_with_what_it_may_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INSULA_USER", "INSULA_API_KEY", "INSULA_COLOUR"):
        monkeypatch.setenv(name, "x")
    assert not said()
    monkeypatch.setenv("INSULA_MODLE", "test")
    assert "no setting 'modle'; did you mean 'model'? Change it in the variable INSULA_MODLE. Until then" in said()


def test_a_setting_that_names_what_is_not_there_is_shown_with_a_warning(home: Path) -> None:
    (home / "insula.toml").write_text('embed = "foo"\nidentity = "/nowhere/who.toml"')
    ran = run_insula("config", "show", "--json")
    assert (ran.status, ran.json["embed"]) == (0, "foo")
    assert ["There is no embedding 'foo'" in ran.err, "no identity file '/nowhere/who.toml'" in ran.err] == [True, True]


def test_what_cannot_be_used_of_the_working_folders_file_is_said_and_the_rest_holds(tmp_path: Path) -> None:
    before = show()
    (tmp_path / "insula.toml").write_text('timeot = 3\nmax_tokens = "many"\nstm_capacity = 7')
    assert show() == before | {"stm_capacity": 7}
    told = said()
    assert f"'timeout'? Change it in '{tmp_path}/insula.toml'. Until then it is left aside." in told
    assert "'max_tokens' cannot be 'many'" in told


@pytest.mark.parametrize("named", ["x", ".", "./x", "../x"])
def test_a_home_that_would_be_another_in_each_folder_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOME", named)
    assert "point INSULA_HOME at an absolute path" in refused()


def test_a_relative_path_in_a_persons_own_settings_is_not_taken_from_the_working_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "insula.toml").write_text('identity = "who.toml"\nweights = "./models"\n')
    found = show()
    assert (found["identity"], found["weights"]) == (str(home / "who.toml"), str(home / "models"))
    monkeypatch.setenv("INSULA_IDENTITY", str(tmp_path / "other.toml"))
    assert show()["identity"] == str(tmp_path / "other.toml")


def test_no_link_of_a_working_folder_leads_out_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = show()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "outside.toml").write_text("max_tokens = 2\n")
    (tmp_path / "theirs/insula.toml").symlink_to(tmp_path / "outside.toml")
    monkeypatch.chdir(tmp_path / "theirs")
    assert show() == before
    assert "a link that leads out of its folder" in said()


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_home_that_is_no_folder_is_named_before_any_file_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "file" / below))
    told = refused()
    assert told.startswith("The folder '")
    assert "point INSULA_HOME at a folder" in told


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("TIMEOUT", "soon", "INSULA_TIMEOUT"),
        ("USERS", "{ana: 1}", "INSULA_USERS cannot be read: it is no JSON"),
        ("TIME_ZONE", "Mars/Base", "this machine knows no time zone"),
        ("TIME_ZONE", "../../etc/passwd", "this machine knows no time zone"),
        ("TIME_ZONE", "/etc/passwd", "this machine knows no time zone"),
        ("TIME_ZONE", "Europe", "this machine knows no time zone"),
    ],
)
def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, why: str) -> None:
    monkeypatch.setenv(f"INSULA_{name}", value)
    assert why in refused()


TOKEN = "0123456789abcdef"


def test_users_have_time_zones(home: Path) -> None:
    (home / "insula.toml").write_text(
        'time_zone = "Asia/Tokyo"\n[users.ana]\ntime_zone = "Europe/Berlin"\n[users."ben b"]\n'
    )
    found = show()
    assert found["time_zone"] == "Asia/Tokyo"
    assert found["users"] == {"ana": {"time_zone": "Europe/Berlin"}, "ben b": {"time_zone": None}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f'[users.ana]\ntoken = "{TOKEN}"', "There is no setting 'users.ana.token'"),
        (f'[users]\nana = "{TOKEN}"', "'users.ana' cannot be used"),
        ("users = 3", "'users' cannot be used"),
        ('[users.ana]\ntime_zone = "Europe/Atlantis"', "knows no time zone 'Europe/Atlantis'; give an IANA name"),
    ],
)
def test_a_bad_user_is_named_and_no_token_repeated(home: Path, text: str, why: str) -> None:
    (home / "insula.toml").write_text(text)
    told = refused()
    assert why in told
    assert "insula.toml" in told
    assert "0123456789" not in told
