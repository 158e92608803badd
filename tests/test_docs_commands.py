"""Each command that a page names is there, with its options."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

import typer
from typer.core import TyperCommand, TyperGroup

from insula.cli.main import app

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NAMED = re.compile(r"(?:`|^\$ |^    |^)insula ([a-z]+)((?: [^\s`#|&>]+)*)", re.M)
COMING: set[str] = set()
"""Named by pages before they are there; each goes from here with the change that brings it."""


@cache
def build_commands() -> TyperGroup:
    """The whole command line."""
    return cast(TyperGroup, typer.main.get_command(app))


def find_command(words: list[str]) -> tuple[TyperCommand | TyperGroup, list[str]]:
    """The command that the first words name, and the words behind it."""
    found: TyperCommand | TyperGroup = build_commands()
    while isinstance(found, TyperGroup) and words:
        below = found.get_command(typer.Context(found), words[0].strip(","))
        if below is None:
            break
        found, words = cast(TyperCommand | TyperGroup, below), words[1:]
    return found, words


def find_unknown(words: list[str]) -> Iterator[str]:
    """What of a line is no command of ours, or none of its options."""
    command, rest = find_command(words)
    name = " ".join(words[: len(words) - len(rest)])
    if isinstance(command, TyperGroup) and rest and rest[0].isalpha() and rest[0].islower():
        yield f"{name} {rest[0]}".strip()
        return
    known = {"--help", *(option for each in command.params for option in (*each.opts, *each.secondary_opts))}
    for word in (re.sub(r"[\],;:).=].*$", "", each.lstrip("[(")) for each in rest):
        if word.startswith("--") and word not in known:
            yield f"{name} {word}"


def test_each_command_that_a_page_names_is_there_with_its_options() -> None:
    lines = {(page, line) for page in PAGES for line in NAMED.findall(page.read_text("utf-8"))}
    assert len(lines) > 100
    unknown = {
        (wrong, str(page.relative_to(ROOT)))
        for page, (name, rest) in lines
        for wrong in find_unknown([name, *rest.split()])
        if wrong not in COMING
    }
    assert sorted(unknown) == []
