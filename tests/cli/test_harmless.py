"""What commands print and log: nothing that a terminal obeys, nothing secret, and for its owner alone."""

import io
import json
import logging
from pathlib import Path

import pytest
from harness import run_insula

from insula.cli import common
from insula.cli.streams import HarmlessStream


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def printed(kind: type[io.TextIOWrapper], text: str) -> str:
    below = kind(io.BytesIO(), "utf-8", write_through=True)
    HarmlessStream(below).write(text)
    below.seek(0)
    return below.read()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", "␛]0;owned␇"),
        ("\x1b[2J\x1b[1;1H", "␛[2J␛[1;1H"),
        ("\x9b2J", "‹U+009B›2J"),
        ("\u202egnp.exe", "‹U+202E›gnp.exe"),
        ("a\b\b\x7f\x00", "a␈␈‹U+007F›␀"),
        ("日本語 ünïcödé\tשלום\n", "日本語 ünïcödé\tשלום\n"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert printed(io.TextIOWrapper, text) == shown
    assert printed(Terminal, text) == shown


def test_colours_reach_a_terminal_and_no_pipe() -> None:
    assert printed(Terminal, "\x1b[1;31mred\x1b[0m\x1b[2K\x1b[1A") == "\x1b[1;31mred\x1b[0m\x1b[2K\x1b[1A"
    assert "\x1b" not in printed(io.TextIOWrapper, "\x1b[1;31mred\x1b[0m")


@pytest.mark.parametrize(
    "command", ["on --project", "off --project", "install gemini --project --dry-run", "uninstall codex --project"]
)
def test_the_name_of_a_project_is_shown_and_not_obeyed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "\x1b]0;owned\x07\u202e"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    said = run_insula(*command.split())
    assert "owned" in said.out
    assert not {"\x1b", "\x07", "\u202e"} & set(said.out + said.err)


# The log of the command: one line of JSON each, without secrets, for its owner's eyes alone


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
