"""INSULA_STORE puts memory on a server: every command looks there, and says in a sentence where it cannot."""

from pathlib import Path

import pytest
from harness import run_insula as insula


def test_commands_keep_and_find_memory_on_the_server(
    database: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSULA_EMBED", "none")
    said = "My sister Ana lives in Lisbon.\nI never eat nuts.\nWe leave on Friday.\n"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("INSULA_HOME", str(home / "other"))
        insula("chat", "--model", "test", "--user", "ana", stdin=said)
        assert insula("user", "export", "ana", str(home / "ana.jsonl")).status == 0
    monkeypatch.setenv("INSULA_STORE", database)
    assert insula("user", "import", "ana", str(home / "ana.jsonl")).status == 0
    assert insula("user", "list", "--json").json == ["ana"]
    assert insula("sleep", "--user", "ana", "--model", "test").status == 0
    assert not (home / "insula.db").exists()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://me:secret@127.0.0.1:1/insula", "does not answer"),
        ("mysql://me:secret@host/x", "postgresql://USER"),
        ("secret", "postgresql://USER"),
    ],
)
def test_a_server_that_is_away_or_none_is_one_sentence_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, why: str
) -> None:
    monkeypatch.setenv("INSULA_STORE", url)
    ran = insula("user", "list")
    assert (ran.status, ran.out) == (1, "")
    assert why in ran.err
    assert "secret" not in ran.err
    assert "Traceback" not in ran.err
