"""The unit is the model's turn: calls at once are one thing that happened, however the host tells of it."""

from pathlib import Path
from typing import Any

import pytest
from sessions import Session, edits, failed, fails, reads, runs, went

from insula.coding.step.senses import EVERY

MISSING = "File does not exist. Note: your current working directory is /home/dev/project."


@pytest.fixture(autouse=True)
def _all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSULA_HOLDOUT", "off")


@pytest.fixture(params=[True, False], ids=["batches", "no batches"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    return Session(tmp_path, batches=request.param, on=EVERY)


def misses(number: int) -> dict[str, Any]:
    return failed("Read", {"file_path": f"/home/dev/project/{number}.py"}, MISSING, 0.003)


def test_ten_parallel_failures_are_one_turn(session: Session) -> None:
    assert session.act(*(misses(number) for number in range(10))) == []


def test_what_the_next_turn_corrects_is_not_told(session: Session) -> None:
    session.act(*(misses(number) for number in range(10)))
    session.act(runs("find . -name '*.py'", "a.py\nb.py"))
    session.act(*(reads(f"/home/dev/project/{name}.py") for name in "abcd"))
    assert session.said == []


def test_turns_that_all_fail_alike_are_told_once_each_and_begin_at_the_first_rung(session: Session) -> None:
    session.follow([tuple(misses(10 * turn + number) for number in range(5)) for turn in range(4)])
    assert [turn for turn, _ in session.texts] == [3]
    assert "3 turns in a row ended in similar errors" in session.said[0]


def test_a_batch_of_four_refused_edits_says_nothing_and_three_of_them_begin_at_the_first_rung(tmp_path: Path) -> None:
    session = Session(tmp_path, on=EVERY)
    error = "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>"

    def batch(turn: int) -> dict[str, Any]:
        calls = [
            {"tool_name": "Edit", "tool_use_id": f"{turn}-{n}", "tool_response": error}
            | {"tool_input": {"file_path": f"/home/dev/{n}.py", "old_string": f"x{turn}", "new_string": "y"}}
            for n in range(4)
        ]
        return {"hook_event_name": "PostToolBatch", "tool_calls": calls}

    texts = [session.tell(batch(turn), 20) for turn in range(3)]
    assert [bool(text) for text in texts] == [False, False, True]
    assert "State the assumption" not in texts[2]


def test_a_batch_that_comes_twice_or_before_its_calls_changes_nothing(tmp_path: Path) -> None:
    session = Session(tmp_path, on=EVERY)
    for turn in range(2):
        calls = [misses(10 * turn + number) | {"tool_use_id": f"t{turn}-{number}"} for number in range(4)]
        batch = {
            "hook_event_name": "PostToolBatch",
            "tool_calls": [call | {"tool_response": MISSING} for call in calls],
        }
        assert [session.tell(event, 0.5) for event in (calls[0], batch, *calls[1:], batch)] == [""] * 6


def test_slow_calls_at_once_are_one_turn_without_a_batch(tmp_path: Path) -> None:
    session = Session(tmp_path, batches=False, on=EVERY)
    for number in range(6):  # all of them began together, and each took ten seconds longer than the one before
        text = session.tell(
            fails(f"./slow {number}", "no such host", seconds=10.0 * (number + 1)) | {"tool_use_id": f"t{number}"}, 10
        )
        assert not text


def test_the_transcript_s_message_tells_a_turn(tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    session = Session(tmp_path, batches=False, on=EVERY)
    ids = [f"toolu_{number}" for number in range(8)]
    transcript.write_text(
        "".join(
            f'{{"type":"assistant","message":{{"id":"msg_1","content":[{{"type":"tool_use","id":"{name}"}}]}}}}\n'
            for name in ids
        )
    )
    texts = [session.tell(misses(n) | {"tool_use_id": ids[n], "transcript_path": str(transcript)}, 9) for n in range(8)]
    assert not any(texts)


@pytest.mark.parametrize("content", ["", "{", "\x00" * 4_000, '{"type":"assistant","message":{"id":7}}\n' * 50])
def test_a_transcript_that_tells_nothing_is_no_harm(tmp_path: Path, content: str) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(content)
    session = Session(tmp_path, batches=False, on=EVERY)
    for number in range(4):
        session.tell(fails("deploy") | {"tool_use_id": f"t{number}", "transcript_path": str(transcript)}, 30)
    assert len(session.said) == 2


def test_a_clock_that_jumps_splits_and_joins_no_more_than_one_turn(tmp_path: Path) -> None:
    session = Session(tmp_path, batches=False, on=EVERY)
    for number, jump in enumerate((30, -7_200, 30, 86_400, -86_400, 30)):
        session.tell(fails("deploy", "it went wrong") | {"tool_use_id": f"t{number}"}, jump)
    assert [text.count("failed in") for text in session.said] == [1, 1]


def test_one_turn_has_one_text_whatever_is_felt(tmp_path: Path) -> None:
    session = Session(tmp_path, on=EVERY)
    session.prompt("fix it, but don't commit")
    session.follow([edits(), fails("deploy")] * 2)
    texts = session.act(
        fails("deploy"), runs("git stash", "Saved working directory"), runs("git commit -am x", "[main]")
    )
    assert len(texts) == 1


def test_a_turn_with_something_that_went_well_is_no_row(session: Session) -> None:
    session.follow([(misses(turn), reads(f"/home/dev/project/f{turn}.py", f"{turn}" * 60)) for turn in range(6)])
    assert session.said == []


def test_gemini_and_codex_tell_turns_by_their_times(tmp_path: Path) -> None:
    session = Session(tmp_path, host="codex", batches=False, on=EVERY)

    def did(number: int) -> dict[str, Any]:
        missing = f"cat: f{number}: No such file or directory\n"
        return went("Bash", {"command": f"cat f{number}"}, missing) | {"tool_use_id": f"c{number}", "turn_id": "one"}

    assert not any(session.tell(did(number), 0.02) for number in range(10))
    assert [bool(session.tell(did(20 + number), 5)) for number in range(2)] == [False, True]
