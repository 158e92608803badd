"""Kept attempts judged again: two answers before a model, and what other policies would have given."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from insula.errors import ModelUnavailable
from insula.testing import Reply, Request, ScriptedModel
from insula_bench.arms import Arm, Problem, Record, solved
from insula_bench.attempts import programs
from insula_bench.lines import Lines, MemoryPool
from insula_bench.pairwise import ASKED, Pair, ask, figures, pairs
from insula_bench.replays import RULES, Ended, replays
from insula_solve import METHODS, Models
from insula_solve.answers import ParsedAnswer
from insula_solve.features import read_features
from insula_solve.solution import Attempt, Likelihood
from insula_solve.votes import VotePolicy, rank_answers

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


async def test_a_program_in_a_kept_reply_is_computed_and_one_that_is_not_kept_is_not() -> None:
    guessed = "Let it compute.\n```python\nleft = 3 * 4 - 2\nprint(left)\n```\nIt prints \\boxed{11}."
    recorded = await lines(guessed, program="none", strategies=guessed)
    told = {"mean": -0.2, "lowest": -0.2, "answer": None}
    as_said = {"answer": "11", "correct": False, "computed": False, "likelihood": told}
    old = [{**one, "attempts": [{**each, **as_said} for each in one["attempts"]]} for one in recorded]
    reply = {"text": guessed, "logprobs": [["a", -0.2], ["b", -0.2]]}
    right = {one["rule"]: one["right"] for one in replays(old, [reply])}
    assert right["as it was"] == 0
    assert right["as it is: programs in chains are computed"] == 1
    assert {one["right"] for one in replays(old)} == {0}
    assert programs(old, [reply]) == {
        "n": 1, "stated_right": 0, "computed_right": 1, "only_stated": 0, "only_computed": 1
    }  # fmt: skip


async def test_what_a_rule_spends_is_what_its_attempts_cost_and_it_is_set_beside_adaptive_self_consistency() -> None:
    recorded = await lines(*[rf"\boxed{{{number}}}" for number in range(20, 28)], program="none")
    found = {one["rule"]: one for one in replays(recorded)}
    all_, short = found["as it was"], found["at most 5 attempts"]
    assert all_["tokens"] == recorded[0]["input_tokens"] + recorded[0]["output_tokens"]
    assert short["tokens"] < all_["tokens"]
    theirs = recorded[1]["input_tokens"] + recorded[1]["output_tokens"]
    assert all_["adaptive"]["tokens_difference"] == all_["tokens"] - theirs


async def test_what_only_one_of_two_rules_has_right_is_counted() -> None:
    recorded = await lines(*[rf"\boxed{{{number}}}" for number in (20, 21, 22, 10, 10, 10, 10, 10)], program="none")
    found = {one["rule"]: one for one in replays(recorded)}
    assert found["as it was"]["right"] == 1
    short = found["at most 5 attempts"]
    assert (short["right"], short["only_it"], short["only_as_was"]) == (0, 0, 1)
