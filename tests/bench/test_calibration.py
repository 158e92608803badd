"""Agreement and likelihood as evidence that an answer is right, fitted on one set and judged on the other."""

import json
import lzma
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from insula.errors import InputError
from insula_bench import calibration
from insula_bench.calibration import ALONE, Answer, Answers, load, measure, run
from insula_solve.amounts import normalise_answer


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the draws."""
    monkeypatch.setattr(calibration, "RESAMPLES", 100)


def answers(*written: str, problem: str = "p") -> list[Answer]:
    return [Answer(problem, one, False, {}) for one in written]


def record(problem: int, answer: str, right: bool, likelihood: float) -> dict[str, Any]:
    confidence = {"probas-mean": likelihood, "p-true-bl": None}
    return {"question": f"Problem {problem}?", "answer": answer, "label": right, "conf": confidence}


def made_up(seed: int, problems: int = 60) -> list[dict[str, Any]]:
    """Five answers to each problem; a right one is agreed on more often and is a little more likely."""
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for problem in range(problems):
        ability = chance.random()
        for _ in range(5):
            right = chance.random() < ability
            answer = "$ 5" if right and chance.random() < 0.5 else "5" if right else str(chance.randrange(6, 12))
            rows.append(record(problem, answer, right, 0.6 + 0.3 * chance.random() + 0.1 * right))
    return rows


def write(folder: Path, name: str, rows: list[dict[str, Any]], packed: bool = True) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / (f"{name}.xz" if packed else name)).write_bytes(lzma.compress(text) if packed else text)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path, "CoT_svamp.jsonl", made_up(1))
    write(tmp_path, "CoT_ASDiv.jsonl", made_up(2), packed=False)
    return tmp_path


def test_an_answer_is_held_against_the_others_to_its_problem_and_never_against_itself() -> None:
    group = Answers([*answers("5", "$ 5", "6", "6.0", "6 apples"), *answers("1", problem="alone")])
    agreement, rival = group.votes(normalise_answer)
    assert agreement.tolist() == [0.25, 0.25, 0.5, 0.5, 0.5, ALONE]
    assert rival.tolist() == [0.75, 0.75, 0.5, 0.5, 0.5, 0.0]


def test_as_written_one_number_in_two_forms_is_no_agreement() -> None:
    agreement, _ = Answers(answers("5", "$ 5")).votes(str.strip)
    assert agreement.tolist() == [0.0, 0.0]


def test_a_confidence_that_is_missing_says_neither() -> None:
    assert Answers([Answer("p", "1", True, {"a": 0.9}), Answer("p", "1", True, {})]).given("a").tolist() == [0.9, ALONE]


def test_each_combination_is_fitted_on_the_other_set_alone(data: Path) -> None:
    sets = {"svamp": load(data, "CoT_svamp.jsonl"), "asdiv": load(data, "CoT_ASDiv.jsonl")}
    before = measure(sets)["sets"]["svamp"]
    assert before["fitted_on"] == "asdiv"
    turned = [Answer(one.problem, one.written, not one.right, one.confidence) for one in sets["asdiv"].answers]
    after = measure({"svamp": sets["svamp"], "asdiv": Answers(turned)})["sets"]["svamp"]
    assert after["scores"]["combined"]["auroc"] == pytest.approx(1 - before["scores"]["combined"]["auroc"], abs=0.01)  # pyright: ignore[reportUnknownMemberType]
    assert after["scores"]["agreement"] == before["scores"]["agreement"]


def test_agreement_and_likelihood_together_rank_better_than_either(data: Path) -> None:
    sets = {"svamp": load(data, "CoT_svamp.jsonl"), "asdiv": load(data, "CoT_ASDiv.jsonl")}
    scores = measure(sets)["sets"]["svamp"]["scores"]
    assert scores["combined"]["auroc"] > max(scores["agreement"]["auroc"], scores["likelihood"]["auroc"])
    assert scores["agreement"]["auroc"] > scores["agreement, as written"]["auroc"]
    low, high = scores["combined"]["interval"]
    assert low < scores["combined"]["auroc"] < high
    assert scores["agreement"]["over_agreement_interval"] == [0.0, 0.0]


def test_problems_are_drawn_anew_not_answers() -> None:
    """Ten copies of an answer to one problem are no ten cases: the interval is that of the problems."""
    chance = np.random.default_rng(1)
    once = [Answer(str(n), str(n), bool(n % 2), {"probas-mean": float(chance.random())}) for n in range(40)]
    copied = [one for one in once for _ in range(10)]
    widths: list[float] = []
    for given in (once, copied):
        found = measure({"svamp": Answers(given), "asdiv": Answers(given)})["sets"]["svamp"]["scores"]["likelihood"]
        widths.append(found["interval"][1] - found["interval"][0])
    assert widths[1] == pytest.approx(widths[0], rel=0.05)  # pyright: ignore[reportUnknownMemberType]


def test_the_exit_code_says_whether_the_goals_are_reached(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(str(data), json=True)
    figures = json.loads(capsys.readouterr().out)
    reached = [one["reached"] for one in figures["sets"].values()]
    assert code == int(not all(reached))
    assert all(
        one["reached"] == (one["scores"]["combined"]["auroc"] >= one["goal"]) for one in figures["sets"].values()
    )
    run(str(data), json=False)
    assert "combinations are fitted on svamp" in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"{", b'{"question": "?"}', b"[1]", b"\xff\xff"])
def test_data_of_another_form_is_told(data: Path, content: bytes) -> None:
    (data / "CoT_ASDiv.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=r"CoT_ASDiv\.jsonl' has not the form"):
        run(str(data), json=True)


def test_data_that_is_missing_broken_or_without_a_wrong_answer_is_told(tmp_path: Path, data: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read .* name the folder"):
        run(str(tmp_path / "nowhere"), json=True)
    write(data, "CoT_svamp.jsonl", [record(0, "1", True, 0.5)] * 3)
    with pytest.raises(InputError, match="no right and wrong answers"):
        run(str(data), json=True)
    (data / "CoT_svamp.jsonl.xz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot be read"):
        run(str(data), json=True)
