"""Forty sessions of one project through the hook itself: what a user says twice is told, measured, and given up."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness import run_insula

from insula.hosts.hook import respond

NOW, DAY = 1_800_000_000.0, 86_400.0
SLOW = "don't run the integration tests, too slow."
SLOW_AGAIN = "the integration tests are too slow, don't run them"
CHANGELOG = "always add an entry to the changelog"


class Agent:
    """A coding agent and its user, as Claude Code tells of them: what it was told at each start is kept."""

    def __init__(self, home: Path, project: Path) -> None:
        self._home, self._project = home, project
        self.told: list[str] = []
        self.markers: list[dict[str, list[str]]] = []

    def live(self, number: int) -> None:
        """A session: what was told is heeded about tests and never about the changelog."""
        name, at = f"session-{number}", NOW + number * DAY
        told = self._send(name, "SessionStart", at, source="startup")
        self.told.append(told)
        self.markers.append(json.loads((self._home / "sessions" / name / "rules.json").read_text()))
        self._prompt(name, at, f"add endpoint number {number}")
        for step in range(7):
            given = {"tool_name": "Bash", "tool_input": {"command": f"cat src/part_{number}_{step}.py"}}
            answer = {"stdout": f"class Part{number}x{step}: an endpoint with a body of its own", "stderr": ""}
            use = f"use-{number}-{step}"
            self._send(name, "PostToolUse", at + 2 + step, **given, tool_response=answer, tool_use_id=use)
        if "integration tests" not in told:
            self._prompt(name, at + 60, SLOW_AGAIN if number % 2 else SLOW)
        self._prompt(name, at + 900, "looks good, thanks!")
        if number >= 4:
            self._prompt(name, at + 960, CHANGELOG)
        self._send(name, "Stop", at + 1_000)
        self._send(name, "SessionEnd", at + 1_001)

    def _prompt(self, name: str, at: float, words: str) -> None:
        self._send(name, "UserPromptSubmit", at, prompt=words)

    def _send(self, name: str, event: str, at: float, **fields: Any) -> str:
        about = {"hook_event_name": event, "session_id": name, "cwd": str(self._project), "transcript_path": ""}
        answer = respond(str(self._home), "claude-code", about | fields, at)
        return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""


def test_what_is_said_twice_is_told_withheld_and_measured_and_what_is_broken_is_given_up(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("INSULA_HOLDOUT", "0.3")
    (home / "salt").write_text("the lot of this test")
    agent = Agent(home, project)
    for number in range(40):
        agent.live(number)
    line = f'- Your user had to say: "{SLOW}"'
    assert agent.told[:2] == ["", ""]
    told = [line in text for text in agent.told[2:]]
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
    assert sum(heeded["id"] in marker["withheld"] for marker in agent.markers) == told.count(False)
    # what is told and broken again and again is told no longer, and says why
    assert broken["state"] == "retired"
    assert 5 <= broken["shown"]["sessions"] == broken["shown"]["failed"] < 10
    failures = broken["shown"]["failed"]
    assert broken["reason"] == f"broken in {failures} of the {failures} sessions with it"
    assert not any(CHANGELOG in text for text in agent.told[-15:])
    # what it was worth tells the same
    worth = {rule["advice"]: rule for rule in run_insula("worth", "--days", "60", "--json").json["rules"]}
    kept, lost = (next(rule for advice, rule in worth.items() if words in advice) for words in (SLOW, CHANGELOG))
    assert (kept["state"], kept["broken"], lost["state"], lost["kept"]) == ("active", 0, "retired", 0)
    assert kept["kept"] >= 20
    # what the person typed stands nowhere but as their own words
    (log,) = (home / "asked").glob("*.jsonl")
    assert {json.loads(line)["words"] for line in log.read_text().splitlines()} <= {SLOW, SLOW_AGAIN, CHANGELOG}
