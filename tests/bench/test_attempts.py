"""`insula bench attempts`: what recorded attempts say, each signal within problems, the choice, and how sure to be."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness import Ran, run_insula

Json = dict[str, Any]


def attempt(answer: str, mean: float, kind: str = "chain", wrong: int = 0) -> Json:
    likelihood = {"mean": mean, "lowest": mean - 1, "answer": None}
    known = {"equations": 2, "wrong_equations": wrong, "repaired": False, "likelihood": likelihood}
    return {"kind": kind, "answer": answer, "correct": answer == "1", **known}


def line(problem: int, *attempts: Json, arm: str = "insula", answer: str = "1") -> Json:
    given = {"answer": answer, "correct": answer == "1", "leaning": answer, "leaning_correct": answer == "1"}
    more: Json = {"confidences": {"combined": 0.6}, "seed": 0, "gold": "1", "stages": {}, "failed": None}
    more["ending"] = "done" if answer != "1" else "agreed"
    return {"arm": arm, "problem": problem, "attempts": list(attempts), **given, **more}


@pytest.fixture
def told(tmp_path: Path) -> Any:
    """What the command makes of some lines."""

    def run(*lines: Json, json_too: bool = True) -> Ran:
        (tmp_path / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        return run_insula("bench", "attempts", "--out", tmp_path, *(["--json"] if json_too else []))

    return run


def test_signals_are_compared_within_a_problem_and_a_shared_reply_counts_once(told: Any) -> None:
    easy = line(0, attempt("1", -0.9), attempt("1", -0.8))  # all right: says nothing, however unlikely
    shared = attempt("2", -0.5)
    hard = [line(1, attempt("1", -0.1), shared), line(1, shared, attempt("3", -0.05), arm="direct")]
    found = told(easy, *hard).json["signals"]["chain"]
    assert (found["likelihood, mean"]["problems"], found["likelihood, mean"]["auroc"]) == (1, 0.5)
    assert "likelihood of the answer" not in found, "nothing is known of it"
    assert told(easy).json["signals"]["chain"] == {}


def test_what_was_there_and_was_not_followed_is_counted(told: Any) -> None:
    lost = line(0, attempt("1", -0.1, "program"), attempt("2", -0.1), attempt("2", -0.1, "strategy"), answer="2")
    found = told(lost, line(1, attempt("1", -0.1), attempt("2", -0.1))).json["choice"]
    assert (found["right"], found["majority"], found["among_attempts"]) == (1, 1, 2)
    assert (found["lost"], found["lost_by_kind"]) == (1, {"program": 1})
    assert found["undecided"] == {"n": 1, "right": 0, "among_attempts": 1}
    kinds = told(lost).json["kinds"]
    assert {kind: (one["n"], one["right"]) for kind, one in kinds.items()} == {
        "first chain": (1, 1.0),
        "chain": (1, 0.0),
        "strategy": (1, 0.0),
    }


def test_what_is_added_to_the_confidence_moves_its_mean_and_not_its_order(told: Any) -> None:
    lines = [line(number, attempt(answer, -0.1), answer=answer) for number, answer in enumerate("1112")]
    found = told(*lines).json["shifts"]
    assert found["0.0"]["mean"] == 0.6
    assert found["0.5"]["mean"] == pytest.approx(0.712, abs=0.001)  # pyright: ignore[reportUnknownMemberType]
    assert found["0.5"]["ece"] < found["0.0"]["ece"]
    assert found["0.5"]["auroc"] == found["0.0"]["auroc"]
    assert "Of 4 problems 3 are right, 3 by a plain majority" in told(*lines, json_too=False).out


def test_without_lines_of_ours_there_is_nothing_to_say(told: Any) -> None:
    ran = told(line(0, attempt("1", -0.1), arm="direct"))
    assert ran.status
    assert "no line of 'insula'" in ran.out + ran.err
