"""The user's word in a session of a coding agent: heard, told again, held before a call, and held at the end."""

from pathlib import Path
from typing import Any

import pytest
from coding_agents import CodingAgent
from harness import ClaudeCode

Json = dict[str, Any]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which somebody stands."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def claude(home: Path, project: Path) -> ClaudeCode:
    """A session of Claude Code."""
    return ClaudeCode(home, project)


def begins_subagent(agent: ClaudeCode) -> str:
    """A subagent begins."""
    return agent.send({"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "Explore"})


# Before a call

NO_COMMIT = [
    pytest.param("Don't commit anything until I've looked at it.", id="en"),
    pytest.param("No hagas commit, lo reviso yo primero.", id="es"),
    pytest.param("Surtout ne committe rien, je relis d'abord.", id="fr"),
    pytest.param("Bitte nichts committen, ich schaue erst drüber.", id="de"),
    pytest.param("Não faça commit ainda.", id="pt"),
    pytest.param("Non fare commit, lo guardo prima io.", id="it"),
    pytest.param("先别提交，我要先看看。", id="zh"),
    pytest.param("勝手にコミットしないで。", id="ja"),
]


@pytest.mark.parametrize("words", NO_COMMIT)
def test_the_user_is_asked_in_their_own_words_before_a_call_that_they_ruled_out(claude: ClaudeCode, words: str) -> None:
    claude.prompt(words)
    assert claude.bash("git status", "clean") == ""
    claude.bash("git commit -am done", "[main 1a2b3c4] done")
    assert claude.questions == [f'[insula] The user said: "{words}" This call runs `git commit -am done`.']
    claude.bash("git commit --amend", "[main 1a2b3c4] done")
    assert len(claude.questions) == 1, "once: they have decided"


FORBIDDEN_EDITS = [
    pytest.param("Don't touch vendor/.", "vendor/price.py", "src/price.py", id="en"),
    pytest.param("No toques vendor/.", "vendor/price.py", "src/price.py", id="es"),
    pytest.param("Ne touche pas à vendor/.", "vendor/price.py", "src/price.py", id="fr"),
    pytest.param("Finger weg von vendor/.", "vendor/price.py", "src/price.py", id="de"),
    pytest.param("Não mexa em vendor/.", "vendor/price.py", "src/price.py", id="pt"),
    pytest.param("Non toccare vendor/.", "vendor/price.py", "src/price.py", id="it"),
    pytest.param("不要修改 vendor/ 下的文件。", "vendor/price.py", "src/price.py", id="zh"),
    pytest.param("vendor/ は触らないでください。", "vendor/price.py", "src/price.py", id="ja"),
    pytest.param("Only change src/price.py, please.", "src/cart.py", "src/price.py", id="only"),
    pytest.param("Work only in `src/`.", "docs/index.md", "src/price.py", id="only-folder"),
]


@pytest.mark.parametrize(("words", "ruled_out", "free"), FORBIDDEN_EDITS)
def test_the_user_is_asked_before_a_file_is_changed_that_they_ruled_out(
    claude: ClaudeCode, words: str, ruled_out: str, free: str
) -> None:
    claude.prompt(words)
    assert claude.edit(free) == ""
    assert claude.edit(ruled_out) == f'[insula] The user said: "{words}" This call changes `{ruled_out}`.'
    assert len(claude.questions) == 1


@pytest.mark.parametrize(
    ("words", "command", "free"),
    [
        ("Use pnpm, not npm.", "npm install", "pnpm install"),
        ("No new dependencies.", "cd app && uv add requests", "uv sync"),
        ("Never push to main.", "git push origin main", "git push origin fix/price && gh pr create"),
        ("Never merge into main.", "gh pr merge 7 --squash", "gh pr create"),
        ("Don't delete anything.", "rm -rf build", "ls build"),
        ("Don't touch config.toml.", "sed -i s/a/b/ config.toml", "cat config.toml"),
        ("Only change src/price.py.", "sed -i 's/%d/%-d/g' src/cart.py", "sed -i 's/%d/%-d/g' src/price.py"),
        ("Don't touch vendor/.", "perl -pi -e 's|src/a|src/b|' vendor/a.py", "perl -pi -e 's|vendor/a|b|' src/a.py"),
    ],
)
def test_a_command_is_read_for_what_it_runs_and_changes(
    claude: ClaudeCode, words: str, command: str, free: str
) -> None:
    claude.prompt(words)
    assert claude.bash(free, "done") == ""
    assert f'The user said: "{words}"' in claude.bash(command, "done")


def test_what_a_file_is_to_hold_is_read_before_it_is_written(claude: ClaudeCode) -> None:
    claude.prompt("Write tests for the cart. No mocks, please.")
    assert claude.edit("tests/test_cart.py", "x", "def test_total():\n    assert total() == 3\n") == ""
    told = claude.edit("tests/test_cart.py", "x", "from unittest.mock import Mock\ncart = Mock()\n")
    assert "No mocks, please." in told
    assert len(claude.questions) == 1


@pytest.mark.parametrize("mode", ["bypassPermissions", "dontAsk"])
def test_where_nobody_is_asked_the_model_is_told(claude: ClaudeCode, mode: str) -> None:
    claude.prompt("Don't touch vendor/.")
    given: Json = {"file_path": str(claude.project / "vendor/a.py"), "old_string": "a", "new_string": "b"}
    event: Json = {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": given, "tool_use_id": "t1"}
    assert "Don't touch vendor/." in claude.send({**event, "permission_mode": mode})
    assert claude.questions == []


def test_a_client_that_has_no_question_tells_its_model(home: Path, project: Path) -> None:
    codex = CodingAgent("codex", home, project)
    codex.prompt("Don't push, I'll do that myself.")
    assert codex.bash("git status", "clean") == ""
    assert "Don't push, I'll do that myself." in codex.bash("git push", "main -> main")


def test_a_subagent_of_a_session_does_not_ask_the_person(claude: ClaudeCode) -> None:
    claude.prompt("Don't touch vendor/.")
    given: Json = {"file_path": str(claude.project / "vendor/a.py"), "old_string": "a", "new_string": "b"}
    event: Json = {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": given, "tool_use_id": "t1"}
    claude.send({**event, "agent_id": "a1", "agent_type": "general-purpose"})
    assert claude.questions == []


def test_what_the_user_allows_afterwards_is_no_longer_held(claude: ClaudeCode) -> None:
    claude.prompt("Don't commit, and don't push.")
    claude.prompt("Looks good. Commit it.")
    assert claude.bash("git commit -am done", "[main 1a2b3c4] done") == ""
    assert "The user said: \"Don't commit, and don't push.\"" in claude.bash("git push", "main -> main")


@pytest.mark.parametrize("words", ["Never commit to main, open a pull request.", "Auf main wird nicht committet."])
def test_a_commit_is_held_against_the_branch_that_it_goes_to(claude: ClaudeCode, words: str) -> None:
    head = claude.project / ".git/HEAD"
    claude.prompt(words)
    head.write_text("ref: refs/heads/fix/price\n")
    assert claude.bash("git commit -qm 'Say what main holds'", "done") == ""
    head.write_text("ref: refs/heads/main\n")
    assert claude.bash("git switch -c fix/cart && git commit -qm x", "done") == ""
    assert words in claude.bash("git commit -qm x", "done")
    claude.prompt("Good. Now commit it to main.")
    assert claude.bash("git commit -qm y", "done") == ""


def test_a_commit_in_a_worktree_goes_to_its_own_branch(claude: ClaudeCode) -> None:
    (claude.project / ".git").rmdir()
    (claude.project / ".git").write_text("gitdir: ../other/.git/worktrees/w\n")
    own = claude.project.parent / "other/.git/worktrees/w"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    claude.prompt("Don't commit on main.")
    assert "Don't commit on main." in claude.bash("git commit -qm x", "done")


def test_a_path_is_followed_through_a_link(claude: ClaudeCode) -> None:
    (claude.project / "vendor").mkdir()
    (claude.project / "lib").symlink_to("vendor")
    claude.prompt("Don't touch vendor/.")
    assert "Don't touch vendor/." in claude.edit("lib/price.py")


@pytest.mark.parametrize(
    "words",
    ["Non creare una cartella utils/, non la vogliamo.", "Don't add a utils/ folder.", "Pas de dossier utils/ ici."],
)
def test_a_path_that_is_not_there_yet_is_not_made_unasked(claude: ClaudeCode, words: str) -> None:
    claude.prompt(words)
    assert claude.edit("src/money.py") == ""
    assert words in claude.edit("utils/money.py")


@pytest.mark.parametrize(
    "words", ["Never run scripts/seed.py.", "Don't import from utils/.", "Don't wait for docs/a.md."]
)
def test_what_else_is_ruled_out_of_a_path_keeps_nobody_from_changing_it(claude: ClaudeCode, words: str) -> None:
    for path in ("scripts/seed.py", "utils/money.py", "docs/a.md"):
        (claude.project / path).parent.mkdir(exist_ok=True)
        (claude.project / path).touch()
    claude.prompt(words)
    assert [claude.edit(path) for path in ("scripts/seed.py", "utils/money.py", "docs/a.md")] == ["", "", ""]


# Told again


def test_what_still_stands_is_told_after_a_compaction_in_the_users_own_words(claude: ClaudeCode) -> None:
    claude.prompt("Port the scraper to httpx. Keep it py3.9 compatible, and don't rename the public functions.")
    claude.edit("scraper.py")
    claude.prompt("Now the tests.")
    told = claude.start("compact")
    assert told.startswith("[insula] Your user said earlier in this session, and it still stands:\n")
    assert "Keep it py3.9 compatible" in told
    assert "don't rename the public functions" in told
    assert len(told) <= 600
    assert claude.start("resume") == ""


def test_a_subagent_is_told_what_stands_once(claude: ClaudeCode) -> None:
    assert begins_subagent(claude) == "", "nothing stands"
    claude.prompt("Don't touch vendor/.")
    told = begins_subagent(claude)
    assert told == '[insula] The user said in this session, and it holds for you, too:\n- "Don\'t touch vendor/."'


@pytest.mark.parametrize(
    "words",
    [
        "Why didn't you commit this?",
        "Fix the parser, the tests are red.",
        "> don't touch vendor/\nThat is what the old README said.",
        "<task-notification>\nDon't push anything.\n</task-notification>",
    ],
)
def test_nothing_is_told_where_the_user_ruled_nothing_out(claude: ClaudeCode, words: str) -> None:
    claude.prompt(words)
    assert claude.edit("vendor/price.py") == ""
    assert begins_subagent(claude) == ""
    assert claude.start("compact") == ""


def test_twenty_wishes_in_a_long_message_are_told_within_the_limit(claude: ClaudeCode) -> None:
    wishes = "\n".join(f"- Don't touch module_{number}/ in this branch, it is being rewritten." for number in range(20))
    claude.prompt(f"Clean up.\n{wishes}\n" + "x = 1\n" * 33_000)
    told = claude.start("compact")
    assert "module_19/" in told
    assert len(told) <= 600


def test_of_two_words_that_contradict_the_newer_holds(claude: ClaudeCode) -> None:
    claude.prompt("Don't touch vendor/.")
    claude.prompt("ok, you can change vendor/ now")
    assert claude.edit("vendor/price.py") == ""
    assert claude.start("compact") == ""


# At the end


def test_a_demand_that_nothing_was_done_for_is_said_once_when_the_agent_stops(claude: ClaudeCode) -> None:
    claude.prompt("Fix the parser and run the tests when you're done.")
    claude.edit("src/parser.py")
    assert claude.stop("All done.") == (
        '[insula] The user asked: "Fix the parser and run the tests when you\'re done." Since then no test was run. '
        "Do it now, or tell them plainly that it is open."
    )
    assert claude.stop("All done.") == ""


def test_a_demand_that_was_met_is_not_said(claude: ClaudeCode) -> None:
    claude.prompt("Fix the parser and run the tests when you're done.")
    claude.edit("src/parser.py")
    claude.bash("pytest -q", "4 passed in 0.1s")
    assert claude.stop("All done.") == ""


def test_a_demand_is_not_said_to_an_agent_that_tells_that_it_is_open(claude: ClaudeCode) -> None:
    claude.prompt("Fix the parser and run the tests when you're done.")
    claude.edit("src/parser.py")
    assert claude.stop("The parser is fixed. I could not run the tests: there is no database here.") == ""


# What is kept


def test_no_secret_in_a_wish_is_kept_or_told(claude: ClaudeCode, home: Path) -> None:
    token = "ghp_" + "aB3d" * 9
    claude.prompt(f"Don't push with {token}, and don't touch vendor/.")
    told = claude.start("compact") + claude.edit("vendor/a.py")
    assert told
    assert token not in told
    assert all(token.encode() not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_is_kept_of_the_users_words_is_for_its_owner_alone(claude: ClaudeCode, home: Path) -> None:
    claude.prompt("Don't touch vendor/.")
    kept = [path for path in home.rglob("*") if path.is_file() and b"vendor/" in path.read_bytes()]
    assert kept
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)


@pytest.mark.parametrize(
    "words", ["", "\0" * 40, "don't touch " + "../" * 4000, "ne touchez pas à \udc80", "🙂" * 5000]
)
def test_a_message_of_any_form_is_taken(claude: ClaudeCode, words: str, home: Path) -> None:
    claude.prompt(words)
    claude.edit("src/price.py")
    claude.stop()
    assert not (home / "failures.jsonl").exists()
