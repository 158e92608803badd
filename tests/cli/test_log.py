"""The log of the command: one line of JSON each, without secrets, for its owner's eyes alone."""

import json
import sys
from pathlib import Path

import pytest
from harness import Ran, run_insula

SECRET = "sk-ant-api03-" + "a1B2" * 20
BROKEN = f"""def embed(text):
    if "Lisbon" in text:
        raise ValueError("it\\nbroke with {SECRET}")
    return [1.0, 0.0]
"""


@pytest.fixture
def failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A talk in which an embedding of the user's own fails; the log, a file or not, was there before."""
    (tmp_path / "broken_embedding.py").write_text(BROKEN)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("INSULA_EMBED", "broken_embedding:embed")
    return run_insula("chat", "--model", "test", "--json", stdin="My sister Ana lives in Lisbon.\n")


@pytest.fixture
def open_log(home: Path) -> Path:
    (home / "insula.log").touch(mode=0o644)
    (home / "insula.log").chmod(0o644)
    return home / "insula.log"


def test_what_fails_is_one_line_of_json_each_without_secrets(open_log: Path, failed: Ran) -> None:
    assert failed.status == 0
    assert failed.lines[0]["response"]
    records = [json.loads(line) for line in open_log.read_text().splitlines()]
    assert any("ValueError" in record.get("error", "") for record in records)
    assert all(record["logger"].startswith("insula") and record["level"] for record in records)
    assert SECRET not in open_log.read_text()
    assert open_log.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def no_log(home: Path) -> None:
    (home / "insula.log").mkdir()


def test_where_no_log_can_be_written_nothing_else_fails(no_log: None, failed: Ran) -> None:
    assert (failed.status, failed.err) == (0, "")
    assert failed.lines[0]["response"]


def test_an_embedding_that_fails_at_its_first_text_is_named_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_embedding.py").write_text("def embed(text):\n    raise ValueError('no model at hand')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("INSULA_EMBED", "failing_embedding:embed")
    ran = run_insula("chat", "--model", "test", stdin="Hello.\n")
    assert ran.status == 1
    assert "The embedding failed at a text (ValueError('no model at hand'))" in ran.err
    assert "Traceback" not in ran.err
