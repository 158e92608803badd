"""What each sense feels, and what it does not: the micro-cases of other detectors among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import Step, follow, said, senses

from insula.coding.step.action import Action
from insula.coding.step.proprioception import Sensed, forget_context, hear_user, sense_action
from insula.coding.step.senses import EVERY, chronos, nociception, o2, spatial, vestibular
from insula.coding.step.state import Carry, State
from insula.coding.step.turn import ModelTurn

CHRONOS, NOCICEPTION, O2 = chronos.NAME, nociception.NAME, o2.NAME
SPATIAL, VESTIBULAR = spatial.NAME, vestibular.NAME

LONG = "a line of output that is long enough to tell something\n"


def calls(count: int, tool: str = "Bash") -> list[Step]:
    return [(f"step {number}", f"{LONG}{number}", tool) for number in range(count)]


# Nociception.


def test_two_equal_errors_are_felt() -> None:
    outcomes = follow([("deploy now", "!boom: no rule"), ("deploy now", "!boom: no rule")])
    assert [len(sensed.readings) for sensed in outcomes] == [0, 1]
    assert senses(outcomes) == {NOCICEPTION}


def test_three_errors_of_a_kind_are_felt_and_two_are_not() -> None:
    errors = [(f"cat {name}", f"!cat: {name}: No such file or directory") for name in "abc"]
    assert senses(follow(errors[:2])) == set()
    assert senses(follow(errors)) == {NOCICEPTION}


def test_different_errors_are_no_row() -> None:
    errors = [("a", "!KeyError: 'x'"), ("b", "!fatal: not a git repository"), ("c", "!Killed"), ("d", "!no space left")]
    assert not senses(follow(errors))


FAIL: Step = ("pytest", "!1 failed: assert 1 == 2")


@pytest.mark.parametrize(
    "between",
    [
        [("/a.py", "done", "Edit")],
        [("/a.py", LONG, "Read"), ("/a.py", "done", "Edit")],
        [("/a.py", "done", "Edit"), ("git diff --stat", LONG)],
    ],
)
def test_fixes_that_change_nothing_do_not_end_the_row(between: list[Step]) -> None:
    outcomes = follow([*[FAIL, *between] * 4, FAIL])
    assert [sensed.rung for sensed in outcomes if sensed.rung] == [1, 2]
    assert said(outcomes)[0].startswith("[insula] `pytest` has failed in 3 turns with the same error; the two changes")


def test_red_fix_red_is_how_tests_are_made_to_pass() -> None:
    edit = ("/a.py", "done", "Edit")
    assert not senses(follow([FAIL, edit, FAIL, edit, ("pytest", "2 passed in 0.1 s, all is well")]))


def test_a_failure_whose_status_a_pipe_swallowed_is_one() -> None:
    lost, edit = ("pytest | tail -5", "1 failed, 3 passed in 0.1 s"), ("/a.py", "done", "Edit")
    assert senses(follow([lost, edit, lost, edit, lost])) == {NOCICEPTION}


def test_an_edit_that_changes_the_error_ends_the_row() -> None:
    edit = ("/a.py", "done", "Edit")
    first, second = ("pytest", "!1 failed: KeyError in parse"), ("pytest", "!3 failed: timeout while connecting")
    assert not senses(follow([first, edit, second]))


def test_a_call_that_went_well_once_ends_the_row() -> None:
    fail = ("make", "!boom: no rule")
    assert not senses(follow([fail, ("make", "built the whole thing"), fail]))


@pytest.mark.parametrize(
    "refusal", ["!The user doesn't want to proceed with this tool use.", "!Sibling tool call errored"]
)
def test_what_the_user_refused_is_no_error_of_the_agent(refusal: str) -> None:
    assert not senses(follow([("/a", refusal, "Edit")] * 6))


# Vestibular.


def test_the_same_call_with_the_same_result_three_times_is_felt() -> None:
    outcomes = follow([("ls -la", LONG)] * 3)
    assert [len(sensed.readings) for sensed in outcomes] == [0, 0, 1]
    assert senses(outcomes) == {VESTIBULAR}


def test_a_clock_time_in_the_output_hides_no_loop() -> None:
    assert senses(follow([("date; ls", f"2026-11-20T09:15:{n:02}Z {LONG}") for n in range(3)])) == {VESTIBULAR}


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_cycle_is_felt_in_its_second_round(period: int) -> None:
    one_round = [(f"look {n}", f"{LONG}{n}") for n in range(period)]
    assert not senses(follow(one_round * 2)[:-1])
    assert senses(follow(one_round * 2)) == {VESTIBULAR}


def test_the_third_read_of_an_unchanged_file_is_felt() -> None:
    read, other = ("/a.py", LONG, "Read"), [(f"/b{n}.py", f"{LONG}{n}", "Read") for n in range(4)]
    outcomes = follow([read, *other[:2], read, *other[2:], read])
    assert outcomes[-1].readings[0].form == "reread"
    assert "read the same unchanged file 3 times" in outcomes[-1].text


def test_equal_short_results_of_different_calls_are_ordinary() -> None:
    assert not senses(follow([(f"pytest -q tests/test_{name}.py", "1 passed in 0.02s") for name in "abcd"]))
    assert not senses(follow([(f"ruff check {name}.py", "All checks passed!") for name in "abcd"]))


def test_what_came_of_a_call_is_not_known_from_a_word() -> None:
    assert not senses(follow([("/x", "ok", "mcp__browser__press_key")] * 6))


def test_a_search_may_be_made_again_after_each_edit() -> None:
    search, edit = ("/src", LONG, "Grep"), ("/a.py", "done", "Edit")
    assert not senses(follow([search, edit, search, edit, search]))


@pytest.mark.parametrize("tool", ["mcp__ci__get_run_status", "write_stdin", "BashOutput"])
def test_a_tool_that_asks_how_something_stands_may_be_repeated(tool: str) -> None:
    assert not senses(follow([("x", LONG, tool)] * 6))


@pytest.mark.parametrize("command", ["cat src/status.py", "make  # wait for it", "python wait.py"])
def test_a_word_in_a_path_is_no_waiting(command: str) -> None:
    assert senses(follow([(command, LONG)] * 4)) == {VESTIBULAR}


def test_silent_failures_of_different_commands_are_no_row() -> None:
    assert not senses(follow([("make a", "!Exit code 1"), ("./b", "!Exit code 1"), ("c x", "!Exit code 1")]))


def test_other_exceptions_are_other_errors() -> None:
    errors = [
        f"!Traceback (most recent call last):\n  x\n{name}: bad thing in here" for name in ("TypeError", "KeyError")
    ]
    assert not senses(follow([("python a.py", errors[0]), ("python a.py", errors[1]), ("python a.py", errors[0])]))


def test_reading_a_file_again_after_an_edit_is_fine() -> None:
    read, edit = ("/a.py", LONG, "Read"), ("/a.py", "done", "Edit")
    assert not senses(follow([read, edit, read, edit, read]))


def test_reading_a_file_again_after_the_context_was_compacted_is_fine() -> None:
    read = ("/a.py", LONG, "Read")
    state = forget_context(follow([read, ("x", "1"), read])[-1].state)
    assert not senses(follow([read], state=state))


def test_other_calls_with_the_same_good_result_are_no_loop() -> None:
    assert not senses(follow([(f"SELECT {n}", LONG) for n in range(6)]))


@pytest.mark.parametrize("command", ["sleep 5; cat log", "kubectl get pods", "gh run view 7", "systemctl status web"])
def test_a_poll_is_no_loop(command: str) -> None:
    assert not senses(follow([(command, "still running, nothing new yet")] * 6))


def test_a_slow_repetition_is_no_loop_but_an_endless_one_is() -> None:
    assert not senses(follow([("curl http://localhost/", "not ready yet, try later")] * 6, seconds=6))
    assert senses(follow([("curl http://localhost/", "not ready yet, try later")] * 9, seconds=6)) == {VESTIBULAR}


def test_a_slow_agent_that_repeats_itself_is_not_waiting() -> None:
    outcomes = follow([*calls(6), *[("curl http://localhost/", "the very same page as before")] * 3], seconds=20)
    assert senses(outcomes) == {VESTIBULAR}


def test_an_output_that_changes_is_progress() -> None:
    assert not senses(follow([("make check", f"{n * 10} % of the tests have run") for n in range(8)]))


def test_short_answers_that_differ_are_no_loop() -> None:
    assert not senses(follow([("wc -l log", str(n)) for n in range(8)]))
    assert not senses(follow([(f"mkdir {n}", "") for n in range(8)]))


def test_distinct_reads_are_progress() -> None:
    assert not senses(follow([(f"/f{n}.py", f"{LONG}{n}", "Read") for n in range(20)]))


def test_edits_of_two_files_in_turn_are_no_cycle() -> None:
    edits: list[Step] = [(f"/{name}.py", "updated", "Edit") for _ in range(6) for name in "ab"]
    assert not senses(follow(edits))


def test_an_edit_that_is_made_and_unmade_is_a_cycle() -> None:
    assert senses(follow([("/a.py a to b", "updated", "Edit"), ("/a.py b to a", "updated", "Edit")] * 2)) == {
        VESTIBULAR
    }


# O2.


def grows(*brought: int, each: int = 1) -> list[Sensed]:
    """What is sensed while each turn, of so many calls, brings so many tokens by the host's count."""
    state, outcomes, context = State(), list[Sensed](), 5_000
    for number, tokens in enumerate(brought):
        for call in range(each):
            done = Action(tool="Read", kind="read", at=60.0 * number, call=f"{number} {call}", turn=f"turn {number}")
            outcomes.append(sense_action(state, done.replace(context=context, chars=400_000), EVERY))
            state = outcomes[-1].state
        context += tokens
    return outcomes


def test_turns_that_take_three_times_the_baseline_are_felt_once() -> None:
    outcomes = grows(*[4_000] * 11, *[15_000] * 9)
    assert [sensed.sense for sensed in outcomes if sensed.text] == [O2]
    assert "about 15k tokens" in said(outcomes)[0]


def test_calls_that_are_made_at_once_share_what_their_turn_brought() -> None:
    assert said(grows(*[4_000] * 11, *[9_000] * 9, each=6)) == []


def test_no_velocity_is_felt_before_there_is_a_baseline() -> None:
    assert said(grows(*[15_000] * 9)) == []


def test_few_tokens_are_never_fast() -> None:
    assert said(grows(*[500] * 11, *[5_000] * 9)) == []


def test_without_the_host_s_own_count_no_velocity_is_felt() -> None:
    assert not senses(follow([(f"a{n}", "x" * 400) for n in range(11)] + [(f"b{n}", "y" * 90_000) for n in range(9)]))


def test_a_compaction_is_no_rush_of_tokens() -> None:
    assert said(grows(*[4_000] * 11, -40_000, *[12_000] * 2)) == []


# Chronos.


def spoke(steps: list[Step], seconds: float, state: State) -> list[int]:
    outcomes = follow(steps, seconds, state)
    return [number + 1 for number, sensed in enumerate(outcomes) if sensed.sense == CHRONOS]


def test_chronos_speaks_after_thirty_turns_without_progress_and_fifteen_minutes_and_at_the_double() -> None:
    assert spoke(calls(130), 31, hear_user(State(), 970.0)) == [30, 60, 120]
    assert spoke(calls(130), 1, hear_user(State(), 970.0)) == []


def test_chronos_counts_from_the_user_s_last_message() -> None:
    state = follow(calls(25), 40, state=hear_user(State(), 970.0))[-1].state
    assert spoke(calls(25), 40, hear_user(state, 2_000.0)) == []


def test_one_slow_build_is_no_long_time() -> None:
    assert spoke([("make", "built the whole thing")], 1, hear_user(State(), 1_000.0 - 20 * 60)) == []


def test_while_the_work_shows_chronos_waits() -> None:
    assert spoke([*calls(20), ("/a.py", "done", "Edit"), *calls(20)], 60, hear_user(State(), 970.0)) == []


def test_without_a_user_there_is_no_chronos() -> None:
    assert CHRONOS not in senses(follow(calls(200), seconds=60))


@given(st.integers(0, 500), st.floats(0, 1e5), st.integers(0, 9))
def test_chronos_never_speaks_twice_at_a_level(turns: int, seconds: float, level: int) -> None:
    state = State(carry=Carry(user_at=1.0, level=level), turn=ModelTurn(number=turns))
    reading = chronos.feel(state, Action(tool="Read", kind="read", at=1.0 + seconds, call="c"))
    assert reading is None or min(turns / chronos.TURNS, seconds / 60 / chronos.MINUTES) >= 2**level


# Spatial.


def test_a_change_to_a_file_that_many_import_is_felt() -> None:
    edit = Action(tool="Edit", kind="edit", at=1.0, call="e", importers=7)
    outcome = sense_action(State(), edit, EVERY)
    assert (outcome.sense, outcome.rung) == (SPATIAL, 0)
    assert "7 other files import" in outcome.text
    assert not sense_action(State(), edit.replace(importers=4), EVERY).readings
