"""Proof: a check that passed after the last change of code and covers it; a red one is none."""

from pathlib import Path
from typing import Any

import pytest
from sessions import Session, edits, fails, runs

from insula.step.senses.ending import EVERY

P = "/home/dev/project/"


def said(tmp_path: Path, *turns: dict[str, Any], words: str = "") -> str:
    """What is said of the last turn, or of the end where there are last words."""
    session = Session(tmp_path, on=EVERY)
    session.follow(turns[:-1] if not words else turns)
    if words:
        return session.stop(words)
    return "".join(session.act(turns[-1]))


COMMIT = runs("git commit -am x", "[main 1a2b3c4] x")
PASS = "4 passed in 0.1s"
RED = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s"


def test_a_red_check_is_no_proof_of_what_is_committed(tmp_path: Path) -> None:
    told = said(tmp_path, edits(P + "src/a.py"), fails("pytest", RED), COMMIT)
    assert "`pytest` failed when it was last run, and what it checks is being delivered now." in told


def test_a_red_check_whose_status_a_pipe_lost_is_no_proof(tmp_path: Path) -> None:
    assert "`pytest` failed" in said(tmp_path, edits(P + "src/a.py"), runs("pytest | tail -3", RED), COMMIT)


def test_a_green_check_after_the_change_is_one(tmp_path: Path) -> None:
    assert said(tmp_path, edits(P + "src/a.py"), fails("pytest", RED), runs("pytest", PASS), COMMIT) == ""


def test_what_was_red_is_settled_by_a_run_of_all(tmp_path: Path) -> None:
    turns = (edits(P + "src/a.py"), fails("pytest tests/test_a.py", RED), runs("make test", PASS), COMMIT)
    assert said(tmp_path, *turns) == ""


def test_a_check_that_was_green_before_the_change_is_stale(tmp_path: Path) -> None:
    told = said(tmp_path, runs("pytest", PASS), edits(P + "src/a.py"), COMMIT)
    assert "`pytest` has not been run since the last change of code" in told


UNPROVEN = {
    "another workspace": ("packages/api/src/a.ts", "pnpm --filter api test", "pnpm --filter web test"),
    "another folder": ("packages/api/src/a.ts", "cd packages/api && npm test", "cd packages/web && npm test"),
    "other files": ("src/auth/token.py", "pytest tests/test_token.py", "pytest tests/test_billing.py"),
    "another package of Go": ("store/lru.go", "go test ./store/...", "go test ./cart/..."),
    "a compiler of another language": ("src/a.py", "pytest", "tsc --noEmit"),
    "what puts it in shape": ("src/a.ts", "npm test", "npm run lint:fix"),
}


@pytest.mark.parametrize("name", UNPROVEN)
def test_a_check_that_does_not_cover_the_change_is_no_proof(name: str, tmp_path: Path) -> None:
    path, own, other = UNPROVEN[name]
    turns = (runs(own, PASS), edits(P + path), runs(other, PASS), COMMIT)
    assert "has not been run since the last change" in said(tmp_path, *turns)


PROVEN = {
    "the whole": ("packages/api/src/a.ts", "pnpm --filter api test", "pnpm -r test"),
    "by its manifest's folder": (
        "packages/api/src/a.ts",
        "pnpm -F @acme/api test",
        "pnpm --filter ./packages/api test",
    ),
    "a folder of tests": ("src/auth/token.py", "pytest", "pytest tests/unit"),
    "a test of the same name": ("src/auth/token.py", "pytest", "pytest tests/auth/test_token.py::test_a"),
    "a test by a word": ("src/auth/token.py", "pytest", "pytest -k expiry"),
    "a linter that may be all there is": ("src/a.py", "pytest", "ruff check ."),
    "through a container": ("src/a.py", "pytest", "docker compose run --rm web pytest"),
}


@pytest.mark.parametrize("name", PROVEN)
def test_where_a_check_may_cover_the_change_it_is_taken_to(name: str, tmp_path: Path) -> None:
    path, own, other = PROVEN[name]
    assert said(tmp_path, runs(own, PASS), edits(P + path), runs(other, PASS), COMMIT) == ""


@pytest.mark.parametrize(
    "path",
    [P + "README.md", P + "docs/a.py", P + ".env.example", P + "guide.mdx", "/tmp/try.py", "/home/dev/other/a.py"],
)
def test_no_check_is_asked_for_what_is_no_code_of_the_project(path: str, tmp_path: Path) -> None:
    assert said(tmp_path, runs("pytest", PASS), edits(path), COMMIT) == ""


def test_of_several_checks_in_a_line_the_one_that_failed_is_not_known(tmp_path: Path) -> None:
    turns = (edits(P + "src/a.py"), fails("npm test && npm run lint", "1 problem (1 error)"), COMMIT)
    assert said(tmp_path, *turns) == ""


def test_a_check_that_is_not_there_has_not_been_run(tmp_path: Path) -> None:
    assert said(tmp_path, edits(P + "src/a.py"), fails("pytest", "bash: pytest: command not found"), COMMIT) == ""


def test_a_guess_is_none_where_a_check_has_shown_the_mending(tmp_path: Path) -> None:
    guess = "Fixed. The most likely cause was the stale cache."
    assert said(tmp_path, edits(P + "src/a.py"), runs("pytest", PASS), words=guess) == ""
    (tmp_path / "else").mkdir()
    assert "something likely" in said(tmp_path / "else", runs("cat log", "x"), words=guess)
