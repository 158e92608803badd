"""Work at risk is told of before it is lost, where the host says what is about to be done; once, and in time."""

import json
from pathlib import Path
from typing import Any

import pytest
from sessions import Session, edits, fails, runs

from insula.hosts.hook import respond
from insula.step import trace
from insula.step.senses.ending import EVERY


def before(command: str, tool: str = "Bash") -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"command": command}}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, on=EVERY)


CHECKED = (runs("pytest -q", "4 passed in 0.1s"), edits("/home/dev/project/price.py", "a", "b"))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("git stash", "out of the tree"),
        ("git reset --hard HEAD", "this reset takes them away"),
        ("git clean -fd", "does not know"),
        ("git stash drop", "drops a stash"),
        ("git push --force origin main", "forced"),
        ("git commit -am x --no-verify", "goes round a check"),
        ("git push", "this push does not hold them"),
        ("git commit -am 'done'", "has not been run since the last change"),
    ],
)
def test_what_may_be_lost_or_left_is_told_before_the_call_and_not_again_after_it(
    session: Session, command: str, told: str
) -> None:
    session.follow(CHECKED)
    assert told in session.tell(before(command), 5)
    assert not any(told in text for text in session.act(runs(command, "done as asked")))


def test_what_is_dropped_before_the_call_can_still_be_got_back(session: Session) -> None:
    session.follow(CHECKED)
    assert "git stash pop" in session.tell(before("git stash push -m wip"), 5)


@pytest.mark.parametrize(
    "command",
    ["git status", "pytest -q", "git push --dry-run", "git stash list", "ls -la", "git add -A", "git log --oneline"],
)
def test_before_a_call_that_risks_nothing_not_even_a_line_is_written(
    tmp_path: Path, session: Session, command: str
) -> None:
    session.act(runs("ls", "a"))
    path = Path(trace.folder(str(tmp_path), "s"), trace.FILE)
    there = path.read_text("utf-8")
    assert session.tell(before(command), 5) == ""
    if command not in {"git push --dry-run"}:
        assert path.read_text("utf-8") == there


@pytest.mark.parametrize("command", ["git stash", "git reset --hard", "git clean -fd", "git checkout -- ."])
def test_on_a_tree_without_changes_nothing_is_said(session: Session, command: str) -> None:
    session.act(runs("ls", "a"))
    assert session.tell(before(command), 5) == ""


def test_what_the_user_asked_for_is_not_held_up(session: Session) -> None:
    session.follow(CHECKED)
    session.prompt("please stash my changes, and use --no-verify for the commit")
    assert session.tell(before("git stash"), 5) == ""
    assert session.tell(before("git commit --no-verify -m x && pytest -q"), 5) == ""


def test_what_the_user_has_forbidden_is_told_before_it_is_done(session: Session) -> None:
    session.prompt("don't commit anything until I say so")
    assert 'The user said: "don\'t commit anything until I say so"' in session.tell(before("git commit -am wip"), 5)


def test_a_call_that_was_announced_and_turned_down_counts_as_nothing_done(session: Session) -> None:
    session.follow(CHECKED)
    session.tell(before("git commit -am 'wip'"), 5)
    assert "not been run" not in session.tell(before("git commit -am 'wip'"), 5)  # once
    session.follow([runs("pytest -q", "4 passed in 0.1s")])
    assert session.tell(before("git commit -am 'done'"), 5) == ""


def test_codex_is_told_before_the_call_as_well(tmp_path: Path) -> None:
    session = Session(tmp_path, host="codex", on=EVERY)
    patch = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a = 1\n+a = 2\n*** End Patch"
    base = {"session_id": "s", "cwd": "/home/dev/project", "transcript_path": ""}
    edit = {"hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch}}
    respond(str(tmp_path), "codex", base | edit | {"tool_response": "Success.", "tool_use_id": "e"}, 1e9)
    answer = respond(str(tmp_path), "codex", base | before("git reset --hard") | {"tool_use_id": "r"}, 1e9 + 9)
    answered = json.loads(answer)["hookSpecificOutput"]
    assert answered["hookEventName"] == "PreToolUse" and "no commit has" in answered["additionalContext"]
    assert session.texts == []


def test_a_commit_that_its_hook_refused_is_no_delivery(session: Session) -> None:
    session.follow([*CHECKED, fails("git commit -am x", "pre-commit: lint failed")])
    assert not session.said
