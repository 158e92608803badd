"""`insula solve`: the trace, many problems, what is written where, and what it says when something is wrong."""

from pathlib import Path

import pytest
from harness import agent, run_insula

from insula.testing import ScriptedModel
from insula_solve import Models
from terminals import Terminal, run_over_bytes

PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"


def test_nothing_to_solve_at_a_terminal_says_what_to_write() -> None:
    terminal = Terminal("solve", "--model", "test")
    assert terminal.sees('There is no problem to solve; write one: insula solve "What is 12 % of 250?"'), terminal.seen
    assert terminal.leaves() == 1


@pytest.mark.anyio
async def test_half_a_surrogate_pair_in_a_reply_is_no_trouble() -> None:
    model = ScriptedModel(lambda _: "\ud83d 3 + 4 = 7, so it is 7.")
    async with agent() as ana:
        solution = await ana.mind.solve("What does Sue say?", Models(generator=model), method="direct")
    assert solution.attempts[0].reasoning.startswith("\ufffd 3 + 4")


def test_what_cannot_be_read_or_done_is_said(tmp_path: Path) -> None:
    piped = run_over_bytes("solve", "-", "--model", "test", stdin=b"\xff\xfe 2 + 2")
    assert (piped.status, piped.out, b"cannot be read" in piped.err) == (1, b"", True)
    file = ("--file", str(tmp_path / "none"), "--model", "test")
    assert "cannot be read" in run_insula("solve", *file).err
    assert "give one of them" in run_insula("solve", PROBLEM, *file).err
    assert "no method called 'magic'" in run_insula("solve", PROBLEM, "--method", "magic", "--model", "test").err
