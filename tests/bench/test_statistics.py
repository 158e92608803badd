"""What figures say, and how they are drawn."""

import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.stats import Z95, sigmoid, wilson
from insula_bench import plots
from insula_bench.statistics import auroc, auroc_interval, ece, logistic, mcnemar, mean_interval, ranked, reliability

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_auroc_counts_every_pair(positive: list[float], negative: list[float]) -> None:
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    assert math.isclose(auroc(positive, negative), sum(pairs) / len(pairs))


def test_wilson_gives_the_interval_of_the_textbook() -> None:
    low, high = wilson(81, 263)  # Newcombe 1998, table I, method 3
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_share_and_stays_between_nought_and_one(successes: int, misses: int) -> None:
    n = successes + misses
    low, high = wilson(successes, n)
    assert 0.0 <= low <= high <= 1.0
    assert n == 0 or low - 1e-12 <= successes / n <= high + 1e-12


def test_mcnemar_gives_the_exact_values_of_the_binomial() -> None:
    assert mcnemar(0, 0) == mcnemar(3, 3) == 1.0
    assert mcnemar(0, 5) == mcnemar(5, 0) == 2 / 2**5
    assert math.isclose(mcnemar(10, 2), 2 * (1 + 12 + 66) / 2**12)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_knows_no_first_and_second(one: int, other: int) -> None:
    assert 0.0 <= mcnemar(one, other) == mcnemar(other, one) <= 1.0


def test_the_interval_of_a_mean_is_near_that_of_the_normal_distribution_and_is_repeatable() -> None:
    values = np.random.default_rng(1).normal(2.0, 3.0, 400)
    low, high = mean_interval(values.tolist())
    half = Z95 * values.std() / math.sqrt(len(values))
    assert abs(low - (values.mean() - half)) < 0.05 * half
    assert abs(high - (values.mean() + half)) < 0.05 * half
    assert mean_interval(values.tolist()) == (low, high) != mean_interval(values.tolist(), seed=1)
    assert mean_interval([1.0, 1.0, 1.0]) == (1.0, 1.0)
    assert mean_interval([]) == (-math.inf, math.inf)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=20))
def test_the_area_by_ranks_is_the_share_of_pairs(cases: list[tuple[int, bool]]) -> None:
    positive, negative = [[float(s) for s, true in cases if true is wanted] for wanted in (True, False)]
    area = ranked(np.array([float(s) for s, _ in cases]), np.array([true for _, true in cases]))
    assert math.isnan(area) if not positive or not negative else math.isclose(area, auroc(positive, negative))


def test_the_interval_of_an_area_holds_it_and_grows_with_fewer_cases() -> None:
    draw = np.random.default_rng(2)
    truth = draw.random(200) < 0.5
    scores = truth + draw.normal(0, 1, 200)
    low, high = auroc_interval(scores.tolist(), truth.tolist())
    assert low < ranked(scores, truth) < high
    few = auroc_interval(scores[:40].tolist(), truth[:40].tolist())
    assert few[1] - few[0] > high - low
    assert auroc_interval([0.5, 0.6], [True, True]) == (-math.inf, math.inf)


def test_the_calibration_error_weighs_each_bin_by_its_cases() -> None:
    assert ece([0.25, 0.25, 0.25, 0.25], [True, False, False, False]) == 0.0
    assert math.isclose(ece([1.0, 1.0, 0.0, 0.0], [True, False, False, False]), 0.25)
    assert reliability([0.05, 1.0, 0.95], [False, True, False]) == [(1, 0.05, 0.0), (2, 0.975, 0.5)]


def test_a_logistic_regression_finds_the_coefficients_it_was_drawn_from() -> None:
    draw = np.random.default_rng(3)
    features = draw.normal(size=(20_000, 2))
    truth = draw.random(20_000) < sigmoid(0.5 + features @ np.array([1.0, -2.0]))
    assert np.allclose(logistic(features, truth.astype(float)), [0.5, 1.0, -2.0], atol=0.1)


def test_a_logistic_regression_of_what_is_told_apart_without_error_is_finite() -> None:
    weights = logistic(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert np.isfinite(weights).all()
    assert weights[1] > 5


# The pictures of a report: images that can be opened, with all of what they say inside their edges.


PAPER = 1.0
"""Of each channel of a white pixel."""
INCHES = plots.DPI
LONG = [f"adaptive_self_consistency@{number}" for number in range(9)]


def opened(picture: bytes) -> Any:
    """Rows of pixels, as matplotlib itself reads them."""
    from matplotlib.image import imread

    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return imread(io.BytesIO(picture))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def told(rows: list[tuple[float, float, float]], auroc: float | None = 0.8) -> dict[str, Any]:
    return {"reliability": rows, "auroc": auroc, "ece": 0.1}


def arm(tokens: float, accuracy: float, low: float, high: float) -> dict[str, Any]:
    return {"tokens": tokens, "accuracy": accuracy, "interval": [low, high]}


CROWDED = {name: arm(900.0 * at, 0.1 * at, 0.1 * at - 0.05, 0.1 * at + 0.05) for at, name in enumerate(LONG, 1)}
MANY = [(1_000.0, 0.1, 0.2), (3_000.0, 1.0, 1.0)]
PICTURES: dict[str, Callable[[], bytes]] = {
    "one method that is always right": lambda: plots.accuracy_against_tokens({"direct": arm(450.0, 1.0, 0.7, 1.0)}),
    "methods with long names": lambda: plots.accuracy_against_tokens(CROWDED),
    "a confidence of one answer": lambda: plots.reliability("direct", {"likelihood": told([(1, 0.9, 1.0)], None)}),
    "thousands of answers": lambda: plots.reliability("insula", {name: told(MANY) for name in LONG[:4]}),
    "no confidence at all": lambda: plots.reliability("self_refine", {}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_opened_is_of_a_readable_size_and_nothing_is_cut_off_at_its_edges(name: str) -> None:
    drawn = PICTURES[name]()
    assert drawn == PICTURES[name](), "the same figures give the same bytes"
    pixels = opened(drawn)
    height, width, _ = pixels.shape
    assert 4 * INCHES <= width <= 8 * INCHES
    assert 3 * INCHES <= height <= 8 * INCHES
    assert pixels[..., :3].min() < 0.5, "there is ink"
    edges = (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])
    assert all((edge[..., :3] == PAPER).all() for edge in edges), "and none of it touches an edge"
