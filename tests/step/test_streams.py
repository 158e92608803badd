"""Streams of coding agents as they work: where a note is due and by which turn, and where silence is.

`streams.jsonl` has a row for each tool, language or mistake, `steps.jsonl` what somebody else wrote down.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from sessions import EVERY, PROJECT, Payload, Session, edits, failed, fails, reads, runs, went

Turn = Payload | tuple[Payload, ...] | str
"""A call, several at once, or the user's words."""


def read_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(__file__).with_name(name).read_text("utf-8").splitlines()]


STREAMS, CASES = read_rows("streams.jsonl"), read_rows("steps.jsonl")
DUE = {row["name"]: row for row in STREAMS if "at" in row or "by" in row}
SILENT = {row["name"]: row for row in STREAMS if row["name"] not in DUE}


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


def list_turns(row: dict[str, Any]) -> list[Turn]:
    """The turns of a row: a check that stays red while a file is changed, or as they stand; `times` over."""
    if "turns" in row:
        return [make_turn(turn) for turn in row["turns"]] * row.get("times", 1)
    commands = row.get("red") or row["piped"]
    turns: list[Turn] = []
    for n in range(row.get("times", 5)):
        command = commands if isinstance(commands, str) else commands[n % len(commands)]
        output = row["output"].replace("{n}", str(n + 3))
        turns.append(fails(command, output) if "red" in row else runs(command, output))  # a pipe loses the status
        turns += map(make_turn, row.get("between", ()))
        turns.append(edits(PROJECT + row.get("path", "src/a.py"), f"old {n}", f"new {n}"))
    return turns


def make_turn(turn: Any) -> Turn:
    match turn:
        case str():
            return turn
        case list():
            return tuple(map(make_call, turn))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case _:
            return make_call(turn)


def make_call(call: dict[str, Any]) -> Payload:
    seconds, output = call.get("seconds", 0.03), call.get("output", "")
    match call:
        case {"fails": command}:
            return fails(command, output, call.get("code", 1), seconds)
        case {"runs": command}:
            return runs(command, output, seconds)
        case {"edits": path}:
            return edits(PROJECT + path.removeprefix(PROJECT), call["old"], call["new"])
        case {"reads": path}:
            return reads(path if path.startswith("/") else PROJECT + path, call["content"])
        case {"failed": tool}:
            return failed(tool, call["input"], output, seconds)
        case _:
            return went(call["went"], call["input"], output, seconds)


def follow(session: Session, turns: Iterable[Turn], seconds: float) -> list[tuple[int, str]]:
    """Every text of a stream, with the place of the turn that it followed."""
    told: list[tuple[int, str]] = []
    for place, turn in enumerate(turns, 1):
        before = len(session.texts)
        if turn == "/compact":
            session.tell({"hook_event_name": "SessionStart", "source": "compact"}, 5)
        elif isinstance(turn, str):
            session.prompt(turn)
        else:
            session.act(*(turn if isinstance(turn, tuple) else (turn,)), seconds=seconds)
        told += [(place, text) for _, text in session.texts[before:]]
    return told


@pytest.mark.parametrize("name", DUE)
def test_what_goes_wrong_alike_is_told_in_time_and_not_at_once(tmp_path: Path, name: str) -> None:
    row = DUE[name]
    told = follow(Session(tmp_path, on=EVERY), list_turns(row), row.get("seconds", 40.0))
    assert told, "nothing"
    assert told[0][0] == row["at"] if "at" in row else 1 < told[0][0] <= row["by"], told
    assert len(told) <= row.get("most", 9)
    assert row.get("says", "") in told[0][1]


@pytest.mark.parametrize("name", SILENT)
def test_what_only_looks_like_trouble_is_met_with_silence(tmp_path: Path, name: str) -> None:
    row = SILENT[name]
    assert follow(Session(tmp_path, on=EVERY), list_turns(row), row.get("seconds", 40.0)) == []


# What somebody else wrote down.


def play(home: Path, case: dict[str, Any], batches: bool, on: Collection[str]) -> list[tuple[int, str]]:
    """The texts of a stream, each with the place of the call that it followed."""
    session = Session(home, case["id"], batches=batches, on=on, cwd=case["cwd"])
    told: list[tuple[int, str]] = []
    place = 0
    for turn in join_calls(case["calls"]):
        first, texts = turn[0], list[str]()
        seconds = max(first.get("dt") or 0, first.get("seconds", 0) + 1)
        if "user" in first:
            texts = [session.prompt(first["user"])]
        elif "stop" in first:
            texts = [session.stop(first.get("text", ""))]
        elif "event" in first:
            texts = [session.tell({"hook_event_name": "SessionStart", "source": first["event"]}, 5)]
        else:
            texts = session.act(*map(call_of, turn), seconds=seconds)
        place += len(turn)
        told += [(place - 1, text) for text in texts if text]
    return told


def join_calls(calls: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Calls by the turn that they were made in."""
    turns: list[list[dict[str, Any]]] = []
    for call in calls:
        if turns and "tool" in call and "tool" in turns[-1][0] and call["turn"] == turns[-1][0]["turn"]:
            turns[-1].append(call)
        else:
            turns.append([call])
    return turns


def call_of(call: dict[str, Any]) -> Payload:
    if call["ok"]:
        output = {"stdout": call["output"], "stderr": ""} if call["tool"] == "Bash" else call["output"]
        return went(call["tool"], call["input"], output, call.get("seconds", 0.1))
    return failed(call["tool"], call["input"], call["output"], call.get("seconds", 0.1))


@pytest.mark.parametrize(
    ("on", "batches"), [((), True), (EVERY, False)], ids=["default, in batches", "all on, one by one"]
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
def test_a_note_comes_in_time_and_where_none_is_due_there_is_silence(
    tmp_path: Path, case: dict[str, Any], batches: bool, on: Collection[str]
) -> None:
    told = play(tmp_path, case, batches, on)
    most = case.get("max_texts")
    assert most is None or len(told) <= most, (case["why"], told)
    if case["expect"] == "note":
        assert told, case["why"]
        assert case["first_by"] is None or told[0][0] <= case["first_by"], (case["why"], told)
