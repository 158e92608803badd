"""A second model in place of the monitor (`assessor_model`): its judgement counts, and its failure costs nothing."""

import json
from typing import Any

import pytest
from harness import run_insula

from insula.testing import FakeServer

POOR = json.dumps({"responsiveness": 30, "completeness": 10, "consistency": 90, "repetition": False})


def reply(judge: FakeServer, answer: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The record of a turn that a second model judges."""
    monkeypatch.setenv("INSULA_ASSESSOR_MODEL", f"{judge.url}#judge")
    with FakeServer(answer=answer) as model:
        words = ("chat", "--model", f"{model.url}#fake", "--json")
        return run_insula(*words, stdin="How do I undo a commit?\n").lines[0]


def test_a_model_may_replace_the_monitor_and_its_judgement_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(answer=POOR) as judge:
        record = reply(judge, "It rains.", monkeypatch)
        asked = judge.prompt()
    assert record["assessment"]["score"] == pytest.approx(0.433, abs=0.001)
    assert set(record["assessment"]["flags"]) == {"off_topic", "incomplete"}
    for part in ("<message>\nHow do I undo a commit?\n</message>", "<reply>\nIt rains.\n</reply>", "<recent_replies>"):
        assert part in asked


def test_a_judge_that_fails_leaves_the_response_with_the_builtin_assessment(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer("500") as judge:
        record = reply(judge, "Use git revert.", monkeypatch)
    assert (record["response"], record["error"]) == ("Use git revert.", None)
    assert record["assessment"]["score"] > 0.5
