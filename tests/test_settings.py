from pathlib import Path

import pytest

from insula import settings
from insula.errors import SettingsError
from insula.types import Controls


def test_without_any_file_the_defaults_of_the_seed_hold() -> None:
    assert settings.load().controls == Controls(max_context_items=16, consolidation_threshold=0.55, stm_capacity=32)


def test_the_environment_wins_over_the_working_folder_and_that_over_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "insula.toml").write_text("max_tokens = 1\nstm_capacity = 1\ntimeout = 1\n")
    (tmp_path / "insula.toml").write_text("max_tokens = 2\nstm_capacity = 2\n")
    monkeypatch.setenv("INSULA_MAX_TOKENS", "3")
    found = settings.load(tmp_path)
    assert (found.max_tokens, found.stm_capacity, found.timeout) == (3, 2, 1.0)


@pytest.mark.parametrize("name", sorted(settings.ONLY_AT_HOME))
def test_a_cloned_project_cannot_choose_what_reaches_a_prompt(tmp_path: Path, name: str) -> None:
    (tmp_path / "insula.toml").write_text(f'{name} = "theirs"\n')
    with pytest.raises(SettingsError, match=f"{name}, which a working folder may not decide"):
        settings.load(tmp_path)


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
        settings.load()


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_TIMEOUT", "soon")
    with pytest.raises(SettingsError, match="INSULA_TIMEOUT"):
        settings.load()
