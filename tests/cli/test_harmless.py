"""What commands print: a terminal obeys none of what a folder's name, a file or a model put into it."""

from pathlib import Path

import pytest
from harness import run_insula

from terminals import Terminal

SHOWN = {
    "\x1b]0;owned\x07": "␛]0;owned␇",
    "\x1b[2J\x1b[1;1H": "␛[2J␛[1;1H",
    "\x9b2J": "‹U+009B›2J",
    "\u202egnp.exe": "‹U+202E›gnp.exe",
    "a\b\b\x7f": "a␈␈‹U+007F›",
    "日本語 ünïcödé שלום": "日本語 ünïcödé שלום",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose name means harm, in which a person stands."""
    folder = tmp_path / " ".join(SHOWN)
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


@pytest.mark.parametrize(
    "command", ["on --project", "off --project", "install gemini --project --dry-run", "uninstall codex --project"]
)
def test_the_name_of_a_project_is_shown_and_not_obeyed(command: str, project: Path) -> None:
    ran = run_insula(*command.split())
    quoted = all(repr(text)[1:-1] in ran.out for text in SHOWN)  # where a path is named in a sentence
    assert quoted or " ".join(SHOWN.values()) in " ".join(ran.out.split())
    assert not set("\x1b\x07\x9b\b\x7f\u202e") & set(ran.out + ran.err)


def test_at_a_terminal_it_is_not_obeyed_either(project: Path) -> None:
    terminal = Terminal("install", "gemini", "--project", "--dry-run")
    assert terminal.sees("␛]0;owned␇"), terminal.seen
    assert terminal.leaves() == 0
