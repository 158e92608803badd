"""A session looked back at: what went wrong, what would have been said, what it cost."""

from pathlib import Path

import pytest
from transcripts import Session, look, write

from insula.coding.replay import look as looking
from insula.coding.replay.model import Replayed

PAGE = "def load(path):\n    return open(path).read()\n" * 20


def replayed(session: Session, folder: Path) -> Replayed:
    (found,) = look(session.written(folder)).sessions
    return found


def test_a_moment_lasts_from_the_first_call_of_the_row_that_is_felt_to_the_next_progress(tmp_path: Path) -> None:
    session = replayed(Session().says("Go.").works(4).fails(6).works(5), tmp_path)
    (moment,) = session.moments
    assert (moment.first, moment.last) == (5, 10)  # the third is felt, and counts the two before it
    assert (moment.count, moment.rung, moment.open) == (6, 2, False)
    assert moment.seconds == 10.0
    assert moment.tokens == sum(point.tokens for point in session.points[4:10])
    assert moment.what == "Bash cat missing-0.txt"
    assert (moment.session, moment.project, moment.host) == ("s", "project", "claude-code")


def test_one_success_between_failures_is_no_progress(tmp_path: Path) -> None:
    (moment,) = replayed(Session().says("Go.").fails(4).works(1).fails(3).works(3), tmp_path).moments
    assert (moment.first, moment.last) == (1, 8)


def test_a_word_of_the_users_ends_a_moment(tmp_path: Path) -> None:
    session = replayed(Session().says("Go.").fails(4).says("Use the other file.").fails(3), tmp_path)
    assert len(session.moments) == 2
    assert session.user_steps == [1, 5]


def test_a_row_that_reaches_back_into_a_moment_goes_on_with_it(tmp_path: Path) -> None:
    session = Session().says("Go.")
    for _ in range(4):
        session.calls("Bash", "Exit code 2\nError: 3 tests failed", error=True, command="make test").works(3)
    (moment,) = replayed(session, tmp_path).moments
    assert (moment.first, moment.last, moment.count, moment.what) == (1, 13, 4, "Bash make test")


def test_a_circle_begins_with_its_first_round(tmp_path: Path) -> None:
    session = Session().says("Go.").works(3)
    for _ in range(3):
        for name in ("one", "two"):
            session.calls("Read", f"the content of file {name}, as long as it has to be", file_path=f"{name}.py")
    (moment,) = replayed(session, tmp_path).moments
    assert (moment.first, moment.last, moment.what) == (4, 9, "Read one.py")


def test_no_share_is_more_than_all_of_it(tmp_path: Path) -> None:
    session = Session().says("Go.").fails(6)
    session.rows[1]["message"] |= {"id": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}
    totals = look(session.written(tmp_path)).totals
    assert totals.tokens == 2


def test_a_session_may_end_in_the_middle_of_one(tmp_path: Path) -> None:
    (moment,) = replayed(Session().says("Go.").works(2).fails(4), tmp_path).moments
    assert moment.open


def test_texts_and_readings_stand_at_the_actions_they_come_after(tmp_path: Path) -> None:
    session = replayed(Session().says("Go.").fails(5), tmp_path)
    assert [(point.step, point.sense, point.rung) for point in session.points if point.sense] == [
        (3, "nociception", 1),
        (4, "nociception", 0),
        (5, "nociception", 2),
    ]
    assert session.points[2].said.startswith("[insula] 3 turns in a row ended in similar errors.")
    assert (session.readings, session.rungs) == ({"nociception": 3}, {1: 1, 2: 1})


def test_tokens_are_those_that_the_host_counts(tmp_path: Path) -> None:
    session = Session().says("Go.")
    for number in range(3):
        session.works(1)
        usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 5_000}
        session.rows[-2]["message"] |= {"id": f"m{number}", "usage": usage}
    assert replayed(session, tmp_path).tokens == 360


def test_what_the_user_refused_is_no_failure_of_the_agents(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    session = Session().says("Go.")
    for _ in range(5):
        session.calls("Bash", refusal, error=True, command="rm -r build")
    found = replayed(session, tmp_path)
    assert (found.errors, found.moments) == (5, [])


def test_a_run_without_a_clock_has_no_times(tmp_path: Path) -> None:
    step = {"thought": "", "tool": "bash", "action": "cat x", "obs": "cat: x: No such file or directory", "rc": 1}
    path = write(tmp_path / "set.jsonl", {"id": "one", "set": "tbench_mini", "steps": [step] * 5})
    gathered = look(path)
    (session,) = gathered.sessions
    assert (session.host, session.id, session.errors, session.began) == ("trajectory", "one", 5, 0.0)
    assert {point.at for point in session.points} == {0.0}
    assert session.moments[0].seconds == 0.0
    assert not gathered.scores  # nobody's sessions: no rule is founded on them


def test_a_timeline_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "POINTS", 10)
    session = replayed(Session().says("Go.").works(15), tmp_path)
    assert len(session.points) == 10
    assert session.tool_uses == 15
    assert session.skipped[looking.BEYOND] == 5


def test_secrets_and_home_made_names_stay_out(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    session = Session().says("Go.")
    for _ in range(3):
        session.calls("Bash", f"Exit code 1\nbad token {secret}", error=True, command=f"push --token {secret}")
    found = replayed(session, tmp_path)
    assert secret not in repr(found)
