"""`insula guidance soul`: SOUL.md is seen, edited and undone by a person."""

from pathlib import Path

import pytest
from harness import Ran, run_insula

LEARNED = "Please don't give sizes in feet, use metres."


def soul(*words: str) -> Ran:
    """Run `insula soul` with some words."""
    return run_insula("soul", *words)


@pytest.fixture
def file(home: Path) -> Path:
    """The SOUL.md of a user of whom a night has learned one guideline."""
    said = "".join(f"/session {day}\nDoes NASA use wind tunnels?\n{LEARNED}\n" for day in ("monday", "tuesday"))
    run_insula("chat", "--model", "test", stdin=said)
    assert run_insula("sleep").status == 0
    return home / "users" / "me" / "SOUL.md"


def test_undo_goes_back_and_is_itself_undone(file: Path) -> None:
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if LEARNED not in line))
    assert soul().status == 0
    assert soul("undo").status == 0
    assert LEARNED in file.read_text()
    assert soul("undo").status == 0
    assert LEARNED not in file.read_text()
    first = soul("history", "--json").json[-1]["id"]
    assert soul("undo", str(first)).status == 0
    assert LEARNED in soul().out
    run_insula("sleep", "--force")
    assert LEARNED in soul().out  # what was brought back is no longer kept out


def test_a_revision_that_is_not_there_is_said(file: Path) -> None:
    for verb in ("undo", "diff"):
        ran = soul(verb, "99")
        assert (ran.status, "There is no revision 99" in ran.err) == (1, True)
