import math
import random
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from insula.calibration import (
    CURVE,
    FURTHEST,
    PRIOR_OUTCOMES,
    SPREAD,
    AnswerOutcome,
    Case,
    adjust_probability,
    apply_own,
    dump_own,
    fit_calibration,
    log_odds,
    raw_probability,
    refit_user,
)
from insula.types import Calibration

UNIT = st.floats(0, 1)
NINE = log_odds(0.9)
MOST_BY_ONE = math.sqrt((1 + NINE**2 / SPREAD) * (1 + FURTHEST**2 / SPREAD)) / (PRIOR_OUTCOMES * CURVE)
"""What one outcome can move the log-odds of 0.9 by, whatever came before it (Cauchy and Schwarz)."""
START = Calibration(intercept=0.0, weights={"a": 1.0, "b": 1.0}, whose_intercept=0.0, whose_weights={"w": 1.0})


def made(n: int = 600) -> list[Case]:
    """Known where `a` is high and, of those about a person, `w` is; `b` is against it, as no feature should be."""
    chance = random.Random(1)
    cases: list[Case] = []
    for _ in range(n):
        a, w, person = chance.random(), chance.random(), chance.random() < 0.5
        known = a + chance.gauss(0, 0.2) > 0.5 and (not person or w + chance.gauss(0, 0.2) > 0.5)
        cases.append(Case({"a": a, "b": 1 - a}, {"w": w} if person else {}, known))
    return cases


def test_a_fit_finds_what_tells_and_gives_no_negative_weight() -> None:
    found = fit_calibration(made(), START)
    assert found.weights["a"] > 3.0
    assert found.weights["b"] == 0.0
    assert found.whose_weights["w"] > 3.0


def test_a_fit_is_calibrated_where_its_form_is_right() -> None:
    cases = made(2_000)
    found = fit_calibration(cases, START)
    middle = [(p, one.known) for one in cases if 0.4 < (p := raw_probability(found, one.values, one.whose)) < 0.7]
    assert len(middle) > 100
    assert abs(sum(p for p, _ in middle) - sum(known for _, known in middle)) / len(middle) < 0.1


def test_a_feature_that_never_varies_gets_no_weight_and_breaks_nothing() -> None:
    cases = [Case({"a": 0.3, "b": float(i % 2)}, {}, i % 2 == 1) for i in range(40)]
    found = fit_calibration(cases, START)
    assert found.weights["a"] == 0.0
    assert raw_probability(found, {"a": 0.3, "b": 1.0}, {}) > 0.9


@given(UNIT, UNIT, UNIT)
def test_more_of_a_feature_never_lowers_the_chance(low: float, high: float, other: float) -> None:
    low, high = sorted((low, high))
    assert raw_probability(START, {"a": low, "b": other}, {"w": other}) <= raw_probability(
        START, {"a": high, "b": other}, {"w": other}
    )
    assert raw_probability(START, {"a": other}, {"w": low}) <= raw_probability(START, {"a": other}, {"w": high})


def test_what_is_stored_of_somebody_else_does_not_make_up_for_it() -> None:
    strict = replace(START, intercept=4.0, whose_intercept=-4.0)
    assert raw_probability(strict, {"a": 1.0, "b": 1.0}, {"w": 0.0}) < 0.05
    assert raw_probability(strict, {"a": 1.0, "b": 1.0}, {}) > 0.95


def test_outcomes_move_a_user_s_calibration_and_few_of_them_little() -> None:
    corrected = [AnswerOutcome(0.9, held=False)]
    once, often = refit_user(START, corrected), refit_user(START, corrected * 200)
    moved = [one.shift + one.slope * log_odds(0.9) for one in (START, once, often)]
    assert moved[0] > moved[1] > moved[2]
    assert moved[0] - moved[1] < 0.3
    assert moved[2] < 0.0


def test_outcomes_as_foretold_leave_a_calibration_nearly_alone() -> None:
    chance = random.Random(2)
    scores = [chance.uniform(0.1, 0.9) for _ in range(2_000)]
    found = refit_user(START, [AnswerOutcome(score, chance.random() < score) for score in scores])
    assert abs(found.shift) < 0.2
    assert abs(found.slope - 1.0) < 0.2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.builds(AnswerOutcome, st.floats(0.02, 0.98), st.booleans()), min_size=1, max_size=200))
def test_a_refit_is_never_worse_than_what_it_began_with(outcomes: list[AnswerOutcome]) -> None:
    found = refit_user(START, outcomes)
    assert penalised(found, outcomes) <= penalised(START, outcomes) + 1e-9
    for moved in (replace(found, shift=found.shift + 0.01), replace(found, shift=found.shift - 0.01)):
        assert penalised(moved, outcomes) >= penalised(found, outcomes) - 1e-9


def penalised(calibration: Calibration, outcomes: list[AnswerOutcome]) -> float:
    """What `refit` minimises: the log loss, and how far it is from where it began."""
    drawn = PRIOR_OUTCOMES * CURVE * (calibration.shift**2 + SPREAD * (calibration.slope - 1) ** 2) / 2
    odds = (calibration.shift + calibration.slope * log_odds(one.score) for one in outcomes)
    lost = (math.log1p(math.exp(-abs(z))) + max(z, 0.0) - z * one.held for z, one in zip(odds, outcomes, strict=True))
    return drawn + sum(lost)


OUTCOMES = st.lists(st.builds(AnswerOutcome, UNIT, st.booleans()), max_size=60)


@settings(max_examples=60, deadline=None)
@given(OUTCOMES, UNIT, UNIT)
def test_whatever_the_outcomes_a_refit_is_finite_and_more_confidence_never_means_less(
    outcomes: list[AnswerOutcome], low: float, high: float
) -> None:
    found = refit_user(START, outcomes)
    assert math.isfinite(found.shift)
    assert math.isfinite(found.slope)
    low, high = sorted((low, high))
    assert adjust_probability(found, low) <= adjust_probability(found, high) + 1e-12


@settings(max_examples=50, deadline=None)
@given(OUTCOMES, UNIT, st.booleans())
@example(outcomes=[], score=0.0, held=True)
@example(outcomes=[], score=1.0, held=False)
def test_no_single_outcome_moves_a_confidence_of_nine_in_ten_far(
    outcomes: list[AnswerOutcome], score: float, held: bool
) -> None:
    before, after = (refit_user(START, known) for known in (outcomes, [*outcomes, AnswerOutcome(score, held)]))
    moved = [one.shift + one.slope * NINE for one in (before, after)]
    # The penalty curves by D = PRIOR_OUTCOMES * CURVE * diag(1, SPREAD), and one loss pulls by at most (1, FURTHEST):
    # so the least point moves by no more than that over D, which is seen from (1, NINE).
    assert abs(moved[1] - moved[0]) <= MOST_BY_ONE + 1e-6 < 0.42
    if not outcomes:
        assert abs(adjust_probability(after, 0.9) - 0.9) < 0.05


def test_one_outcome_at_the_very_end_weighs_as_one_near_it() -> None:
    assert refit_user(START, [AnswerOutcome(0.0, held=True)]) == refit_user(START, [AnswerOutcome(0.001, held=True)])
    assert refit_user(START, [AnswerOutcome(1.0, held=False)]) == refit_user(START, [AnswerOutcome(0.999, held=False)])


@pytest.mark.parametrize("share", [0.9, 0.7, 0.5])
def test_many_wrong_answers_never_make_sure(share: float) -> None:
    chance = random.Random(6)
    outcomes = [AnswerOutcome(chance.uniform(0.85, 0.97), chance.random() > share) for _ in range(200)]
    assert adjust_probability(refit_user(START, outcomes), 0.9) < 0.75 - share / 4


def test_without_outcomes_the_shipped_calibration_stands() -> None:
    assert refit_user(START, []) is START


@pytest.mark.parametrize(
    "text", ["{broken", "[]", "null", '{"high": null}', '{"high": "x"}', '{"high": NaN, "slope": -1}']
)
def test_what_somebody_broke_of_a_user_s_own_calibration_is_left_out(text: str) -> None:
    assert apply_own(START, text) == START


def test_a_user_s_own_calibration_is_read_as_it_was_written() -> None:
    own = replace(START, shift=-0.5, slope=0.8, high=0.81)
    assert apply_own(START, dump_own(own)) == own
