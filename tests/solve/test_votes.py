"""How sure to be of the leading answer: where problems differ in how hard they are, disagreement says that one is."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula_solve.answers import answer_with_number
from insula_solve.baselines import AGREED, WAVES
from insula_solve.features import read_features
from insula_solve.solution import Attempt
from insula_solve.votes import (
    AnswerStanding,
    VotePolicy,
    estimate_confidence,
    is_settled,
    raise_confidence,
    rank_answers,
)

PROBLEM = read_features("Tom has 3 boxes with 4 apples each. He eats 2. How many apples are left?")
POLICY = VotePolicy(attempts=9)
VOTES = st.lists(st.integers(1, 5), min_size=1, max_size=12)


def chains(answers: Sequence[int]) -> list[Attempt]:
    """Plain chains with these answers; 0 is none."""
    return [
        Attempt(number=at, kind="chain", reasoning="", answer=answer_with_number(Fraction(answer)) if answer else None)
        for at, answer in enumerate(answers, 1)
    ]


def sure(answers: Sequence[int], policy: VotePolicy = POLICY) -> float:
    """The confidence in the leading answer."""
    attempts = chains(answers)
    return estimate_confidence(rank_answers(attempts, PROBLEM, policy), attempts, PROBLEM, policy)


def integrated(answers: list[int], policy: VotePolicy = POLICY) -> float:
    """The same by numbers: over each chance that an attempt at the problem may have to be right."""
    share = (np.arange(200_000) + 0.5) / 200_000
    strength = 1 / policy.alike - 1
    a, b = policy.chain * strength, (1 - policy.chain) * strength
    prior = share ** (a - 1) * (1 - share) ** (b - 1)
    wrong = (1 - share) / policy.alternatives

    def of(count: int) -> float:
        return float((prior * share**count * wrong ** (len(answers) - count)).sum())

    counts = Counter(answers)
    unseen = max(1.0, policy.alternatives + 1 - len(counts)) * of(0)
    return of(max(counts.values())) / (sum(of(count) for count in counts.values()) + unseen)


@settings(max_examples=40)
@given(VOTES)
def test_it_is_the_chance_over_all_that_a_problem_may_be(answers: list[int]) -> None:
    assert sure(answers) == pytest.approx(integrated(answers), abs=0.01)


@given(VOTES)
def test_another_vote_for_the_leading_answer_never_lowers_it_and_one_for_a_rival_never_raises_it(
    answers: list[int],
) -> None:
    (leading, most), *rivals = Counter(answers).most_common()
    assert sure([*answers, leading]) >= sure(answers) - 1e-9
    for rival, count in rivals:
        if count < most:
            assert sure([*answers, rival]) <= sure(answers) + 1e-9


def test_two_that_agree_at_once_are_surer_than_five_of_twelve() -> None:
    assert sure([1, 1]) > 0.85
    assert sure([1] * 5 + [2, 2, 2, 3, 4, 5, 6]) < 0.6


def test_attempts_of_several_kinds_are_trusted_more_and_never_for_certain() -> None:
    assert [round(raise_confidence(chance, POLICY), 2) for chance in (0.0, 0.02, 0.5, 0.84, 1.0)] == [
        0.0,
        0.03,
        0.62,
        0.9,
        1.0,
    ]
    assert raise_confidence(0.7, VotePolicy(unlike=0.0)) == pytest.approx(0.7)


def test_an_attempt_without_an_answer_speaks_for_a_hard_problem() -> None:
    assert sure([1, 1, 0, 0]) < sure([1, 1])


def rank(scores: Any, right: Any) -> float:
    """The chance that a right answer is scored above a wrong one."""
    above: Any = np.sign(scores[right][:, None] - scores[~right][None])
    return float(above.mean() + 1) / 2


def test_among_easy_and_hard_problems_it_tells_right_from_wrong_better_than_the_share_of_the_votes() -> None:
    ended = [_ended(answers) for answers in _world()]
    shares, chances = np.array([(one.share, sure(answers)) for one, answers in ended]).T
    right = np.array([one.answer == RIGHT for one, _ in ended])
    assert rank(chances, right) > rank(shares, right) + 0.05
    assert shares.mean() - 0.03 > right.mean() > chances.mean(), "rather too careful than too sure"
    assert right.mean() - chances.mean() < 0.08


def test_its_attempts_cost_no_more_than_those_of_adaptive_self_consistency() -> None:
    world = _world()
    ours = sum(len(_ended(answers)[1]) for answers in world)
    theirs = sum(next(wave for wave in WAVES if _share(answers[:wave]) >= AGREED or wave == 8) for answers in world)
    assert 0.95 < ours / theirs <= 1.0


RIGHT = "1"
PROBLEMS = 1_500


@cache
def _world() -> list[tuple[int, ...]]:
    """Answers to each of many problems, easy ones and hard ones; 1 is right, and wrong ones are numbered as they come.

    Wrong answers are not spread evenly, as in the data: two wrong ones are the same in one case of five or six.
    """
    draw = np.random.default_rng(7)
    strength = 1 / POLICY.alike - 1
    found: list[tuple[int, ...]] = []
    for _ in range(PROBLEMS):
        chance = draw.beta(POLICY.chain * strength, (1 - POLICY.chain) * strength)
        wrong = 2 + draw.choice(20, POLICY.attempts, p=draw.dirichlet([0.3] * 20))
        answers = np.where(draw.random(POLICY.attempts) < chance, int(RIGHT), wrong).tolist()
        names = {int(RIGHT): int(RIGHT)}
        found.append(tuple(names.setdefault(one, len(names) + 1) for one in answers))
    return found


def _ended(answers: tuple[int, ...]) -> tuple[AnswerStanding, tuple[int, ...]]:
    """The leading answer where the method ends, and the answers until then."""
    for made in range(2, len(answers)):
        standing = _stand(answers[:made])
        if is_settled(standing, POLICY):
            return standing[0], answers[:made]
    return _stand(answers)[0], answers


@cache
def _stand(answers: tuple[int, ...]) -> Sequence[AnswerStanding]:
    return rank_answers(chains(answers), PROBLEM, POLICY)


def _share(answers: Sequence[int]) -> float:
    return Counter(answers).most_common(1)[0][1] / len(answers)
