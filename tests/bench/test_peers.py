import pytest

from insula.coding.replay.readers import TranscriptCall, UserPrompt
from insula_bench.cases import cases
from insula_bench.peers import Verdict, hermes, openhands

CASES = {case.name: case.calls for case in cases()}


def bash(command: str = "make", output: str = "done", *, ok: bool | None = True, thought: str = "") -> TranscriptCall:
    return TranscriptCall("Bash", {"command": command}, output, 0.0, ok=ok, thought=thought)


def read(path: str = "a.py", output: str = "a = 1") -> TranscriptCall:
    return TranscriptCall("Read", {"file_path": path}, output, 0.0, ok=True)


def refused(path: str = "a.py") -> TranscriptCall:
    return TranscriptCall("Read", {"file_path": path}, "File does not exist.", 0.0, ok=False, refused=True)


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("identical call and output", 4),
        ("the same, thought reworded", None),
        ("the same, a clock in the output", None),
        ("different edits, the same failing output", None),
        ("A B A B", 6),
        ("A B C A B C", None),
        ("identical tool errors", 4),
        ("tool errors, arguments vary", None),
        ("exit status 2, thought reworded", None),
        ("a legitimate poll", 4),
        ("distinct reads", None),
    ],
)
def test_openhands_does_on_the_micro_cases_what_its_own_class_does(name: str, stops: int | None) -> None:
    assert openhands(CASES[name]).stops == stops


def test_openhands_nudges_at_the_third_refusal_and_stops_at_the_fourth() -> None:
    assert openhands([refused()] * 3) == Verdict(3, None)
    assert openhands([refused()] * 4) == Verdict(3, 4)


def test_openhands_forgets_what_was_before_the_user_spoke() -> None:
    assert openhands([bash()] * 3 + [UserPrompt(0.0)] + [bash()] * 3) == Verdict()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("identical call and output", Verdict(2, 6)),
        ("the same, a clock in the output", Verdict(2, 6)),
        ("different edits, the same failing output", Verdict(3, 8)),
        ("A B A B", Verdict(4, 12)),
        ("A B C A B C", Verdict(6, None)),
        ("tool errors, arguments vary", Verdict(3, 8)),
        ("a legitimate poll", Verdict()),
        ("distinct reads", Verdict()),
    ],
)
def test_hermes_does_on_the_micro_cases_what_its_own_class_does(name: str, expected: Verdict) -> None:
    assert hermes(CASES[name]) == expected


def test_hermes_takes_no_text_of_a_shell_for_a_failure() -> None:
    assert hermes([bash(output="Error: no", ok=None)] * 9) == Verdict()


def test_hermes_counts_anew_for_each_turn() -> None:
    assert hermes([bash(ok=False), UserPrompt(0.0), bash(ok=False)]) == Verdict()


def test_hermes_main_notices_identical_calls_of_any_tool_and_cycles() -> None:
    assert hermes([bash()] * 5, main=True) == Verdict(3, 5)
    assert hermes([bash("a"), bash("b")] * 5, main=True) == Verdict(6, 10)


def test_hermes_main_takes_a_retry_after_an_edit_for_a_new_experiment() -> None:
    edited = TranscriptCall("Edit", {"file_path": "a.py"}, "updated", 0.0, ok=True)
    assert hermes([bash(ok=False), edited, bash(ok=False)]) == Verdict(3)
    assert hermes([bash(ok=False), edited, bash(ok=False)], main=True) == Verdict()


def test_hermes_main_does_not_halt_on_different_red_commands() -> None:
    assert hermes([bash(str(i), ok=False) for i in range(9)]) == Verdict(3, 8)
    assert hermes([bash(str(i), ok=False) for i in range(9)], main=True) == Verdict(3)


def test_two_reads_of_one_file_make_hermes_warn() -> None:
    assert hermes([read(), read("b.py", "b = 2"), read()]) == Verdict(3)
