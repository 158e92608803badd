"""Kept answers judged again: two before a model, what other policies would have given, and how sure to be."""

import json
import lzma
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from insula.errors import ModelUnavailable
from insula.testing import Reply, Request, ScriptedModel
from insula_bench import calibration
from insula_bench.arms import Arm, Problem, Record, solved
from insula_bench.calibration import ALONE, Answer, Answers, load, measure, run
from insula_bench.lines import Lines, MemoryPool
from insula_bench.pairwise import ASKED, Pair, ask, figures
from insula_bench.replays import RULES, replays
from insula_solve import METHODS, Models
from insula_solve.amounts import normalise_answer

pytestmark = pytest.mark.anyio


# Two leading answers before a model: both orders are asked, once, and what favours a place favours no answer.


PAIRS = [
    Pair(0, "It is 10.", "It is 11.", True, False, 0.5, True),
    Pair(1, "It is 3.", "It is 4.", False, True, 0.4, False),
    Pair(2, "It is 5.", "It is 6.", False, False, 0.4, False),
]


def asked(problem: int, order: int, said: str, sure: float) -> dict[str, object]:
    return {"problem": problem, "order": order, "said": said, "sure": sure, "tokens": 300}


def test_a_letter_that_is_always_the_same_says_nothing() -> None:
    found = figures(PAIRS, [asked(pair.problem, order, "A", 0.9) for pair in PAIRS for order in (0, 1)])
    assert (found["pairs"], found["one_is_right"], found["says_a"]) == (3, 2, 1.0)
    assert found["all"]["auroc"] == 0.5
    assert (found["all"]["together"], found["all"]["gained"]) == (found["all"]["votes"], 0)


def test_what_is_told_in_both_orders_outweighs_votes_that_are_close() -> None:
    right = [asked(0, 0, "A", 0.9), asked(0, 1, "B", 0.9), asked(1, 0, "B", 0.9), asked(1, 1, "A", 0.9)]
    found = figures(PAIRS, right)
    assert found["all"]["votes"]["right"] == 1
    assert (found["all"]["together"]["right"], found["all"]["gained"], found["all"]["lost"]) == (2, 1, 0)
    assert found["undecided"]["n"] == 1


async def test_each_is_asked_once_and_what_failed_again(tmp_path: Path) -> None:
    texts = {0: "What is 5 + 5?", 1: "What is 2 + 2?", 2: "What is 4 + 3?"}

    def first_fails(_: Request) -> Reply:
        return ModelUnavailable("away") if len(failing.requests) == 1 else "A"

    failing, model = ScriptedModel(first_fails), ScriptedModel(lambda _: "A")
    for asked_now in (failing, model, model):
        with closing(Lines(tmp_path / ASKED)) as lines:
            await ask(PAIRS, texts, "m", asked_now, lines)
    assert (len(failing.requests), len(model.requests)) == (6, 1)
    assert "Problem: What is 5 + 5?\n\nSolution A:\nIt is 10.\n\nSolution B:\nIt is 11." in failing.requests[0].prompt
    records = [json.loads(line) for line in (tmp_path / ASKED).read_text().splitlines()]
    assert figures(PAIRS, records)["pairs"] == 3


# Recorded attempts, decided by other rules: what is recorded comes out again, and a rule changes what it says.


PROBLEM = "Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?"


async def lines(*chains: str, program: str = "answer = 3 * 4 - 2", strategies: str = "\\boxed{7}") -> list[Record]:
    """What both methods record of a problem with these chains."""

    def reply(request: Request) -> str:
        if "Write the program" in request.prompt:
            return program
        if "following approach" in request.prompt:
            return strategies
        return chains[int(request.settings["seed"]) % len(chains)]

    models = Models(generator=ScriptedModel(reply), pool=MemoryPool())
    arms = [Arm(name, METHODS[name]) for name in ("insula", "adaptive_self_consistency")]
    return [await solved(arm, Problem(0, PROBLEM, "10"), models, tokens=9_000, seed=0) for arm in arms]


@pytest.mark.parametrize(
    ("chains", "right"),
    [
        ((r"\boxed{10}",), True),
        ((r"\boxed{11}", r"\boxed{12}"), False),
        (("3 * 4 = 13, 13 - 2 = 11. \\boxed{11}", r"\boxed{10}"), True),
        ((r"\boxed{-2}", "I cannot say.", r"\boxed{2.5}"), False),
    ],
)
async def test_as_it_was_comes_to_what_was_recorded(chains: tuple[str, ...], right: bool) -> None:
    recorded = await lines(*chains)
    found = {one["rule"]: one for one in replays(recorded)}
    assert len(found) == len(RULES)
    as_it_was = found["as it was"]
    assert (as_it_was["right"], as_it_was["attempts"]) == (right, len(recorded[0]["attempts"]))
    assert recorded[0]["correct"] == right


async def test_a_rule_stops_where_it_says_and_takes_the_chains_that_another_method_asked_for() -> None:
    recorded = await lines(*[rf"\boxed{{{number}}}" for number in range(20, 28)], program="none")
    found = {one["rule"]: one for one in replays(recorded)}
    assert found["at most 5 attempts"]["attempts"] == 5
    # Our own five chains, and what adaptive self-consistency asked for beyond them, in the place of strategies.
    assert found["chains in the place of strategies"]["attempts"] == 7
    assert sum(one["kind"] == "chain" for one in recorded[0]["attempts"]) == 5


# Agreement and likelihood as evidence that an answer is right, fitted on one set and judged on the other.


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


def test_each_combination_is_fitted_on_the_other_set_alone(data: Path) -> None:
    sets = {"svamp": load(data, "CoT_svamp.jsonl"), "asdiv": load(data, "CoT_ASDiv.jsonl")}
    before = measure(sets)["sets"]["svamp"]
    assert before["fitted_on"] == "asdiv"
    turned = [Answer(one.problem, one.written, not one.right, one.confidence) for one in sets["asdiv"].answers]
    after = measure({"svamp": sets["svamp"], "asdiv": Answers(turned)})["sets"]["svamp"]
    assert after["scores"]["combined"]["auroc"] == pytest.approx(1 - before["scores"]["combined"]["auroc"], abs=0.01)  # pyright: ignore[reportUnknownMemberType]
    assert after["scores"]["agreement"] == before["scores"]["agreement"]


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
