from pathlib import Path

import pytest

from insula import settings
from insula.coding.hosts import places
from insula.errors import SettingsError
from insula.session.ring import SIZE
from insula.session.schedule import INTERVAL
from insula.types import Controls


def test_without_any_file_the_defaults_of_the_seed_hold() -> None:
    assert settings.load_settings().controls == Controls(
        max_context_items=16, consolidation_threshold=0.55, stm_capacity=32
    )


def test_the_environment_wins_over_the_working_folder_and_that_over_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "insula.toml").write_text("max_tokens = 1\nstm_capacity = 1\ntimeout = 1\n")
    (tmp_path / "insula.toml").write_text("max_tokens = 2\nstm_capacity = 2\n")
    monkeypatch.setenv("INSULA_MAX_TOKENS", "3")
    found = settings.load_settings(tmp_path)
    assert (found.max_tokens, found.stm_capacity, found.timeout) == (3, 2, 1.0)


@pytest.mark.parametrize("name", sorted(settings.ONLY_AT_HOME))
def test_a_cloned_project_cannot_choose_what_reaches_a_prompt(
    home: Path, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "insula.toml").write_text(f'{name} = "theirs"\n')
    assert settings.load_settings(tmp_path) == settings.load_settings(home)
    assert f"{name}, which a working folder may not decide" in caplog.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_tokens = 0", "'max_tokens' cannot be 0"),
        ("colour = 1", "'colour'"),
        ("max_tokens = ", "cannot be read"),
        ("max_tokens = '''", "cannot be read"),
    ],
)
def test_a_bad_setting_is_named_with_what_to_do(home: Path, text: str, said: str) -> None:
    (home / "insula.toml").write_text(text)
    with pytest.raises(SettingsError, match=said):
        settings.load_settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modle = "test"', "There is no setting 'modle'; did you mean 'model'? Change it in "),
        ("colour = 1", "There is no setting 'colour'; take it out of "),
        ('[users.ana]\ntime_zoen = "UTC"', "There is no setting 'users.ana.time_zoen'; did you mean 'time_zone'?"),
    ],
)
def test_of_a_setting_that_there_is_not_the_one_that_was_meant_is_named(home: Path, text: str, said: str) -> None:
    (home / "insula.toml").write_text(text)
    with pytest.raises(SettingsError) as raised:
        settings.load_settings()
    assert str(raised.value).startswith(said)
    assert str(home / "insula.toml") in str(raised.value)
    assert "INSULA_" not in str(raised.value)


def test_what_cannot_be_used_of_the_working_folders_file_is_said_and_the_rest_holds(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "insula.toml").write_text('timeot = 3\nmax_tokens = "many"\nstm_capacity = 7')
    assert settings.load_settings(tmp_path) == settings.Settings(stm_capacity=7)
    assert f"'timeout'? Change it in '{tmp_path}/insula.toml'. Until then it is left aside." in caplog.text
    assert "'max_tokens' cannot be 'many'" in caplog.text


@pytest.mark.parametrize("named", ["x", ".", "./x", "../x"])
def test_a_home_that_would_be_another_in_each_folder_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOME", named)
    for asked in (places.find_home, settings.home, settings.load_settings):
        with pytest.raises(SettingsError, match="point INSULA_HOME at an absolute path"):
            asked()
    monkeypatch.delenv("INSULA_HOME")
    monkeypatch.setenv("HOME", named)
    with pytest.raises(SettingsError, match="point INSULA_HOME at an absolute path"):
        places.find_home()
    assert settings.home().is_absolute()


def test_a_relative_path_in_a_persons_own_settings_is_not_taken_from_the_working_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "insula.toml").write_text('identity = "who.toml"\nweights = "./models"\n')
    found = settings.load_settings(tmp_path)
    assert (found.identity, found.weights) == (home / "who.toml", home / "models")
    monkeypatch.setenv("INSULA_IDENTITY", str(tmp_path / "other.toml"))
    assert settings.load_settings(tmp_path).identity == tmp_path / "other.toml"


def test_no_link_of_a_working_folder_leads_out_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "outside.toml").write_text("max_tokens = 2\n")
    (tmp_path / "theirs/insula.toml").symlink_to(tmp_path / "outside.toml")
    assert settings.load_settings(tmp_path / "theirs") == settings.load_settings(tmp_path / "nowhere")
    assert "a link that leads out of its folder" in caplog.text


def test_a_working_folder_decides_numbers_and_a_zone_alone() -> None:
    fields = settings.Settings.model_fields
    kinds = {str(fields[name].annotation).removesuffix(" | None") for name in settings.FROM_HERE - {"time_zone"}}
    assert kinds <= {"<class 'int'>", "<class 'float'>", "int", "float"}


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_home_that_is_no_folder_is_named_before_any_file_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INSULA_HOME", str(tmp_path / "file" / below))
    with pytest.raises(SettingsError, match=r"^The folder '.*file.*' cannot be used: .* point INSULA_HOME at a folder"):
        settings.load_settings()


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_TIMEOUT", "soon")
    with pytest.raises(SettingsError, match="INSULA_TIMEOUT"):
        settings.load_settings()


TOKEN = "0123456789abcdef"


def test_users_have_tokens_and_time_zones(home: Path) -> None:
    (home / "insula.toml").write_text(
        f'time_zone = "Asia/Tokyo"\n[users.ana]\ntoken = "{TOKEN}"\ntime_zone = "Europe/Berlin"\n[users."ben b"]\n'
    )
    found = settings.load_settings()
    assert found.tokens == {"ana": TOKEN}
    assert [str(found.zone_of(user)) for user in ("ana", "ben b", "nobody")] == [
        "Europe/Berlin",
        "Asia/Tokyo",
        "Asia/Tokyo",
    ]
    assert TOKEN not in repr(found)
    assert settings.Settings().zone_of("ana") is None


def test_users_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_USERS", f'{{"ana": {{"token": "{TOKEN}"}}}}')
    assert settings.load_settings().tokens == {"ana": TOKEN}
    monkeypatch.setenv("INSULA_USERS", "{ana: 1}")
    with pytest.raises(SettingsError, match="INSULA_USERS cannot be read: it is no JSON"):
        settings.load_settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[users.ana]\ntoken = "0123456789abcde"', "'users.ana.token' cannot be used: a token has 16 or more"),
        ('[users.ana]\ntoken = "0123456789 abcdef"', "no blank; let `insula token new NAME` make one"),
        ('[users.ana]\ntoken = "0123456789abcdéf"', "a token has 16 or more ASCII characters"),
        ('[users]\nana = "0123456789abcdef"', "'users.ana' cannot be used"),
        ("users = 3", "'users' cannot be used"),
        ('[users.ana]\ntokens = "0123456789abcdef"', "There is no setting 'users.ana.tokens'; did you mean 'token'?"),
        (f'[users.ana]\ntoken = "{TOKEN}"\n[users.ben]\ntoken = "{TOKEN}"', "'ana' and 'ben' have the same token"),
        ('[users.ana]\ntime_zone = "Europe/Atlantis"', "knows no time zone 'Europe/Atlantis'; give an IANA name"),
    ],
)
def test_a_bad_user_is_named_and_no_token_repeated(home: Path, text: str, said: str) -> None:
    (home / "insula.toml").write_text(text)
    with pytest.raises(SettingsError) as raised:
        settings.load_settings()
    assert said in str(raised.value)
    assert "insula.toml" in str(raised.value)
    assert "0123456789" not in str(raised.value)


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../../etc/passwd", "/etc/passwd", "Europe", "UTC\0"])
def test_a_time_zone_that_there_is_not_is_named(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    with pytest.raises(ValueError, match="this machine knows no time zone"):
        settings.Settings(time_zone=zone)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metacog_turn_interval", 1),
        ("metacog_turn_interval", 11),
        ("metacog_snapshot_history_size", 0),
    ],
)
def test_the_session_cannot_be_set_out_of_its_bounds(home: Path, name: str, value: int) -> None:
    (home / "insula.toml").write_text(f"{name} = {value}")
    with pytest.raises(SettingsError, match=f"'{name}' cannot be {value}"):
        settings.load_settings()


def test_the_session_begins_as_its_own_constants_say() -> None:
    found = settings.Settings()
    assert (found.metacog_turn_interval, found.metacog_snapshot_history_size) == (INTERVAL, SIZE)
