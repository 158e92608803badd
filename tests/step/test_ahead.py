"""What a call goes against is told before it is made, where the host says what is about to be done; and once."""

import json
from pathlib import Path
from typing import Any

import pytest
from sessions import Session, edits, runs

from insula.coding.step import trace
from insula.coding.step.senses import EVERY
from insula.hosts.hook import respond


def before(command: str, tool: str = "Bash") -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"command": command}}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, on=EVERY)


def test_going_round_a_check_is_told_before_the_call_and_not_again_after_it(session: Session) -> None:
    session.act(edits("/home/dev/project/price.py", "a", "b"))
    command = "git commit -am x --no-verify"
    assert "goes round a check" in session.tell(before(command), 5)
    assert session.act(runs(command, "done as asked")) == []


@pytest.mark.parametrize(
    "command", ["git status", "pytest -q", "git push --dry-run", "git stash list", "ls -la", "git add -A", "git stash"]
)
def test_before_a_call_that_goes_against_nothing_not_even_a_line_is_written(
    tmp_path: Path, session: Session, command: str
) -> None:
    session.act(runs("ls", "a"))
    path = Path(trace.get_folder(str(tmp_path), "s"), trace.FILE)
    there = path.read_text("utf-8")
    assert session.tell(before(command), 5) == ""
    assert path.read_text("utf-8") == there


def test_what_the_user_asked_for_is_not_held_up(session: Session) -> None:
    session.prompt("please stash my changes, and use --no-verify for the commit")
    assert session.tell(before("git stash"), 5) == ""
    assert session.tell(before("git commit --no-verify -m x && pytest -q"), 5) == ""


def test_what_the_user_has_forbidden_is_told_before_it_is_done(session: Session) -> None:
    session.prompt("don't commit anything until I say so")
    assert 'The user said: "don\'t commit anything until I say so"' in session.tell(before("git commit -am wip"), 5)


def test_codex_is_told_before_the_call_as_well(tmp_path: Path) -> None:
    base = {"session_id": "s", "cwd": "/home/dev/project", "transcript_path": "", "tool_use_id": "r"}
    answer = respond(str(tmp_path), "codex", base | before("git commit --no-verify -m x"), 1e9)
    answered = json.loads(answer)["hookSpecificOutput"]
    assert answered["hookEventName"] == "PreToolUse" and "goes round a check" in answered["additionalContext"]
