"""Told against withheld: what is claimed, what is not, and that looking every day is no cheating."""

import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula import worth as worth_module
from insula.worth import (
    HURTS,
    UNKNOWN,
    USELESS,
    WORKS,
    Outcomes,
    compare_outcomes,
    count_needed_cases,
    make_amounts,
    make_rate,
)

DAYS, YEARS = 365, 1_000


def won(times: "np.typing.NDArray[np.int_]", of: "np.typing.NDArray[np.int_]") -> "np.typing.NDArray[np.float64]":
    """What the bet has won against the rate that both arms have in common, for many counts at once: by a table."""
    table = np.array([math.lgamma(number + 0.5) for number in range(of.max() + 1)])
    total = np.array([math.lgamma(number + 1) for number in range(of.max() + 1)])
    return table[times] + table[of - times] - total[of] - math.log(math.pi)


def claimed(base: "np.typing.NDArray[np.float64]", share: float, cases: int, seed: int) -> int:
    """In how many of 1,000 years of looking every day something is claimed of a text that does nothing.

    A look is worth its arithmetic only where both arms together have won enough against one rate; all others are
    passed over without a change of what is found.
    """
    draw = np.random.default_rng(seed)
    told = draw.random((YEARS, DAYS, cases)) < share
    failed = draw.random((YEARS, DAYS, cases)) < base[None, :, None]
    counts = [(arm & what).sum(2).cumsum(1) for arm in (told, ~told) for what in (failed, np.ones_like(failed))]
    told_failed, told_all, withheld_failed, withheld_all = counts
    of = told_all + withheld_all
    pooled = np.clip((told_failed + withheld_failed) / of, 1e-12, 1 - 1e-12)
    likely = of * (pooled * np.log(pooled) + (1 - pooled) * np.log(1 - pooled))
    near = won(told_failed, told_all) + won(withheld_failed, withheld_all) - likely >= math.log(20) - 0.01
    found = 0
    for year in np.flatnonzero(near.any(1)):
        looks = np.flatnonzero(near[year])
        arms = ((*(count[year, day] for count in counts),) for day in looks)
        found += any(
            compare_outcomes(make_rate(a, b), make_rate(c, d)).verdict in (WORKS, HURTS) for a, b, c, d in arms
        )
    return found


@pytest.mark.parametrize(
    ("rates", "share", "cases"),
    [
        ((0.3, 0.3), 0.9, 3),
        ((0.5, 0.5), 0.5, 3),
        ((0.03, 0.03), 0.5, 2),
        ((0.97, 0.97), 0.8, 2),
        ((0.7, 0.1), 0.7, 3),  # the agent gets better in the course of the year, for other reasons
    ],
)
def test_of_what_does_nothing_something_is_claimed_in_at_most_one_of_twenty_years_of_daily_looking(
    rates: tuple[float, float], share: float, cases: int
) -> None:
    assert claimed(np.linspace(*rates, DAYS), share, cases, seed=23) <= YEARS * 0.05


def test_amounts_that_do_not_differ_are_not_claimed_to() -> None:
    chance = random.Random(3)
    found = 0
    for _ in range(100):
        arms: tuple[list[float], list[float]] = [], []
        for day in range(1, 241):
            arms[chance.random() < 0.5].append(chance.lognormvariate(2.5, 0.6))
            if day % 12 == 0 and differ(make_amounts(arms[0], 40), make_amounts(arms[1], 40)):
                found += 1
                break
    assert found <= 5


def differ(told: Outcomes, withheld: Outcomes) -> bool:
    """Whether something is claimed; it is not where both arms have won too little against one mean for both."""
    cases = told.cases + withheld.cases
    mean = (told.mean * told.cases + withheld.mean * withheld.cases) / cases
    near = told.log_winnings(mean) + withheld.log_winnings(mean) >= math.log(20) - 0.01
    return near and compare_outcomes(told, withheld).verdict in (WORKS, HURTS)


def test_what_helps_is_found_and_what_harms() -> None:
    assert compare_outcomes(make_rate(60, 400), make_rate(150, 400)).verdict == WORKS
    assert compare_outcomes(make_rate(150, 400), make_rate(60, 400)).verdict == HURTS
    assert compare_outcomes(make_rate(1, 5), make_rate(3, 5)).verdict == UNKNOWN
    assert compare_outcomes(make_rate(200, 4_000), make_rate(200, 4_000)).verdict == USELESS
    fewer, more = make_amounts([9, 10, 11, 12] * 40, 25), make_amounts([12, 13, 14, 15] * 40, 25)
    told = compare_outcomes(fewer, more)
    assert told.verdict == WORKS
    assert told.estimate == pytest.approx(3)
    assert 0 < told.low < 3 < told.high


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60)
def test_the_interval_holds_what_was_seen_and_turns_with_the_arms(a: int, b: int, c: int, d: int) -> None:
    one, other = make_rate(a, a + b), make_rate(c, c + d)
    found, turned = compare_outcomes(one, other), compare_outcomes(other, one)
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def test_nobody_has_seen_anything_yet() -> None:
    for told, withheld in (
        (make_rate(0, 0), make_rate(0, 0)),
        (make_rate(3, 9), make_rate(0, 0)),
        (make_amounts([], 9), make_amounts([4], 9)),
    ):
        found = compare_outcomes(told, withheld)
        assert (found.verdict, found.estimate) == (UNKNOWN, 0)
        assert found.missing > 0
    assert compare_outcomes(make_rate(0, 0), make_rate(0, 0)).forecast_days(30) == math.inf


def test_the_interval_is_narrower_with_more_cases_and_wider_than_one_for_a_single_look() -> None:
    widths = [compare_outcomes(make_rate(n // 5, n), make_rate(2 * n // 5, n)) for n in (20, 100, 500, 2_500)]
    spans = [found.high - found.low for found in widths]
    assert spans == sorted(spans, reverse=True)
    single = 2 * 1.96 * math.sqrt(0.16 / 500 + 0.24 / 500)
    assert single < spans[2] < 2.5 * single


def test_amounts_of_all_or_nothing_are_rates() -> None:
    few = make_amounts([0] * 30 + [8] * 10, 8)
    found, same = compare_outcomes(few, few), compare_outcomes(make_rate(10, 40), make_rate(10, 40))
    assert (found.low, found.high) == pytest.approx((8 * same.low, 8 * same.high))
    mixed = Outcomes(counts=((0.0, 30.0), (0.5, 1e-9), (1.0, 10.0)))  # the same, but by the portfolio
    assert mixed.log_winnings(0.4) == pytest.approx(make_rate(10, 40).log_winnings(0.4), abs=1e-3)


def test_what_is_above_the_most_counts_as_the_most() -> None:
    assert make_amounts([5, 10_000, -3], 10) == make_amounts([5, 10, 0], 10)


@pytest.mark.parametrize(("withheld", "told"), [(0.4, 0.2), (0.2, 0.1), (0.6, 0.3)])
def test_after_as_long_as_it_was_said_to_take_four_of_five_know(withheld: float, told: float) -> None:
    chance = random.Random(7)
    each = count_needed_cases(told * (1 - told), withheld * (1 - withheld), withheld - told) // 2

    def seen(of: float) -> Outcomes:
        return make_rate(sum(chance.random() < of for _ in range(each)), each)

    known = sum(compare_outcomes(seen(told), seen(withheld)).verdict == WORKS for _ in range(200))
    assert 0.68 * 200 <= known <= 0.95 * 200


def test_amounts_are_told_apart_as_soon_as_was_said() -> None:
    chance = random.Random(9)
    each = count_needed_cases(0.15**2, 0.15**2, 0.08) // 2

    def seen(of: float) -> Outcomes:
        return make_amounts([chance.gauss(of, 0.15) for _ in range(each)], 1.0)

    known = sum(compare_outcomes(seen(0.42), seen(0.5)).verdict == WORKS for _ in range(20))
    assert known >= 0.65 * 20


def test_how_long_it_takes_is_told_in_days_at_the_rate_so_far() -> None:
    found = compare_outcomes(make_rate(6, 40), make_rate(12, 40))
    assert found.verdict == UNKNOWN
    assert found.forecast_days(20) == pytest.approx(found.missing / 4)
    assert compare_outcomes(make_rate(60, 400), make_rate(150, 400)).forecast_days(20) == 0
    rarely = compare_outcomes(make_rate(9, 60), make_rate(6, 20))
    assert rarely.missing > found.missing, "where little is withheld it takes longer"


def test_it_costs_the_hook_no_library() -> None:
    source = str(Path(worth_module.__file__).parent.parent)
    code = f"import sys; sys.path.insert(0, {source!r}); import insula.worth; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert not {"typing", "dataclasses", "pathlib", "hashlib", "numpy"} & set(loaded.stdout.split())
