"""`insula worth`, and `insula status` in a home of hooks alone: what was said, what became of it, what was wrong."""

import time
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula
from sessions import Session, edits, fails, pytest_fails, runs


@pytest.fixture(autouse=True)
def _all_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("HOME", str(home))


def trouble(home: Path, name: str = "s", rounds: int = 3) -> Session:
    session = Session(home, name)
    session.at = time.time() - 3_600
    session.tell({"hook_event_name": "SessionStart", "source": "startup"})
    for number in range(rounds):
        session.act(fails("pytest -q", pytest_fails(number)))
        session.act(edits(new=f"{name}{number}"))
    return session


def test_what_was_said_and_what_followed_is_told(home: Path) -> None:
    trouble(home).act(runs("pytest -q", "5 passed in 0.1s"))
    told = run_insula("worth", "--all").out
    assert "1 session, 7 calls, 1 note on 1 trouble" in told
    assert "`pytest` has failed in 3 turns" in told
    assert "over after 2 turns, 2 min" in told
    table = told.split("Do they help?")[1].split("What it said")[0]
    assert [line.split()[0] for line in table.splitlines()[2:4]] == ["notes", "rules"]
    assert table.count("nothing to compare yet") == 2


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_person_calls_a_note_wrong_to_their_agent_and_takes_it_back(home: Path, host: str) -> None:
    def tell_again(name: str) -> tuple[Session, str]:
        session = Session(home, name, host)
        session.at = time.time() - 3_600
        session.prompt("Don't touch migrations/.")
        return session, session.tell({"hook_event_name": "SessionStart", "source": "compact"})

    session, said = tell_again("one")
    assert "migrations/" in said
    assert "false alarm" in session.prompt("insula: wrong")
    assert not tell_again("two")[1]
    assert "You called 1 of 1 a false alarm" in run_insula("worth").out
    assert "helped" in session.prompt("Insula: helped. And go on with the prices.")
    assert "migrations/" in tell_again("three")[1]
    assert "You called 0 of 2 a false alarm" in run_insula("worth").out


VENDOR, API = edits("/home/dev/project/vendor/a.py"), edits("/home/dev/project/api/api_test.go")
BANS = ("Don't touch vendor/.", "Don't touch api/.")


@pytest.mark.parametrize(
    ("other", "call", "silent"),
    [
        (BANS[0], VENDOR, True),
        (BANS[0], edits("/home/dev/project/vendor/b.py"), True),
        (BANS[1], API, False),
        ("Finger weg von api/.", API, False),
    ],
)
def test_a_false_alarm_silences_the_word_that_it_was_said_of_and_no_other(
    home: Path, other: str, call: dict[str, Any], silent: bool
) -> None:
    def ask(name: str, words: str, call: dict[str, Any]) -> tuple[Session, str]:
        session = Session(home, name)
        session.at = time.time() - 3_600
        session.prompt(words)
        return session, session.tell(call | {"hook_event_name": "PreToolUse"}, 5)

    for name in ("one", "two", "three"):
        session, _ = ask(name, BANS[0], VENDOR)
    assert f'no more about your words "{BANS[0]}".' in session.prompt("insula: wrong")
    assert "You called 1 of 3 a false alarm" in run_insula("worth").out
    assert (ask("four", other, call)[1] == "") == silent


def test_a_false_alarm_silences_the_failure_that_it_was_said_of_and_no_other(home: Path) -> None:
    session = trouble(home)
    assert "no more about `pytest` (fails again and again as it did then, " in session.prompt("insula: wrong")
    assert not trouble(home, "again").said
    other = Session(home, "other")
    other.at = time.time() - 3_600
    for number in range(3):
        other.act(fails("pytest -q", pytest_fails(number).replace("test_total", "test_tax")))
        other.act(edits(new=f"b{number}"))
    assert other.said


def test_a_word_on_a_note_that_was_never_said_does_nothing(home: Path) -> None:
    session = Session(home)
    assert "nothing lately" in session.prompt("insula: wrong")
    assert not session.prompt("The insula is wrong in this atlas: it lies behind the temporal lobe.")
    assert not (home / "quiet.jsonl").exists()


def test_what_followed_a_note_near_by_is_told(home: Path) -> None:
    session = trouble(home, rounds=4)
    session.prompt("No, stop. Never use floats for money, use decimal.")
    session.prompt("Don't touch migrations/.")
    session.tell({"hook_event_name": "SessionStart", "source": "compact"})
    session.act(edits("/home/dev/project/migrations/a.py"))
    told = run_insula("worth").out
    assert "the same failure came again within 10 calls in 1 of 1" in told
    assert "your words were kept for 10 calls in 0 of 1" in told
    assert "you corrected the agent next in 1 of 1" in told


@pytest.mark.parametrize(("path", "kept"), [("src/b.py", "1 of 1"), ("vendor/b.py", "0 of 1")])
def test_the_call_that_a_note_was_told_before_does_not_count_among_those_that_follow(
    home: Path, path: str, kept: str
) -> None:
    session = Session(home)
    session.at = time.time() - 3_600
    session.prompt("Don't touch vendor/.")
    call = edits("/home/dev/project/vendor/a.py") | {"tool_use_id": "toolu_noted"}
    assert "vendor/" in session.tell(call | {"hook_event_name": "PreToolUse"})
    session.tell(call)
    session.act(edits(f"/home/dev/project/{path}"))
    assert f"your words were kept for 10 calls in {kept}" in run_insula("worth").out


def test_all_notes_are_shown_where_all_is_asked_for(home: Path) -> None:
    for number in range(14):
        trouble(home, f"s{number}")
    assert run_insula("worth", "--all").out.count("`pytest` has failed in 3 turns") == 14


def test_a_share_of_troubles_is_withheld_whole_and_all_that_is_kept_is_compared(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "0.5")
    sessions = [trouble(home, f"s{number}", rounds=5) for number in range(24)]
    for session in sessions:
        session.act(runs("pytest -q", "5 passed in 0.1s"))
    found = run_insula("worth", "--json").json
    troubles, (notes, rules) = found["troubles"], found["effects"]
    assert {len(session.said) for session in sessions} == {0, 2}
    assert sum(trouble["withheld"] for trouble in troubles) == sum(not session.said for session in sessions)
    assert len(troubles) == notes["told"] + notes["withheld"] == 24
    assert all(trouble["turns"] is not None for trouble in troubles)
    assert notes["low"] <= 0 <= notes["high"]  # told or not, these troubles end alike
    assert notes["verdict"] != "works"
    assert (rules["told"], rules["verdict"]) == (0, "not enough evidence")
    later = time.time() + 30 * 86_400
    monkeypatch.setattr("time.time", lambda: later)
    after = run_insula("worth", "--json").json
    assert (after["sessions"], after["effects"][0]["least"]) == (0, notes["least"])
    assert after["effects"][0]["told"] + after["effects"][0]["withheld"] == 24
