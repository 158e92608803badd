"""What was typed into chats holds no secret, and goes with what is erased."""

from pathlib import Path

import pytest

from insula.caches import clear_caches
from insula.cli.common import input_history
from insula.cli.input_history import FILE

readline = pytest.importorskip("readline")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSULA_HOME", str(tmp_path))
    readline.clear_history()
    return tmp_path


def test_what_was_typed_comes_back_without_its_secrets(home: Path) -> None:
    readline.add_history("My sister lives in Lisbon.")
    readline.add_history("the password is hunter22blue")
    input_history.save()
    assert (home / FILE).stat().st_mode & 0o077 == 0
    readline.clear_history()
    input_history.load()
    assert readline.get_history_item(1) == "My sister lives in Lisbon."
    assert "hunter22blue" not in (home / FILE).read_text("utf-8")


def test_what_was_typed_goes_with_what_is_erased(home: Path) -> None:
    readline.add_history("I live in Porto.")
    input_history.save()
    clear_caches()
    assert not (home / FILE).exists()
    assert readline.get_current_history_length() == 0
