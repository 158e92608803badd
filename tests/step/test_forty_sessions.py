"""Forty sessions of one project through the hook itself: what a user says twice is told, measured, and given up."""

import json
from pathlib import Path

import pytest
from harness import run_insula
from sessions import Session, runs

NOW, DAY = 1_800_000_000.0, 86_400.0
SLOW = "don't run the integration tests, too slow."
SLOW_AGAIN = "the integration tests are too slow, don't run them"
CHANGELOG = "always add an entry to the changelog"


def live(home: Path, project: Path, number: int) -> tuple[str, dict[str, list[str]]]:
    """A session, and what it was told and its marker say: that is heeded about tests, and never about the changelog."""
    session = Session(home, f"session-{number}", cwd=str(project))
    session.at = NOW + number * DAY
    told = session.tell({"hook_event_name": "SessionStart", "source": "startup"})
    marker = json.loads((home / "sessions" / f"session-{number}" / "rules.json").read_text())
    session.prompt(f"add endpoint number {number}")
    for step in range(7):
        shown = f"class Part{number}x{step}: an endpoint with a body of its own"
        session.act(runs(f"cat src/part_{number}_{step}.py", shown))
    if "integration tests" not in told:
        session.prompt(SLOW_AGAIN if number % 2 else SLOW)
    session.prompt("looks good, thanks!")
    if number >= 4:
        session.prompt(CHANGELOG)
    session.tell({"hook_event_name": "Stop"}, 5)
    session.tell({"hook_event_name": "SessionEnd"}, 1)
    return told, marker


def test_what_is_said_twice_is_told_withheld_and_measured_and_what_is_broken_is_given_up(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("INSULA_HOLDOUT", "0.3")
    (home / "salt").write_text("the lot of this test")
    texts, markers = zip(*(live(home, project, number) for number in range(40)), strict=True)
    line = f'- Your user had to say: "{SLOW}"'
    assert texts[:2] == ("", "")
    told = [line in text for text in texts[2:]]
    assert told.count(True) > 20
    assert told.count(False) >= 5
    monkeypatch.setattr("time.time", lambda: NOW + 41 * DAY)
    listed = run_insula("rules", "--json").json["rules"]
    rules = {rule["said"][0]["words"]: rule for rule in listed if "said" in rule}
    heeded, broken = rules[SLOW], rules[CHANGELOG]
    # what is heeded is kept where it is told, and said again where it is withheld
    assert heeded["state"] == "active"
    assert heeded["shown"] == {"sessions": told.count(True), "failed": 0}
    assert heeded["withheld"] == {"sessions": told.count(False), "failed": told.count(False)}
    assert {session["words"] for session in heeded["said"]} == {SLOW, SLOW_AGAIN}
    assert sum(heeded["id"] in marker["withheld"] for marker in markers) == told.count(False)
    # what is told and broken again and again is told no longer, and says why
    assert broken["state"] == "retired"
    assert 5 <= broken["shown"]["sessions"] == broken["shown"]["failed"] < 10
    failures = broken["shown"]["failed"]
    assert broken["reason"] == f"broken in {failures} of the {failures} sessions with it"
    assert not any(CHANGELOG in text for text in texts[-15:])
    # what it was worth tells the same
    worth = {rule["advice"]: rule for rule in run_insula("worth", "--days", "60", "--json").json["rules"]}
    kept, lost = (next(rule for advice, rule in worth.items() if words in advice) for words in (SLOW, CHANGELOG))
    assert (kept["state"], kept["broken"], lost["state"], lost["kept"]) == ("active", 0, "retired", 0)
    assert kept["kept"] >= 20
    # what the person typed stands nowhere but as their own words
    (log,) = (home / "asked").glob("*.jsonl")
    assert {json.loads(line)["words"] for line in log.read_text().splitlines()} <= {SLOW, SLOW_AGAIN, CHANGELOG}
