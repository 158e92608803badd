"""Failure patterns: what counts as one, what does not, and that a rule that works leaves its opportunity standing."""

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula.coding.step.action import EDIT, EXECUTE, OTHER, READ, Action
from insula.coding.step.patterns import BY_ID, PATTERNS, judge_patterns
from insula.screening import screen_text

_numbers = count()


def act(kind: str, **fields: object) -> Action:
    number = next(_numbers)
    given = {"tool": kind, "at": float(number), "call": f"c{number}", "result": f"r{number}", "target": "t"}
    return Action(kind=kind, **(given | fields))  # pyright: ignore[reportArgumentType]


def fails(kind: str, error: str, **fields: object) -> Action:
    return act(kind, ok=False, error=error, **fields)


def reads(number: int) -> list[Action]:
    return [act(READ, target=f"/app/{i}.py") for i in range(number)]


def runs(number: int) -> list[Action]:
    return [act(EXECUTE, target=f"make {i}") for i in range(number)]


def edits(number: int, name: str = "app.py") -> list[Action]:
    return [act(EDIT, target=name) for _ in range(number)]


REFUSED = "error: no rule to make target <quoted>"
LOST = "file does not exist: <path>"
UNKNOWN = "bash: <quoted>: command not found"
SAME = {"call": "same", "result": "same output"}

FAILED: dict[str, list[Action]] = {
    "error-loop": [fails(EXECUTE, REFUSED) for _ in range(4)],
    "repeated-action": [*runs(6), *(act(EXECUTE, **SAME) for _ in range(3))],
    "reread": [*reads(3), *(act(READ, target="/app/a.py", **SAME) for _ in range(3))],
    "stale-edit": [fails(EDIT, "string not found"), fails(EDIT, "no match"), *edits(1)],
    "missing-path": [*reads(6), fails(READ, LOST), fails(EXECUTE, "cat: <path>: no such file or directory")],
    "blind-edits": [*edits(6), fails(EXECUTE, REFUSED)],
    "wrong-command": [*runs(3), fails(EXECUTE, UNKNOWN), fails(EXECUTE, UNKNOWN)],
}

MENDED: dict[str, Callable[[list[Action]], list[Action]]] = {
    "error-loop": lambda actions: actions[:1],
    "repeated-action": lambda actions: actions[:-2],
    "reread": lambda actions: actions[:-2],
    "stale-edit": lambda actions: actions[2:],
    "missing-path": lambda actions: actions[:-2],
    "blind-edits": lambda actions: [*actions[:3], *runs(1), *actions[3:6], *runs(1)],
    "wrong-command": lambda actions: actions[:-2],
}
"""The same sessions where the rule did what it is for."""


@pytest.mark.parametrize("name", BY_ID)
def test_the_failure_is_seen(name: str) -> None:
    assert judge_patterns([FAILED[name]])[name] is True


@pytest.mark.parametrize("name", BY_ID)
def test_a_rule_that_works_does_not_remove_its_own_opportunity(name: str) -> None:
    assert judge_patterns([MENDED[name](FAILED[name])])[name] is False


@pytest.mark.parametrize("name", BY_ID)
def test_a_session_without_opportunity_says_nothing(name: str) -> None:
    assert judge_patterns([[]]) == {}
    assert name not in judge_patterns([[act(OTHER), act(OTHER)]])


def test_similar_errors_are_a_loop_though_something_went_well_between() -> None:
    looked = [action for _ in range(4) for action in (fails(EXECUTE, REFUSED), *edits(1))]
    assert judge_patterns([looked])["error-loop"]


@pytest.mark.parametrize(
    "session",
    [
        [fails(EXECUTE, REFUSED) for _ in range(3)],
        [fails(EXECUTE, error) for error in (REFUSED, LOST, "assertion failed", "permission denied", "timeout")],
        [action for _ in range(4) for action in (fails(EXECUTE, REFUSED), *runs(3))],
    ],
    ids=["three", "each another", "calm between"],
)
def test_what_is_no_loop_of_errors(session: list[Action]) -> None:
    assert judge_patterns([session])["error-loop"] is False


@pytest.mark.parametrize(
    "again",
    [
        [act(EXECUTE, **SAME, waits=True) for _ in range(5)],
        [act(EXECUTE, call="same", result=f"progress {i}") for i in range(5)],
        [act(EXECUTE, call="same", result="") for _ in range(5)],
        [action for _ in range(5) for action in (act(EXECUTE, **SAME), *edits(1))],
        [action for _ in range(5) for action in (act(EXECUTE, **SAME), *runs(12))],
    ],
    ids=["a poll", "new output", "no output", "an edit between", "far apart"],
)
def test_what_is_no_repetition(again: list[Action]) -> None:
    assert judge_patterns([[*runs(6), *again]])["repeated-action"] is False


def test_a_file_may_be_read_again_after_it_was_changed_or_in_another_place() -> None:
    one = act(READ, target="/app/a.py", **SAME)
    assert not judge_patterns([[*reads(3), one, one, act(EDIT, target="/app/a.py"), one]])["reread"]
    assert judge_patterns([[*reads(3), one, one, act(EDIT, target="/app/b.py"), one]])["reread"]
    parts = [act(READ, target="/app/a.py", call=f"lines {i}", result=f"part {i}") for i in range(9)]
    assert not judge_patterns([[*reads(3), *parts]])["reread"]


def test_prose_may_be_edited_without_running_anything() -> None:
    assert "blind-edits" not in judge_patterns([[*edits(9, "README.md"), fails(EXECUTE, REFUSED)]])


def test_edits_that_were_right_were_not_blind() -> None:
    assert judge_patterns([[*edits(9), *runs(1), fails(EXECUTE, REFUSED)]])["blind-edits"] is False


def test_a_command_that_says_not_found_of_a_test_is_no_missing_path() -> None:
    said = [fails(EXECUTE, "fixture <quoted> not found"), fails(EXECUTE, "relation <quoted> does not exist")]
    assert judge_patterns([[*reads(6), *said]])["missing-path"] is False


def test_a_tool_that_the_host_cannot_start_is_no_missing_path() -> None:
    said = [fails(READ, "enoent: no such file or directory, posix_spawn <quoted>")] * 3
    assert judge_patterns([[*reads(6), *said]])["missing-path"] is False


def test_agents_are_looked_at_one_by_one() -> None:
    loop = FAILED["error-loop"]
    assert judge_patterns([loop[:2], loop[2:]])["error-loop"] is False
    assert judge_patterns([reads(9), loop])["error-loop"] is True


def test_advice_is_short_distinct_and_passes_our_own_screening() -> None:
    texts = [pattern.advice for pattern in PATTERNS]
    assert len(set(texts)) == len(texts) == len(BY_ID)
    for text in texts:
        assert len(text) <= 160
        assert screen_text(text, 200) == (text, ())


actions = st.lists(
    st.builds(
        act,
        st.sampled_from([READ, EDIT, EXECUTE, OTHER]),
        ok=st.booleans(),
        call=st.sampled_from("abcdefgh"),
        result=st.sampled_from(["", "x", "y"]),
        target=st.sampled_from(["", "/a.py", "/b.py", "/c.md", "/d.py"]),
        error=st.sampled_from(["", REFUSED, LOST, UNKNOWN]),
        waits=st.booleans(),
    ),
    max_size=60,
)


@given(actions)
def test_more_of_the_same_session_never_takes_an_opportunity_or_a_failure_away(session: list[Action]) -> None:
    half = judge_patterns([session[: len(session) // 2]])
    whole = judge_patterns([session])
    assert half.keys() <= whole.keys()
    assert all(whole[name] for name, happened in half.items() if happened)


@given(actions)
def test_repetition_alone_makes_no_opportunity(session: list[Action]) -> None:
    for name in ("repeated-action", "reread"):
        assert (name in judge_patterns([session])) == (name in judge_patterns([[*session, *session]]))


def test_a_session_that_is_twice_as_long_takes_twice_as_long_to_look_at() -> None:
    # Few failures again and again: thousands of different ones leave the processor's cache, which took 3.1 times.
    failing = [fails(EXECUTE, f"{REFUSED} {chr(97 + i % 7)} word{i % 3}") for i in range(21)] * 100
    session = [*failing[:2_000], *reads(500) * 4]
    assert growth(lambda size: judge_patterns([session[2_000 - size // 2 : 2_000 + size // 2]]), int, 4_000) <= LINEAR
