"""`insula bench stuck`: runs judged by what fired, beside the rules of others."""

import json
from pathlib import Path
from typing import Any

import pytest

from insula.coding.replay.readers import TranscriptCall, UserPrompt
from insula_bench.cases import cases
from insula_bench.peers import Verdict, hermes, openhands
from insula_bench.stuck import (
    ANY,
    Note,
    Watched,
    at_step,
    micro,
    no_gain,
    run,
    watch,
)
from insula_bench.trajectories import Run

ERROR = "Error executing query: Unknown column 'name' in 'where clause'"


def watched(*rewards: float, told: tuple[Note, ...] = (), **fired: int) -> Watched:
    return Watched("intercode", "sql", None, rewards, fired, told, (), frozenset(), 0, False)


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


CASES = {case.name: case.calls for case in cases()}


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("identical call and output", 4),
        ("the same, thought reworded", None),
        ("A B A B", 6),
        ("identical tool errors", 4),
        ("a legitimate poll", 4),
    ],
)
def test_openhands_does_on_the_micro_cases_what_its_own_class_does(name: str, stops: int | None) -> None:
    assert openhands(CASES[name]).stops == stops


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("identical call and output", Verdict(2, 6)),
        ("different edits, the same failing output", Verdict(3, 8)),
        ("A B A B", Verdict(4, 12)),
        ("a legitimate poll", Verdict()),
    ],
)
def test_hermes_does_on_the_micro_cases_what_its_own_class_does(name: str, expected: Verdict) -> None:
    assert hermes(CASES[name]) == expected
