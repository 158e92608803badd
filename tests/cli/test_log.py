"""The log of the command: one line of JSON each, without secrets, for its owner's eyes alone."""

import json
import logging
from pathlib import Path

import pytest

from insula.cli import common


def test_what_fails_is_one_line_of_json_each_without_secrets(home: Path) -> None:
    (home / common.LOG_FILE).touch(mode=0o644)
    common.log_to(home / common.LOG_FILE)
    secret = "sk-ant-api03-" + "a1B2" * 20
    try:
        raise ValueError(f"it\nbroke with {secret}")
    except ValueError:
        logging.getLogger("insula.server").exception("A request failed\nfor %s.", secret)
    logging.getLogger("insula.server").info("Nothing to see.")
    (line,) = (home / common.LOG_FILE).read_text().splitlines()
    record = json.loads(line)
    assert (record["logger"], record["level"]) == ("insula.server", "error")
    assert "ValueError" in record["error"]
    assert secret not in line
    assert (home / common.LOG_FILE).stat().st_mode & 0o777 == 0o600


def test_where_no_log_can_be_written_nothing_else_fails(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / common.LOG_FILE).mkdir()
    common.log_to(home / common.LOG_FILE)
    logging.getLogger("insula.server").error("Lost.")
    if Path("/dev/full").exists():
        common.log_to(Path("/dev/full"))
        logging.getLogger("insula.server").error("Lost, too.")
        common.log_to(home / "another.log")  # which closes the one before
    assert capfd.readouterr() == ("", "")
