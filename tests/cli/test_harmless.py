"""What commands print: a terminal obeys none of what a folder's name, a file or a model put into it."""

import io
from pathlib import Path

import pytest
from harness import run_insula

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
