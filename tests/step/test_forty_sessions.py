"""Forty sessions of one project through the hook itself: what a user says twice is told, measured, and given up."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from insula.cli.main import app
from insula.coding.replay.worth import measure_worth
from insula.coding.step import evidence, trace
from insula.coding.step.corrections import phrase_wish as wish_told
from insula.coding.step.digest import OPENING
from insula.hosts.hook import respond

NOW = 1_800_000_000.0
DAY = 86_400.0
SLOW = "don't run the integration tests, too slow."
SLOW_AGAIN = "the integration tests are too slow, don't run them"
CHANGELOG = "always add an entry to the changelog"
SHARE = 0.3

Payload = dict[str, Any]


class Agent:
    """A coding agent and its user, as Claude Code tells of them."""

    def __init__(self, home: Path, project: Path) -> None:
        self._home, self._project = home, project
        self.told: list[str] = []
        self.markers: list[dict[str, list[str]]] = []

    def live(self, number: int) -> None:
        """A session: what was told is heeded about tests and never about the changelog."""
        name, at = f"session-{number}", NOW + number * DAY
        told = self._send(name, "SessionStart", at, source="startup")
        self.told.append(told)
        marker = Path(trace.get_folder(str(self._home), name)) / evidence.MARKER
        self.markers.append(json.loads(marker.read_text()))
        self._prompt(name, at, f"add endpoint number {number}")
        self._work(name, at, number)
        if "integration tests" not in told:
            self._prompt(name, at + 60, SLOW_AGAIN if number % 2 else SLOW)
        self._prompt(name, at + 900, "looks good, thanks!")
        if number >= 4:
            self._prompt(name, at + 960, CHANGELOG)
        self._send(name, "Stop", at + 1_000)
        self._send(name, "SessionEnd", at + 1_001)

    def _work(self, name: str, at: float, number: int) -> None:
        for step in range(7):
            given = {"tool_name": "Bash", "tool_input": {"command": f"cat src/part_{number}_{step}.py"}}
            answer = {"stdout": f"class Part{number}x{step}: an endpoint with a body of its own", "stderr": ""}
            use = f"use-{number}-{step}"
            self._send(name, "PostToolUse", at + 2 + step, **given, tool_response=answer, tool_use_id=use)

    def _prompt(self, name: str, at: float, words: str) -> None:
        self._send(name, "UserPromptSubmit", at, prompt=words)

    def _send(self, name: str, event: str, at: float, **fields: Any) -> str:
        payload: Payload = {
            "hook_event_name": event,
            "session_id": name,
            "cwd": str(self._project),
            "transcript_path": "",
        }
        answer = respond(str(self._home), "claude-code", payload | fields, at)
        return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""


@pytest.fixture
def forty(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("INSULA_HOLDOUT", str(SHARE))
    (home / "salt").write_text("the lot of this test")
    agent = Agent(home, project)
    for number in range(40):
        agent.live(number)
    return agent


def listed() -> dict[str, dict[str, Any]]:
    result = CliRunner().invoke(app, ["rules", "--json"], catch_exceptions=False)
    return {rule["said"][0]["words"]: rule for rule in json.loads(result.stdout)["rules"] if "said" in rule}


def test_what_is_said_twice_is_told_withheld_and_measured_and_what_is_broken_is_given_up(
    forty: Agent, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f'- Your user had to say: "{SLOW}"'
    assert forty.told[:2] == ["", ""]
    told = [line in text for text in forty.told[2:]]
    assert told.count(True) > 20
    assert told.count(False) >= 5
    assert all(text.startswith(OPENING) for text in forty.told if text)
    monkeypatch.setattr("time.time", lambda: NOW + 41 * DAY)
    rules = listed()
    heeded, broken = rules[SLOW], rules[CHANGELOG]
    # what is heeded is kept where it is told, and said again where it is withheld
    assert heeded["state"] == "active"
    assert heeded["shown"] == {"sessions": told.count(True), "failed": 0}
    assert heeded["withheld"] == {"sessions": told.count(False), "failed": told.count(False)}
    assert {session["words"] for session in heeded["said"]} == {SLOW, SLOW_AGAIN}
    withheld = sum(heeded["id"] in marker["withheld"] for marker in forty.markers)
    assert withheld == told.count(False)
    # what is told and broken again and again is told no longer, and says why
    assert broken["state"] == "retired"
    assert broken["shown"]["sessions"] == broken["shown"]["failed"] < 10
    assert (
        broken["reason"]
        == f"broken in {broken['shown']['failed']} of the {broken['shown']['sessions']} sessions with it"
    )
    assert not any(CHANGELOG in text for text in forty.told[-15:])


def test_what_it_was_worth_tells_of_the_rule_that_is_kept_and_of_the_one_that_was_given_up(
    forty: Agent, home: Path
) -> None:
    told = {one.advice: one for one in measure_worth(str(home), 60.0, NOW + 41 * DAY).rules}
    heeded, broken = told[wish_told(SLOW)], told[wish_told(CHANGELOG)]
    assert (heeded.state, heeded.broken) == ("active", 0)
    assert heeded.kept >= 20
    assert (broken.state, broken.kept) == ("retired", 0)
    assert broken.broken >= 5


def test_what_the_person_typed_stands_nowhere_but_as_their_own_words(forty: Agent, home: Path) -> None:
    logs = list((home / "asked").glob("*.jsonl"))
    assert len(logs) == 1
    words = {json.loads(line)["words"] for line in logs[0].read_text().splitlines()}
    assert words <= {SLOW, SLOW_AGAIN, CHANGELOG}
