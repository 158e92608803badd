"""Whether the quality of responses rises or falls, as far as it can be told from chance (K6)."""

from collections.abc import Sequence
from typing import TypedDict

from insula.memory.rows import Noticed
from insula.sleep.cycle import Night, Result
from insula.stats import slope
from insula.types import TURN
from insula.value import is_number, is_object

DAYS = 90
"""Days that a trend looks back on."""
TURNS = 500
"""The latest assessments that it is made of: pairs of them are compared, each with each."""
FEWEST = 20
"""Assessments below which no trend is spoken of."""
_DAY = 86_400.0


class TooFew(TypedDict):
    """There is no telling yet."""

    assessments: int


class Report(TooFew):
    """How the quality of responses changes, as far as can be told from chance."""

    per_30_days: float
    interval: list[float | None]
    verdict: str


async def trend(night: Night) -> Result:
    """The phase: slope of the assessments per day, with its interval, and what the scores rest on."""
    turns = await night.noticed(TURN, DAYS)
    scores = assessed(turns)[-TURNS:]
    if len(scores) < FEWEST:
        why = f"{len(scores)} assessments in {DAYS} days are too few for a trend ({FEWEST})."
        return Result(TooFew(assessments=len(scores)), skipped=why)
    return Result(told(scores))


def assessed(turns: Sequence[Noticed]) -> list[tuple[float, float]]:
    """Day and score of the responses that were assessed."""
    found: list[tuple[float, float]] = []
    for turn in turns:
        assessment = turn.data.get("assessment")
        score = assessment.get("score") if is_object(assessment) else None
        if is_number(score):
            found.append((turn.at / _DAY, float(score)))
    return found


def told(scores: Sequence[tuple[float, float]]) -> Report:
    """The trend in figures: change of the score per 30 days, and what may be said of it."""
    per_day, low, high = slope([day for day, _ in scores], [score for _, score in scores])
    verdict = "rising" if low > 0 else "falling" if high < 0 else "no trend that can be told from chance"
    return {
        "assessments": len(scores),
        "per_30_days": round(30 * per_day, 4),
        "interval": [_finite(30 * low), _finite(30 * high)],
        "verdict": verdict,
    }


def _finite(value: float) -> float | None:
    return round(value, 4) if abs(value) < 1e9 else None
