"""What a grammar lets through, and what models wrap around their JSON."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from insula.llm.structured import parse_object


class Step(BaseModel):
    effort: float | None = Field(default=None, ge=0, le=10)


class Verdict(BaseModel):
    score: float = Field(ge=0, le=1)
    difficulty: int = Field(default=50, ge=0, le=100)
    open: float = Field(default=0.5, gt=0, lt=1)
    why: str = Field(default="", max_length=10)
    steps: list[Step] = Field(default_factory=list[Step], max_length=2)


GOOD = '{"score": 0.5}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"```json\n{GOOD}",
        f"Here is my {{verdict}}:\n\n{GOOD}\n\nI hope that helps {{you}}.",
        f'{{"note": "not this one"}} but {GOOD}',
        '{"score": 0.5,\n "why": "a\nb"}',
    ],
    ids=["bare", "blanks", "fence", "fence without language", "open fence", "prose", "second object", "bare line end"],
)
def test_an_object_is_found_in_whatever_surrounds_it(text: str) -> None:
    assert parse_object(text, Verdict).score == 0.5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("I would say 0.5.", "no JSON object"),
        ('{"score": 0.5', "cut off"),
        ('{"steps": [{"effort": 1}, {"eff', "cut off"),
        ('{"score": "high"}', "score: Input should be a valid number"),
        ('{"difficulty": 3}', "score: Field required"),
        ('{"score": NaN}', "score"),
    ],
)
def test_what_cannot_be_used_says_why(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_object(text, Verdict)


def test_a_part_of_a_broken_object_is_not_taken_for_the_answer() -> None:
    with pytest.raises(ValueError, match="cut off"):
        parse_object('{"steps": [{"effort": 1}, {"effort": 2}', Step)


@given(
    score=st.floats(allow_nan=False) | st.integers(),
    difficulty=st.integers(),
    opened=st.floats(allow_nan=False, allow_infinity=False),
    why=st.text(),
    efforts=st.lists(st.none() | st.floats(allow_nan=False)),
)
def test_whatever_is_out_of_range_is_brought_into_it(
    score: float, difficulty: int, opened: float, why: str, efforts: list[float | None]
) -> None:
    said = {
        "score": score,
        "difficulty": difficulty,
        "open": opened,
        "why": why,
        "steps": [{"effort": effort} for effort in efforts],
    }
    verdict = parse_object(json.dumps(said), Verdict)
    assert verdict.score == min(max(score, 0), 1)
    assert verdict.difficulty == min(max(difficulty, 0), 100)
    assert 0 < verdict.open < 1
    assert verdict.why == why[:10]
    kept = [None if effort is None else min(max(effort, 0), 10) for effort in efforts[:2]]
    assert [step.effort for step in verdict.steps] == kept


def test_a_value_in_range_is_left_alone() -> None:
    value = math.nextafter(0.5, 1)
    assert parse_object(json.dumps({"score": value}), Verdict).score == value


def test_a_boolean_is_not_clamped_as_a_number() -> None:
    class Flagged(BaseModel):
        flag: bool

    assert parse_object('{"flag": true}', Flagged).flag is True
