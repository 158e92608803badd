import math

from hypothesis import given
from hypothesis import strategies as st

from insula.stats import auroc

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_auroc_counts_every_pair(positive: list[float], negative: list[float]) -> None:
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    assert math.isclose(auroc(positive, negative), sum(pairs) / len(pairs))


@given(SCORES, SCORES)
def test_auroc_of_the_two_directions_adds_up_to_one(positive: list[float], negative: list[float]) -> None:
    assert math.isclose(auroc(positive, negative) + auroc(negative, positive), 1.0)
