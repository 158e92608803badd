"""Scores and difficulties are read on the scale that they are written on, or not at all."""

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solving import scores

from insula.llm.structured import parse_object
from insula_solve.mgv import Plan
from insula_solve.verification import of_hundred, read_scores


@pytest.mark.parametrize(
    "text",
    [
        "Coherence: 0.8\nPlausibility: 0.8\nConsistency: 0.8\nGoal-conduciveness: 0.8",
        "<evaluate> **COHERENCE**: 0.8/1 **Plausibility** - 0.8; consistency = 80% ... goal conduciveness score: .8",
        '{"coherence": 0.8, "plausibility": 0.8, "consistency": 0.8, "goal_conduciveness": 0.8}',
        "1. Coherence (0-1 scale): 0.8\n2. Plausibility (0-1): 0.8\n3. Consistency: 8/10\n4. Goal-Conduciveness: 8",
        "Coherence: X.X\nCoherence: 0.8 Plausibility: 0.8 Consistency: 0.8 Goal-conduciveness: 0.8 Evaluation: [Good.]",
    ],
)
def test_scores_are_read_however_they_are_written(text: str) -> None:
    read = read_scores(text)
    assert read is not None
    assert read[0].mean == pytest.approx(0.8)


@pytest.mark.parametrize(
    "text",
    ["", "Coherence: 0.8", "Coherence: NaN Plausibility: 1 Consistency: 1 Goal-conduciveness: 1", "inf", scores(-0.5)],
)
def test_scores_that_are_not_all_there_are_none(text: str) -> None:
    assert read_scores(text) is None


@given(st.text(max_size=200), st.lists(st.floats(allow_nan=True) | st.integers(), min_size=4, max_size=4))
def test_any_scores_are_within_bounds_or_none(noise: str, values: list[float]) -> None:
    read = read_scores(noise + scores(*values))
    if read is not None:
        assert 0 <= read[0].mean <= 1
        assert math.isfinite(read[0].mean)


def four(*written: str) -> str:
    """A verifier's reply with the four scores as they were written."""
    names = ("Coherence", "Plausibility", "Consistency", "Goal-conduciveness")
    return "\n".join(f"{name}: {value}" for name, value in zip(names, written, strict=True))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (("3.0", "8.5", "1.5", "9.0"), (0.3, 0.85, 0.15, 0.9)),
        (("1.0", "8", "1", "10"), (0.1, 0.8, 0.1, 1.0)),
        (("1.0", "1", "0", "1.0"), (1.0, 1.0, 0.0, 1.0)),
        (("1.5", "1.5", "1.5", "1.5"), (0.15,) * 4),
        (("0,9", "1,0", "0,8", ",7"), (0.9, 1.0, 0.8, 0.7)),
        (("8,5", "9,0", "3,0", "10"), (0.85, 0.9, 0.3, 1.0)),
        (("90", "85", "8", "70"), (0.9, 0.85, 0.08, 0.7)),
        (("8 out of 10", "3 of 5", "80 %", "7.5/10.0"), (0.8, 0.6, 0.8, 0.75)),
        (("0.8", "0.8", "8/10", "8"), (0.8,) * 4),
        (("8.", "9.", "7.", "6."), (0.8, 0.9, 0.7, 0.6)),
    ],
)
def test_each_score_is_read_on_its_scale(written: tuple[str, ...], meant: tuple[float, ...]) -> None:
    read = read_scores(four(*written))
    assert read is not None
    assert astuple(read[0]) == pytest.approx(meant)


def test_a_stated_range_is_the_scale() -> None:
    read = read_scores(
        "Coherence (0-10): 8\nPlausibility (0–10): 1\nConsistency (0 to 5): 4\nGoal-conduciveness [0-100]: 95"
    )
    assert read is not None
    assert astuple(read[0]) == pytest.approx((0.8, 0.1, 0.8, 0.95))


@pytest.mark.parametrize("beyond", ["12/10", "150%", "200", "0.8x", "1.2.3", "-1"])
def test_a_score_beyond_its_scale_is_none(beyond: str) -> None:
    assert read_scores(four(beyond, "0.9", "0.9", "0.9")) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *((70, 70), (70.0, 70), (72.6, 73), (0.7, 70), (1, 1), (0, 0), (250, 100), (-5, 0)),
        *(("0.7", 70), ("0,7", 70), (".7", 70), ("70%", 70), ("70 %", 70), ("7/10", 70), ("7 out of 10", 70)),
        *(("70", 70), ("70.5", 70), ("about 70", 70), ("70 (hard)", 70), ("1", 1), ("250", 100)),
    ],
)
def test_a_difficulty_is_read_however_it_is_written(said: object, meant: int) -> None:
    assert (
        parse_object(f'{{"task_features": "x", "difficulty": {_json(said)}, "strategy": "table"}}', Plan).difficulty
        == meant
    )


@pytest.mark.parametrize("said", ["high", "", "60-70", "step 3 of 4 is at 80", None, [70]])
def test_a_difficulty_that_says_nothing_is_none(said: object) -> None:
    assert of_hundred(said) == said
    with pytest.raises(ValueError, match="difficulty"):
        parse_object(f'{{"task_features": "x", "difficulty": {_json(said)}, "strategy": "table"}}', Plan)


def _json(said: object) -> str:
    import json

    return json.dumps(said)
