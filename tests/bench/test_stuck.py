"""`insula bench stuck`: runs judged by what fired, beside the rules of others."""

import json
from pathlib import Path
from typing import Any

import pytest

from insula.coding.replay.readers import TranscriptCall, UserPrompt
from insula.errors import InputError
from insula_bench.cases import cases
from insula_bench.peers import Verdict, hermes, openhands
from insula_bench.stuck import (
    ANY,
    Note,
    Watched,
    at_step,
    healthy,
    measure,
    micro,
    near_labels,
    no_gain,
    run,
    watch,
)
from insula_bench.trajectories import Run

ERROR = "Error executing query: Unknown column 'name' in 'where clause'"


def watched(*rewards: float, told: tuple[Note, ...] = (), **fired: int) -> Watched:
    return Watched("intercode", "sql", None, rewards, fired, told, (), frozenset(), 0, False)


def chat(labels: set[int], places: tuple[int, ...], messages: int = 100) -> Watched:
    return Watched("magentic", "", None, (), {}, (), places, frozenset(labels), messages, False)


def sql(query: str, output: str, reward: float = 0.0) -> dict[str, Any]:
    return {"thought": "", "tool": "sql", "action": query, "obs": output, "reward": reward, "valid": True}


def stuck_and_solved() -> list[dict[str, Any]]:
    stuck = [sql("SELECT name FROM a", ERROR)] * 6
    solved = [sql(f"SELECT {i} FROM table_{i}", f"[('a long answer', {i})]", i / 8) for i in range(8)]
    common = {"set": "intercode", "env": "sql", "outcome": False}
    return [{"id": "stuck", "steps": stuck, **common}, {"id": "solved", "steps": solved, **common}]


def test_a_run_is_stuck_when_no_later_reward_is_above_its_best_so_far() -> None:
    assert no_gain(watched(0.5, 0.0, 0.5, 0.3), 2)
    assert not no_gain(watched(0.5, 0.0, 0.6), 2)


def test_only_runs_that_go_on_are_judged_and_only_by_what_fired_until_then() -> None:
    group = [
        watched(0.0, 0.0, 0.0, insula=2),  # stuck and found
        watched(0.0, 0.0, 0.0, insula=3),  # stuck and found too late
        watched(0.0, 0.0, 1.0, insula=1),  # a false alarm
        watched(0.0, 0.0, 1.0),
        watched(0.0, 0.0, insula=1),  # over at step 2
    ]
    figures = at_step(group, 2, no_gain)
    assert (figures["n"], figures["base_rate"]) == (4, 0.5)
    assert (figures["precision"], figures["recall"], figures["specificity"]) == (0.5, 0.5, 0.5)
    low, high = figures["intervals"]["precision"]
    assert low < 0.5 < high


def test_the_prompt_of_the_user_and_the_outcome_reach_the_senses() -> None:
    failing = TranscriptCall("Bash", {"command": "make"}, "No rule to make target", 5.0, ok=False)
    calls = tuple(failing._replace(at=5.0 * i) for i in range(1, 6))
    again = watch(Run("a", "a", (UserPrompt(0.5), *calls)))
    assert again.fired[ANY] == 3
    assert again.told[0].step == 3
    fine = (call._replace(ok=True, output=f"module_{i}.o was built") for i, call in enumerate(calls))
    fine = watch(Run("a", "a", (UserPrompt(0.5), *fine)))
    assert ANY not in fine.fired


def test_marks_near_readings_are_held_against_marks_put_anywhere() -> None:
    figures = near_labels([chat({10, 20}, (10, 21)), chat({5}, ())])
    assert (figures["chats"], figures["with_readings"], figures["marks"]) == (2, 1, 2)
    assert figures["within"][0]["share"] == 0.5
    assert figures["within"][2]["share"] == 1.0
    assert figures["within"][2]["chance"] < 0.2
    assert figures["within"][2]["p"] < 0.05


def test_texts_of_healthy_runs_are_counted_per_thousand_calls() -> None:
    told = (Note(1, "nociception", 1, 100), Note(2, "nociception", 2, 150), Note(3, "chronos", 0, 50))
    figures = healthy([watched(*[0.0] * 500, told=told), watched(*[0.0] * 500)])
    assert (figures["calls"], figures["texts_per_1000"], figures["rungs_per_1000"]) == (1000, 3.0, 1.0)
    assert (figures["chars_per_1000"], figures["longest_text"]) == (300.0, 150)
    assert figures["per_sense"] == {"chronos": 1.0, "nociception": 2.0}


def test_the_senses_catch_every_loop_of_the_micro_cases_and_leave_the_healthy_ones_alone() -> None:
    figures = micro()
    assert (figures["caught"], figures["of"], figures["false"]) == (9, 9, 0)
    assert figures["baselines"]["openhands"] == {"caught": 3, "of": 9, "false": 1}
    assert len(cases()) == 11


def test_the_report_for_machines_holds_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "intercode.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in stuck_and_solved()), "utf-8")
    assert run([str(path)], json=True) == 0
    figures = json.loads(capsys.readouterr().out)
    intercode = figures["sets"]["intercode"]
    assert (intercode["k"], intercode["n"], intercode["precision"], intercode["recall"]) == (4, 2, 1.0, 1.0)
    assert set(intercode["by_k"]) == {"3", "4", "5", "6", "8"}
    assert intercode["by_env"]["sql"]["n"] == 2
    assert set(intercode["per_sense"]) == {"nociception", "vestibular"}
    assert {"openhands", "hermes"} <= set(intercode["baselines"])
    assert figures["healthy"]["calls"] == 0


def test_data_without_a_single_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n", "utf-8")
    with pytest.raises(InputError, match="is a set of runs; see docs"):
        measure([str(tmp_path)])


CASES = {case.name: case.calls for case in cases()}


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
