import math

from hypothesis import given
from hypothesis import strategies as st

from insula.stats import auroc, wilson

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_auroc_counts_every_pair(positive: list[float], negative: list[float]) -> None:
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    assert math.isclose(auroc(positive, negative), sum(pairs) / len(pairs))


@given(SCORES, SCORES)
def test_auroc_of_the_two_directions_adds_up_to_one(positive: list[float], negative: list[float]) -> None:
    assert math.isclose(auroc(positive, negative) + auroc(negative, positive), 1.0)


def test_wilson_gives_the_interval_of_the_textbook() -> None:
    low, high = wilson(81, 263)  # Newcombe 1998, table I, method 3
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_share_and_stays_between_nought_and_one(successes: int, misses: int) -> None:
    n = successes + misses
    low, high = wilson(successes, n)
    assert 0.0 <= low <= high <= 1.0
    assert n == 0 or low - 1e-12 <= successes / n <= high + 1e-12
