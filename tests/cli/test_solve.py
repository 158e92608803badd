"""`insula solve`: the trace, many problems, what is written where, and what it says when something is wrong."""

import io
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from insula.cli import solve
from insula.cli.main import main
from insula.testing import Reply, Request, ScriptedModel

PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"
Insula = Callable[..., tuple[int, str, str]]
"""Runs `insula solve` with some words; returns the exit code, standard output and standard error."""


def answers(request: Request) -> Reply:
    """Right about Tom, at a loss otherwise."""
    if "Sue" in request.prompt:
        return "\ud83d 3 + 4 = 7, so it is 7."
    if "Tom" in request.prompt:
        return "```python\nanswer = 3 * 4 - 2\n```" if "program" in request.prompt else r"12 - 2 = 10 \boxed{10}"
    return "I do not know."


@pytest.fixture
def insula(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Insula:
    @asynccontextmanager
    async def resolve(name: str, folder: Path | None) -> AsyncGenerator[ScriptedModel]:
        yield ScriptedModel(answers, name=name)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(solve, "resolve_model", resolve)
        monkeypatch.setattr("sys.argv", ["insula", "solve", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    return run


def without_seconds(text: str) -> str:
    return "\n".join(line.rpartition(", ")[0] if line.endswith(" s") else line for line in text.splitlines())


def test_the_trace_says_what_was_done_why_it_ended_and_what_it_cost(insula: Insula) -> None:
    code, out, err = insula(PROBLEM)
    assert (code, err) == (0, "")
    assert without_seconds(out) == snapshot("""\
attempt     Attempt 1 (chain): 10.
arithmetic  Recomputed 1 of its equations: all hold.
stop        Stopped: the first attempt is enough for this problem.

Answer: 10  (confidence 0.64; combined 0.64, agreement 1.00, likelihood 0.90)
chain       1 call, 79 + 6 tokens\
""")


def test_nothing_to_solve_at_a_terminal_says_what_to_write(insula: Insula, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    code, _, err = insula()
    assert code == 1
    assert err == 'insula: There is no problem to solve; write one: insula solve "What is 12 % of 250?"\n'


def test_a_file_of_plain_lines_is_a_problem_each(insula: Insula, tmp_path: Path) -> None:
    file = tmp_path / "problems.txt"
    file.write_text(f"{PROBLEM}\n\n{PROBLEM}\n")
    code, out, _ = insula("--file", str(file), "--method", "direct")
    assert code == 0
    assert out.splitlines()[-1].startswith("2 problems: 2 answered; 2 calls")


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
    insula: Insula, tmp_path: Path, content: bytes, problem: str
) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_bytes(content)
    code, out, err = insula("--file", str(file))
    assert (code, out) == (1, "")
    assert problem in err


def test_a_file_from_windows_with_any_sign_in_its_texts_is_read(insula: Insula, tmp_path: Path) -> None:
    file = tmp_path / "problems.jsonl"
    lines = [json.dumps({"question": PROBLEM + "\u2028\x85", "answer": "10"}, ensure_ascii=False)] * 2
    file.write_text("\ufeff" + "\r\n".join(lines), "utf-8", newline="")
    code, out, _ = insula("--file", str(file), "--method", "direct")
    assert (code, out.splitlines()[-1].partition(";")[0]) == (0, "2 problems: 2 answered, 2 of 2 right")


def test_half_a_surrogate_pair_in_a_reply_is_no_trouble(insula: Insula) -> None:
    code, out, _ = insula("What does Sue say?", "--method", "direct", "--json")
    assert code == 0
    assert json.loads(out)["attempts"][0]["reasoning"].startswith("\ufffd 3 + 4")


def test_what_is_piped_in_and_no_text_is_refused(insula: Insula, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe 2 + 2"), "utf-8"))
    code, out, err = insula("-")
    assert (code, out) == (1, "")
    assert "cannot be read" in err


def test_other_words_that_cannot_be_used_are_said(insula: Insula, tmp_path: Path) -> None:
    assert "cannot be read" in insula("--file", str(tmp_path / "none"))[2]
    assert "give one of them" in insula(PROBLEM, "--file", str(tmp_path / "none"))[2]
    assert "no method called 'magic'" in insula(PROBLEM, "--method", "magic")[2]
