"""`insula replay` as its user meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import Ran, run_insula
from transcripts import RECORDED, Session, write


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def call(*words: object) -> Ran:
    return run_insula("replay", *map(str, words))


def figures(*words: object) -> dict[str, Any]:
    return call("--json", *words).json


def refused(*words: object) -> str:
    """Why a call was refused."""
    ran = call(*words)
    assert ran.status
    return " ".join(ran.err.split())


@pytest.fixture
def bad_week(tmp_path: Path) -> Path:
    """Two sessions that go wrong in the same way, and one that does not."""
    folder = tmp_path / "week"
    folder.mkdir()
    for name in ("one", "two"):
        Session(name).says("Go.").works(2).fails(6).works(3).written(folder)
    Session("calm").says("Go.").works(9).written(folder)
    return folder


def test_the_summary_says_what_was_seen_what_hurt_and_what_to_do_next(bad_week: Path) -> None:
    said = call(bad_week).out
    assert "3 sessions (3 of Claude Code)" in said
    assert "31 tool uses, 12 errors, 3 prompts, 0 interrupts, 0 calls turned down, 0 corrections" in said
    assert "failed in 6 turns, from Bash cat missing-0.txt" in said
    assert "it would have read: 5 turns in a row ended in similar errors." in said
    assert "insula replay --learn" in said
    assert "insula install claude-code" in said


def test_it_shows_what_the_hook_would_say_and_so_no_sense_that_is_off(tmp_path: Path, home: Path) -> None:
    session = Session().says("Go.").works(2)
    session.calls("Bash", "[main 1a2b3c4] x", command="git commit -am x --no-verify").works(2).written(tmp_path)

    def told() -> tuple[dict[str, int], list[str], str]:
        found = figures(tmp_path)
        page = tmp_path.with_name("page.html")
        call(tmp_path, "--html", page)
        return found["readings"], [one["sense"] for one in found["worst"]], page.read_text("utf-8")

    readings, moments, page = told()
    assert readings == {"bypass": 1} and "bypass" in moments and "goes round a check" in page
    run_insula("off", "bypass")
    readings, moments, page = told()
    assert readings == {} and moments == [] and "goes round a check" not in page


def test_the_figures_come_as_json(bad_week: Path) -> None:
    found = figures(bad_week)
    assert {name: found[name] for name in ("sessions", "tool_uses", "errors", "prompts", "interrupts")} == {
        "sessions": 3,
        "tool_uses": 31,
        "errors": 12,
        "prompts": 3,
        "interrupts": 0,
    }
    assert found["readings"] == {"nociception": 8}
    assert found["rungs"] == {"1": 2, "2": 2}
    assert found["skipped"] == {}
    assert [moment["session"] for moment in found["worst"]] == ["one", "two"]


def test_the_exit_code_tells_whether_all_was_read(bad_week: Path, tmp_path: Path) -> None:
    assert call(bad_week).status == 0
    foreign = bad_week / "foreign.jsonl"
    foreign.write_text('{"rows": 3}\n')
    result = call(bad_week)
    assert result.status == 3
    assert "foreign.jsonl: it holds no session" in result.out.replace("\n", "")
    assert call(foreign).status == 1
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes((RECORDED / "codex.jsonl").read_bytes()[:-40])
    os.utime(cut, (1, 1))
    assert call(cut).status == 3


@pytest.fixture
def own_week(bad_week: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same in the folder of an agent of this user's."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(bad_week.parent / "claude"))
    folder = bad_week.parent / "claude/projects/week"
    folder.parent.mkdir(parents=True)
    return bad_week.rename(folder)


def test_learning_shows_the_rules_and_founds_them_once(own_week: Path, home: Path) -> None:
    bad_week = own_week
    said = call(bad_week, "--learn", "--yes").out
    assert "3 sessions to learn from." in said
    assert "error-loop, in the projects where it happened: When the same kind of error" in said
    assert "Learned from 3 sessions." in said
    again = figures(bad_week, "--learn", "--yes")["learned"]
    assert again == {"written": True, "sessions": 0, "known": 3, "running": 0, "rules": []}
    (log,) = (home / "evidence").glob("*.jsonl")
    assert len({json.loads(line)["session"] for line in log.read_text().splitlines()}) == 3


def test_of_what_somebody_brought_nothing_is_learned(bad_week: Path, own_week: Path, home: Path) -> None:
    bad_week.mkdir()
    (bad_week / "link.jsonl").symlink_to(own_week / "one.jsonl")
    assert call(bad_week, "--learn", "--yes").status == 0  # it is this user's, whatever the way to it
    brought = Session("brought").says("Go.").works(2).fails(6).written(bad_week)
    (own_week / "linked.jsonl").symlink_to(brought)
    for given in (bad_week, own_week):
        assert "nothing is learned from them" in refused(given, "--learn", "--yes")
    (log,) = (home / "evidence").glob("*.jsonl")
    assert "brought" not in log.read_text()


def test_who_reads_may_go_and_it_is_no_failure(bad_week: Path) -> None:
    read, written = os.pipe()
    os.close(read)
    told = subprocess.run(
        [Path(sys.executable).with_name("insula"), "replay", bad_week],
        stdout=written,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(written)
    assert (told.returncode, told.stderr) == (0, b"")


def test_nothing_is_learned_where_nobody_can_be_asked(bad_week: Path, home: Path) -> None:
    assert "insula replay --learn --yes" in refused(bad_week, "--learn")
    assert not (home / "evidence").exists()


def test_a_page_replaces_nothing_but_a_page(bad_week: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    (tmp_path / "link.html").symlink_to(notes)
    os.mkfifo(tmp_path / "pipe.html")
    given = bad_week / "one.jsonl"
    for path in (notes, given, tmp_path / "link.html", tmp_path / "pipe.html", tmp_path):
        assert refused(bad_week, "--html", path)
    assert notes.read_text() == "mine"
    assert "one of the transcripts" in refused(bad_week, "--html", given, "--force")
    assert call(bad_week, "--html", notes, "--force").status == 0
    assert notes.read_bytes().startswith(b"<!doctype html>")
    assert not list(tmp_path.glob(".insula-*"))


def test_text_of_a_transcript_cannot_write_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202egnp.exe\r"
    session = Session("s", cwd=f"/home/dev/{evil}").says("Go.")
    for _ in range(5):
        session.calls("Bash", f"Exit code 1\n{evil}", error=True, command=f"cat {evil}")
    session.rows.append({"type": evil, "uuid": "x", "timestamp": "2026-01-01T00:00:00Z"})
    said = call(session.written(tmp_path)).out
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(said)
    assert "[bold red]" in said.replace("\n", "")


# What the user said.


def test_a_word_that_a_call_goes_against_is_shown_first_with_the_call(tmp_path: Path) -> None:
    session = Session().says("Never touch anything in migrations/. And don't commit, I'll do it.").works(2)
    session.calls("Edit", "ok", file_path="/home/dev/project/migrations/1.py", old_string="a", new_string="b")
    session.works(1).fails(6).calls("Bash", "[main 1a] x", command="git commit -m x").written(tmp_path)
    found = figures(tmp_path)
    assert (found["given"], found["broken"], found["unmet"]) == (2, 2, 0)
    assert {word["words"]: word["broken"] for word in found["words"]} == {
        "Never touch anything in migrations/.": [3],
        "And don't commit, I'll do it.": [11],
    }
    said = " ".join(call(tmp_path).out.split())
    assert "You ruled out or asked for 2 things: 2 gone against, 0 open at the end." in said
    assert "broken at step 3, by Edit /home/dev/project/migrations/1.py" in said
    page = tmp_path.with_name("page.html")
    call(tmp_path, "--html", page)
    listed = page.read_text("utf-8").partition("<h2>Sessions")[2].partition("</summary>")[0]
    assert "Against your words, from <code>Edit /home/dev/project/migrations/1.py</code>" in listed


def test_what_a_write_holds_is_held_against_the_users_words(tmp_path: Path) -> None:
    session = Session().says("Add the tests, and don't use unittest.mock.").works(1)
    wrote = "from unittest.mock import Mock\n"
    session.calls("Write", "ok", file_path="/home/dev/project/tests/test_a.py", content=wrote).written(tmp_path)
    assert figures(tmp_path)["broken"] == 1


def test_a_demand_that_nothing_met_is_shown_where_the_agent_stops(tmp_path: Path) -> None:
    session = Session().says("Fix the parser. Update CHANGELOG.md.").works(1)
    session.calls("Edit", "ok", file_path="/home/dev/project/src/parser.py", old_string="a", new_string="b")
    session.add("assistant", [{"type": "text", "text": "The parser is fixed."}])
    session.says("Thanks.").written(tmp_path)
    found = figures(tmp_path)
    assert (found["broken"], found["unmet"]) == (0, 1)
    assert [word["unmet"] for word in found["words"]] == ["nothing touched the changelog"]
    said = " ".join(call(tmp_path).out.split())
    assert "what you asked for was not done, “Update CHANGELOG.md.”" in said


@pytest.mark.parametrize("last", ["The parser is fixed, CHANGELOG.md is not updated yet.", "Shall I update it now?"])
def test_what_the_agent_says_itself_or_asks_is_not_open(last: str, tmp_path: Path) -> None:
    session = Session().says("Fix the parser. Update CHANGELOG.md.").works(1)
    session.calls("Edit", "ok", file_path="/home/dev/project/src/parser.py", old_string="a", new_string="b")
    session.add("assistant", [{"type": "text", "text": last}]).written(tmp_path)
    assert figures(tmp_path)["unmet"] == 0


def test_what_was_kept_met_or_taken_back_is_counted_and_not_shown(tmp_path: Path) -> None:
    session = Session().says("Never touch migrations/. Update CHANGELOG.md.").works(1)
    session.calls("Edit", "ok", file_path="/home/dev/project/CHANGELOG.md", old_string="a", new_string="b")
    session.add("assistant", [{"type": "text", "text": "Done."}])
    session.says("You may change migrations/ now.").works(1)
    session.calls("Edit", "ok", file_path="/home/dev/project/migrations/1.py", old_string="a", new_string="b")
    session.written(tmp_path)
    found = figures(tmp_path)
    assert (found["given"], found["broken"], found["unmet"], found["words"]) == (2, 0, 0, [])


def test_a_subagent_is_held_to_what_the_user_said(tmp_path: Path) -> None:
    main = Session().says("Never touch anything in migrations/.").works(2)
    side = Session("side", agent="a1")
    side.at = main.at
    side.calls("Edit", "ok", file_path="/home/dev/project/migrations/1.py", old_string="a", new_string="b")
    main.written(tmp_path)
    write(tmp_path / "s/subagents/agent-a1.jsonl", *({**row, "sessionId": "s"} for row in side.rows))
    assert figures(tmp_path)["broken"] == 1


def test_a_sense_that_is_off_shows_no_word(tmp_path: Path, home: Path) -> None:
    session = Session().says("Never touch anything in migrations/.").works(2)
    session.calls("Edit", "ok", file_path="/home/dev/project/migrations/1.py", old_string="a", new_string="b")
    session.written(tmp_path)
    run_insula("off", "against_words")
    assert figures(tmp_path)["given"] == 0
