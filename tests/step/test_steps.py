"""Streams of a coding agent that somebody else wrote down: where a note is due, by when, and where silence is."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from sessions import Session, failed, went

from insula.coding.step import trace
from insula.coding.step.senses import EVERY

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("steps.jsonl").read_text("utf-8").splitlines()
]


def play(home: Path, case: dict[str, Any], batches: bool, on: Collection[str]) -> list[tuple[int, str]]:
    """The texts of a stream, each with the place of the call that it followed."""
    session = Session(home, case["id"], batches=batches, on=on, cwd=case["cwd"])
    if rules := case.get("rules"):
        trace.append_records(trace.get_folder(str(home), case["id"]), {"e": "rules", "at": session.at, "words": rules})
    told: list[tuple[int, str]] = []
    place = 0
    for turn in _turns(case["calls"]):
        first, texts = turn[0], list[str]()
        seconds = max(first.get("dt") or 0, first.get("seconds", 0) + 1)
        if "user" in first:
            texts = [session.prompt(first["user"])]
        elif "stop" in first:
            texts = [session.stop(first.get("text", ""))]
        elif "event" in first:
            texts = [session.tell({"hook_event_name": "SessionStart", "source": first["event"]}, 5)]
        else:
            texts = session.act(*map(_call, turn), seconds=seconds)
        place += len(turn)
        told += [(place - 1, text) for text in texts if text]
    return told


def _turns(calls: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    turns: list[list[dict[str, Any]]] = []
    for call in calls:
        if turns and "tool" in call and "tool" in turns[-1][0] and call["turn"] == turns[-1][0]["turn"]:
            turns[-1].append(call)
        else:
            turns.append([call])
    return turns


def _call(call: dict[str, Any]) -> dict[str, Any]:
    if call["ok"]:
        output = {"stdout": call["output"], "stderr": ""} if call["tool"] == "Bash" else call["output"]
        return went(call["tool"], call["input"], output, call.get("seconds", 0.1))
    return failed(call["tool"], call["input"], call["output"], call.get("seconds", 0.1))


@pytest.mark.parametrize(
    ("on", "batches"), [((), True), (EVERY, False)], ids=["default, in batches", "all on, one by one"]
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
def test_a_note_comes_in_time_and_where_none_is_due_there_is_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any], batches: bool, on: Collection[str]
) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")
    told = play(tmp_path, case, batches, on)
    most = case.get("max_texts")
    assert most is None or len(told) <= most, (case["why"], told)
    if case["expect"] == "note":
        assert told, case["why"]
        assert case["first_by"] is None or told[0][0] <= case["first_by"], (case["why"], told)
