"""Each tutorial is followed to the letter in a fresh folder: files are saved, commands run, outputs compared.

A block of Python whose first line is `# NAME.py` is saved as that file. In a block of `console` each line behind `$ `
is run by one shell, and the lines below it must come out, in this order; `…` stands for anything. A block of `sh` is
what a reader did before (the installation), and is left out.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parent.parent / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
DAY = re.compile(
    r"\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}"
)
DATE = re.compile(r"\d{4}-\d\d-\d\d")
MARK = "=====8<-----"
PORT = "8787"
PATIENCE = 120.0
"""Seconds for a whole tutorial, which takes ten or less; a server that hangs must not hang the suite."""


@dataclass(frozen=True, slots=True)
class Command:
    """A line that the reader types, and the lines that the tutorial shows below it."""

    line: str
    shown: tuple[str, ...]


def read_commands(block: str) -> Iterator[Command]:
    """The commands of a block of `console`, each with the output below it."""
    for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
        line, _, below = re.sub(r"\\\n\s*", "", piece).partition("\n")
        yield Command(line, tuple(text for text in below.splitlines() if text.strip()))


def save_file(block: str, folder: Path) -> None:
    """Save a block of Python under the name in its first line."""
    (folder / block.partition("\n")[0].removeprefix("# ").strip()).write_text(block)


def run_commands(commands: list[Command], folder: Path, environment: dict[str, str]) -> list[str]:
    """What each command printed, all run by one shell in this folder."""
    script = folder.parent / "tutorial.sh"
    script.write_text("".join(f"{command.line}\necho '{MARK}'\n" for command in commands))
    shell = subprocess.Popen(
        ["bash", str(script)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = shell.communicate(timeout=PATIENCE)
    finally:
        if shell.poll() is None:
            os.killpg(shell.pid, signal.SIGKILL)
    return printed.split(f"{MARK}\n")


def normalise(text: str) -> str:
    """A text without what differs from day to day."""
    return DATE.sub("2026-11-24", DAY.sub("24 November 2026", " ".join(text.split())))


def as_pattern(line: str) -> str:
    """A regular expression for a line of a tutorial."""
    return ".*?".join(re.escape(part.strip()) for part in normalise(line).split("…"))


def find_free_port() -> str:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.mark.skipif(not shutil.which("curl"), reason="A tutorial calls curl, and there is none here; install it.")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    home, folder, port = tmp_path / "reader", tmp_path / "project", find_free_port()
    home.mkdir()
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    commands: list[Command] = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("INSULA_", "XDG_"))}
    environment |= {"HOME": str(home), "COLUMNS": "100", "NO_COLOR": "1", "INSULA_HOLDOUT": "off"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    for kind, block in BLOCK.findall(page.read_text("utf-8").replace(PORT, port)):
        if kind == "console":
            commands.extend(read_commands(block))
        else:
            save_file(block, folder)
    assert commands
    printed = run_commands(commands, folder, environment)
    for command, text in zip(commands, printed, strict=False):
        output = normalise(text.replace(str(home), "/home/me").replace(str(folder), "/home/me/project"))
        expected = ".*?".join(as_pattern(line) for line in command.shown)
        shown = "\n".join(command.shown)
        assert re.search(expected, output, re.S), f"$ {command.line}\n{output}\n--- is not ---\n{shown}"
    assert len(printed) == len(commands) + 1
