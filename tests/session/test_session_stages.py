"""How long the stages of a turn take: the middle and the slowest of the last turns, known after a restart."""

import pytest

from insula.session.stages import KEPT, StageTime, StageTimes


def test_the_middle_and_the_slowest_of_twenty_are_told_in_the_order_of_a_turn() -> None:
    times = StageTimes()
    for number in range(1, 21):
        times.note_stage("finish", number / 1_000)
    times.note_stage("recall", 0.0042)
    assert list(times.summarize().items()) == [("recall", StageTime(4.2, 4.2)), ("finish", StageTime(10.5, 19.0))]


def test_old_turns_are_forgotten() -> None:
    times = StageTimes()
    for seconds in (9.0,) * KEPT + (0.001,) * KEPT:
        times.note_stage("model", seconds)
    assert times.summarize() == {"model": StageTime(1.0, 1.0)}


def test_after_a_restart_the_times_of_before_are_told_until_there_are_new_ones() -> None:
    before, after = StageTimes(), StageTimes()
    before.note_stage("recall", 0.5)
    before.note_stage("write", 0.1)
    after.restore_state(before.dump_state())
    after.note_stage("recall", 0.002)
    assert after.summarize() == {"recall": StageTime(2.0, 2.0), "write": StageTime(100.0, 100.0)}


@pytest.mark.parametrize("state", [None, [], {"recall": 3}, {"recall": {"p50": "1", "p95": 2}}, {"naps": {"p50": 1}}])
def test_what_cannot_be_read_is_left_out(state: object) -> None:
    times = StageTimes()
    times.restore_state(state)
    assert times.summarize() == {}
