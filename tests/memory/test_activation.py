import math

from hypothesis import given
from hypothesis import strategies as st

from insula.memory.retrieval.activation import DECAY, KEPT_USES, base_level, retrieval_probability

HOUR = 3600.0
AGES = st.floats(min_value=60.0, max_value=10_000 * HOUR)


def exact(uses: list[float], now: float) -> float:
    """The definition: ln of the sum of the ages in hours to the power of minus d."""
    return math.log(sum(((now - use) / HOUR) ** -DECAY for use in uses))


@given(st.lists(AGES, min_size=1, max_size=KEPT_USES))
def test_base_level_is_the_definition_while_every_use_is_kept(ages: list[float]) -> None:
    now = 1e9
    uses = sorted(now - age for age in ages)
    assert math.isclose(base_level(uses, len(uses), uses[0], now), exact(uses, now), rel_tol=1e-6, abs_tol=1e-6)


def test_older_uses_in_closed_form_come_close_to_the_definition() -> None:
    now = 1e9
    uses = [now - age * HOUR for age in range(200, 0, -2)]
    approximate = base_level(uses[-KEPT_USES:], len(uses), uses[0], now)
    assert abs(approximate - exact(uses, now)) < 0.1


@given(AGES, AGES)
def test_a_later_use_is_more_active(one: float, other: float) -> None:
    now = 1e9
    early, late = sorted((now - one, now - other))
    assert base_level([late], 1, late, now) >= base_level([early], 1, early, now)


@given(st.integers(1, 1000), AGES)
def test_more_uses_are_more_active(count: int, age: float) -> None:
    now, created = 1e9, 1e9 - 20_000 * HOUR
    use = [now - age]
    assert base_level(use, count + 1, created, now) >= base_level(use, count, created, now)


@given(st.floats(allow_nan=False))
def test_probability_of_retrieval_stays_in_bounds(activation: float) -> None:
    assert 0.0 <= retrieval_probability(activation) <= 1.0


def test_a_clock_that_jumped_back_does_no_harm() -> None:
    assert math.isfinite(base_level([2000.0], 1, 2000.0, 1000.0))
