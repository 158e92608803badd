"""INSULA_STORE puts memory on a server: every command looks there, and says in a sentence where it cannot."""

import asyncio
import json
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from insula import settings
from insula.cli.main import main
from insula.errors import SettingsError
from insula.metacognition import Metacognition


def run(*args: str) -> int:
    with patch.object(sys, "argv", ["insula", *args]), pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_commands_keep_and_find_memory_on_the_server(
    database: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INSULA_STORE", database)
    monkeypatch.setenv("INSULA_EMBED", "none")
    (home / "ana.jsonl").write_bytes(_archive(home, monkeypatch, capsys))
    assert run("user", "import", "ana", str(home / "ana.jsonl")) == 0
    assert run("user", "list", "--json") == 0
    out = capsys.readouterr().out
    assert json.loads(out[out.rindex("[") :]) == ["ana"]
    assert run("sleep", "--user", "ana", "--model", "test") == 0
    assert not (home / "insula.db").exists()


def _archive(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> bytes:
    """What is known of a user in a file."""

    async def talk() -> None:
        async with await Metacognition.open(home / "other" / "insula.db", embed=None) as metacognition:
            for line in ("My sister Ana lives in Lisbon.", "I never eat nuts.", "We leave on Friday."):
                async with metacognition.turn("ana", "monday", line) as turn:
                    turn.finish("Noted.")

    asyncio.run(talk())
    with monkeypatch.context() as elsewhere:
        elsewhere.delenv("INSULA_STORE")
        elsewhere.setenv("INSULA_HOME", str(home / "other"))
        assert run("user", "export", "ana", str(home / "out.jsonl")) == 0
    capsys.readouterr()
    return (home / "out.jsonl").read_bytes()


def test_a_server_that_is_away_is_one_sentence_without_its_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INSULA_STORE", "postgresql://me:secret@127.0.0.1:1/insula")
    assert run("user", "list") == 1
    said = capsys.readouterr().err
    assert "does not answer" in said
    assert "secret" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("url", ["mysql://me:secret@host/x", "secret"])
def test_what_is_no_url_of_a_server_is_refused_without_repeating_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_STORE", url)
    with pytest.raises(SettingsError, match="postgresql://USER") as raised:
        settings.load_settings()
    assert "secret" not in str(raised.value)
