"""The ladder from payload to text: what is said when, how often, and whether it was heeded."""

import json

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from steps import follow, said

from insula.coding.step.action import Action
from insula.coding.step.proprioception import fold_trace, hear_user, sense_action
from insula.coding.step.senses import EVERY
from insula.coding.step.state import State, dump_state, load_state
from insula.coding.step.wording import LONGEST, SIGN

FAIL = ("deploy now", "!deploy: *** no rule to make target 'all'")


def good(count: int) -> list[tuple[str, str]]:
    return [(f"echo {number}", f"a result of its own, number {number}") for number in range(count)]


def test_the_ladder_is_climbed_rung_by_rung_and_then_ends() -> None:
    outcomes = follow([FAIL] * 24)
    assert {number + 1: sensed.rung for number, sensed in enumerate(outcomes) if sensed.rung} == {
        2: 1,
        4: 2,
        7: 3,
        10: 4,
    }
    assert said(outcomes) == snapshot(
        [
            "[insula] `deploy now` failed in 2 turns in a row with the same words. What the attempts have in common may say more than the next variation will.",
            "[insula] `deploy now` has failed in 4 turns with the same error. State the assumption you are working on. What would falsify it? Check that before the next try.",
            "[insula] `deploy now` has failed in 7 turns with the same error. The premise that these tries share is still untested. Step back, and settle it with one small check before you try again; then take a different way.",
            "[insula] `deploy now` has failed in 10 turns with the same error. The user may know what is missing: tell them what you tried, what is settled, and what is open.",
        ]
    )


def test_no_sentence_is_said_twice_in_a_session() -> None:
    troubles = [[(f"deploy {name}", f"!{name}: this went wrong in a way of its own")] * 12 for name in "abcdefgh"]
    texts = said(follow([*(step for trouble in troubles for step in [*trouble, *good(4)])]))
    sentences = [sentence for text in texts for sentence in text.removeprefix(SIGN).split(". ")]
    assert len(sentences) > 20
    assert len(sentences) == len(set(sentences))


def test_every_text_is_short_and_none_may_be_ignored() -> None:
    for text in said(follow([FAIL] * 14)) + said(follow([("ls", "the same listing as before")] * 14)):
        assert text.startswith(SIGN)
        assert len(text) < LONGEST
        assert "ignore" not in text.lower()


def test_healthy_work_adds_not_one_character() -> None:
    assert not said(follow([*good(12), FAIL, *good(11)], state=hear_user(State(), 1_000.0)))


def test_a_trouble_has_a_ladder_of_its_own() -> None:
    other = ("publish now", "!publish: it is not the same at all")
    outcomes = follow([*[FAIL] * 5, *good(3), *[other] * 3])
    assert [sensed.rung for sensed in outcomes if sensed.rung] == [1, 2, 1]


def test_a_message_of_the_user_s_closes_nothing() -> None:
    state = hear_user(follow([FAIL] * 4)[-1].state, 5_000.0, "still broken, try again")
    assert [sensed.rung for sensed in follow([FAIL] * 6, state=state) if sensed.rung] == [3, 4]


def test_a_text_that_was_heeded_is_known_to_be() -> None:
    outcomes = follow([FAIL, FAIL, *good(5)])
    assert [sensed.heeded for sensed in outcomes if sensed.heeded is not None] == [True]


def test_a_text_that_was_not_heeded_is_known_to_be() -> None:
    outcomes = follow([FAIL, FAIL, FAIL])
    assert outcomes[-1].heeded is False


def test_what_became_of_a_trouble_is_told_when_it_ends() -> None:
    outcomes = follow([*[FAIL] * 4, *good(2), ("deploy now", "deployed to all of them")])
    (ended,) = outcomes[-1].ended
    assert (ended.turns, ended.seconds) == (5, 5.0)


def test_an_action_that_comes_twice_counts_once() -> None:
    action = Action(tool="Bash", kind="execute", at=1.0, call="a", ok=False, error="boom", result="r", id="one")
    state = sense_action(State(), action, EVERY).state
    again = sense_action(state, action, EVERY)
    assert again.state == state
    assert not again.readings


actions = st.builds(
    Action,
    tool=st.sampled_from(["Bash", "Read", "Edit"]),
    kind=st.sampled_from(["execute", "read", "edit", "other"]),
    call=st.sampled_from("abcd"),
    ok=st.booleans(),
    error=st.sampled_from(["boom one", "boom two", "else"]),
    result=st.sampled_from(["", "r1", "r2"]),
    at=st.floats(0, 1e6),
    id=st.text(max_size=2),
    chars=st.integers(0, 50_000),
)


@given(st.lists(actions, max_size=60))
def test_whatever_happens_at_most_one_text_follows_an_action(done: list[Action]) -> None:
    state = State()
    for action in done:
        sensed = sense_action(state, action, EVERY)
        state = sensed.state
        assert len(sensed.text) < LONGEST
        assert 0 <= sensed.rung <= 4
        assert len(state.window) <= 20
        assert bool(sensed.text) == bool(sensed.sense)
        assert len(json.dumps(dump_state(state))) < 40_000


@given(st.lists(actions, max_size=40), st.integers(0, 40))
def test_a_checkpoint_changes_nothing(done: list[Action], cut: int) -> None:
    records = [{"v": 1, "e": "action", **action.as_dict()} for action in done]
    whole, outcomes = fold_trace(None, records, EVERY)
    half, first = fold_trace(None, records[:cut], EVERY)
    rest, second = fold_trace(load_state(dump_state(half)), records[cut:], EVERY)
    assert rest == whole
    assert [each.text for each in (*first, *second)] == [each.text for each in outcomes]


def test_records_that_are_none_are_passed_over() -> None:
    state, outcomes = fold_trace(None, [{"v": 1, "e": "action", "odd": 1}, {"v": 1, "e": "new kind"}, {"v": 1}])
    assert state == State()
    assert not outcomes
