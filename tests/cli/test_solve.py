"""`insula solve`: the trace, many problems, what is written where, and what it says when something is wrong."""

import json
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from harness import Ran, agent, run_insula

from insula.testing import FakeServer, ScriptedModel
from insula_solve import Models
from terminals import Terminal, run_over_bytes

PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"
Insula = Callable[..., Ran]


@pytest.fixture
def insula() -> Generator[Insula]:
    """Runs `insula solve` with some words, over a model that is right about Tom."""
    with FakeServer(answer="12 - 2 = 10 \\boxed{10}") as model:
        yield lambda *words: run_insula("solve", *words, "--model", f"{model.url}#fake")


def test_the_trace_says_what_was_done_why_it_ended_and_what_it_cost(insula: Insula) -> None:
    ran = insula(PROBLEM)
    assert (ran.status, ran.err) == (0, "")
    *trace, empty, answer, cost = ran.out.splitlines()
    assert trace == [
        "attempt     Attempt 1 (chain): 10.",
        "arithmetic  Recomputed 1 of its equations: all hold.",
        "stop        Stopped: the first attempt is enough for this problem.",
    ]
    assert (empty, answer.partition("  (confidence 0.")[0]) == ("", "Answer: 10")
    assert cost.startswith("chain       1 call, ")


def test_nothing_to_solve_at_a_terminal_says_what_to_write() -> None:
    terminal = Terminal("solve", "--model", "test")
    assert terminal.sees('There is no problem to solve; write one: insula solve "What is 12 % of 250?"'), terminal.seen
    assert terminal.leaves() == 1


def test_a_file_of_plain_lines_is_a_problem_each(insula: Insula, tmp_path: Path) -> None:
    file = tmp_path / "problems.txt"
    file.write_text(f"{PROBLEM}\n\n{PROBLEM}\n")
    ran = insula("--file", str(file), "--method", "direct")
    assert ran.status == 0
    assert ran.out.splitlines()[-1].startswith("2 problems: 2 answered; 2 calls")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds no problem"),
        (b"\xff\xfe", "cannot be read"),
        (b'{"question": "a"}\nnot json', "line 2"),
        (b'{"question": 3}', "has no 'question'"),
        (b'{"question": "a"}\n[]', "line 2"),
        (b'{"question": "a"}\n' + b"[" * 200_000, "line 2"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_before_anything_is_asked(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_bytes(content)
    ran = run_insula("solve", "--file", str(file), "--model", "test")
    assert (ran.status, ran.out) == (1, "")
    assert problem in ran.err


def test_a_file_from_windows_with_any_sign_in_its_texts_is_read(insula: Insula, tmp_path: Path) -> None:
    file = tmp_path / "problems.jsonl"
    lines = [json.dumps({"question": PROBLEM + "\u2028\x85", "answer": "10"}, ensure_ascii=False)] * 2
    file.write_text("\ufeff" + "\r\n".join(lines), "utf-8", newline="")
    ran = insula("--file", str(file), "--method", "direct")
    assert (ran.status, ran.out.splitlines()[-1].partition(";")[0]) == (0, "2 problems: 2 answered, 2 of 2 right")


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
