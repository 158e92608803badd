"""What recorded attempts say: each signal within problems, the choice among them, and how sure to be of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from insula.errors import InputError
from insula_bench.attempts import choice, figures, kinds, run, signals

Json = dict[str, Any]


def attempt(answer: str, mean: float, kind: str = "chain", wrong: int = 0) -> Json:
    likelihood = {"mean": mean, "lowest": mean - 1, "answer": None}
    known = {"equations": 2, "wrong_equations": wrong, "repaired": False, "likelihood": likelihood}
    return {"kind": kind, "answer": answer, "correct": answer == "1", **known}


def line(problem: int, *attempts: Json, arm: str = "insula", answer: str = "1") -> Json:
    given = {"answer": answer, "correct": answer == "1", "leaning": answer, "leaning_correct": answer == "1"}
    more = {
        "confidences": {"combined": 0.6},
        "seed": 0,
        "gold": "1",
        "stages": {},
        "failed": None,
        "ending": "done" if answer != "1" else "agreed",
    }
    return {"arm": arm, "problem": problem, "attempts": list(attempts), **given, **more}


def test_signals_are_compared_within_a_problem_and_a_shared_reply_counts_once() -> None:
    easy = line(0, attempt("1", -0.9), attempt("1", -0.8))  # all right: says nothing, however unlikely
    shared = attempt("2", -0.5)
    hard = [line(1, attempt("1", -0.1), shared), line(1, shared, attempt("3", -0.05), arm="direct")]
    found = signals([easy, *hard], "chain")
    assert (found["likelihood, mean"]["problems"], found["likelihood, mean"]["auroc"]) == (1, 0.5)
    assert "likelihood of the answer" not in found, "nothing is known of it"
    assert signals([easy], "chain") == {}


def test_what_was_there_and_was_not_followed_is_counted() -> None:
    lost = line(0, attempt("1", -0.1, "program"), attempt("2", -0.1), attempt("2", -0.1, "strategy"), answer="2")
    found = choice([lost, line(1, attempt("1", -0.1), attempt("2", -0.1))])
    assert (found["right"], found["majority"], found["among_attempts"]) == (1, 1, 2)
    assert (found["lost"], found["lost_by_kind"]) == (1, {"program": 1})
    assert found["undecided"] == {"n": 1, "right": 0, "among_attempts": 1}
    assert kinds([lost]) == {
        "first chain": {"n": 1, "right": 1.0},
        "chain": {"n": 1, "right": 0.0},
        "strategy": {"n": 1, "right": 0.0},
    }


def test_what_is_added_to_the_confidence_moves_its_mean_and_not_its_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line(number, attempt(answer, -0.1), answer=answer) for number, answer in enumerate("1112")]
    found = figures(lines)["shifts"]
    assert found["0.0"]["mean"] == 0.6
    assert found["0.5"]["mean"] == pytest.approx(0.712, abs=0.001)
    assert found["0.5"]["ece"] < found["0.0"]["ece"]
    assert found["0.5"]["auroc"] == found["0.0"]["auroc"]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert run(str(tmp_path), json=False) == 0
    assert "Of 4 problems 3 are right, 3 by a plain majority" in capsys.readouterr().out


def test_without_lines_of_ours_there_is_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text(json.dumps(line(0, attempt("1", -0.1), arm="direct")) + "\n")
    with pytest.raises(InputError, match="no line of 'insula'"):
        run(str(tmp_path), json=False)
