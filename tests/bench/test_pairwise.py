"""Two leading answers before a model: both orders are asked, once, and what favours a place favours no answer."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from insula.errors import ModelUnavailable
from insula.testing import Reply, Request, ScriptedModel
from insula_bench.lines import Lines
from insula_bench.pairwise import ASKED, Pair, ask, figures, pairs
from insula_bench.replays import Ended
from insula_solve.answers import ParsedAnswer
from insula_solve.features import read_features
from insula_solve.solution import Attempt, Likelihood
from insula_solve.votes import VotePolicy, rank_answers

pytestmark = pytest.mark.anyio

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


def test_one_order_alone_an_error_and_another_word_count_for_no_side() -> None:
    told = [asked(0, 0, "A", 0.9), asked(1, 0, "Neither", 0.9), asked(1, 1, "", 0.5), {"key": "x", "error": "away"}]
    found = figures(PAIRS, told)
    assert found["pairs"] == 1
    assert found["all"]["together"] == found["all"]["votes"]


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


def test_the_two_answers_ahead_are_shown_by_their_likeliest_attempts() -> None:
    def attempt(answer: str, text: str, mean: float) -> Attempt:
        return Attempt(
            number=1,
            kind="chain",
            reasoning=text,
            answer=ParsedAnswer(answer, answer),
            likelihood=Likelihood(mean=mean, lowest=-1.0, answer=None),
        )

    made = [attempt("7", "seven", -0.1), attempt("7", "seven, likelier", -0.05), attempt("8", "eight", -0.2)]
    standing = rank_answers(made, read_features("How many are left?"), VotePolicy())
    ours = {"problem": 4, "gold": "8", "ending": "done"}
    (pair,) = pairs([Ended(ours, standing, 0.0), Ended(ours, standing[:1], 0.0)])
    assert (pair.first, pair.second, pair.first_right, pair.second_right) == ("seven, likelier", "eight", False, True)
    assert pair.odds > 0
    assert not pair.settled
