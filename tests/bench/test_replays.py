"""Recorded attempts, decided by other rules: what is recorded comes out again, and a rule changes what it says."""

import pytest

from insula.testing import Request, ScriptedModel
from insula_bench.arms import Arm, Problem, Record, solved
from insula_bench.attempts import programs
from insula_bench.lines import MemoryPool
from insula_bench.replays import RULES, replays
from insula_solve import METHODS, Models

pytestmark = pytest.mark.anyio

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
