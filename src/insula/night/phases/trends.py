"""Whether the quality of responses rises or falls, as far as it can be told from chance (K6)."""

from collections.abc import Sequence
from typing import TypedDict

from insula.memory.storage.rows import Noticed
from insula.night.cycle import Night, Result
from insula.stats import slope
from insula.types import PASS_THRESHOLD, TURN
from insula.value import is_number, is_object

DAYS = 90
"""Days that a trend looks back on."""
TURNS = 500
"""The latest assessments that it is made of: pairs of them are compared, each with each."""
FEWEST = 20
"""Assessments below which no trend is spoken of."""
SHORT = 0.1
"""Share of the answers of the worse half that must have fallen short for a trend to be news: while answers pass, their
scores may rise and fall."""
_DAY = 86_400.0


class TooFew(TypedDict):
    """There is no telling yet."""

    assessments: int


class Half(TypedDict):
    """The earlier or the later half of the answers."""

    answers: int
    short: int
    """Those that fell short."""


class Report(TooFew):
    """How the quality of responses changes, as far as can be told from chance."""

    per_30_days: float
    interval: list[float | None]
    verdict: str
    earlier: Half
    later: Half
    news: bool
    """Whether it is told: it can be told from chance, and answers did fall short."""


async def trend(night: Night) -> Result:
    """The phase: slope of the assessments per day, with its interval, and what the scores rest on."""
    turns = await night.noticed(TURN, DAYS)
    scores = assessed(turns)[-TURNS:]
    if len(scores) < FEWEST:
        why = f"{len(scores)} assessments in {DAYS} days are too few for a trend ({FEWEST})."
        return Result(TooFew(assessments=len(scores)), skipped=why)
    return Result(told(scores))


def assessed(turns: Sequence[Noticed]) -> list[tuple[float, float]]:
    """Day and score of the responses of which something could be told."""
    found: list[tuple[float, float]] = []
    for turn in turns:
        assessment = turn.data.get("assessment")
        score = assessment.get("score") if is_object(assessment) and not assessment.get("unclear") else None
        if is_number(score):
            found.append((turn.at / _DAY, float(score)))
    return found


def told(scores: Sequence[tuple[float, float]]) -> Report:
    """The trend in figures: change of the score per 30 days, and what may be said of it."""
    per_day, low, high = slope([day for day, _ in scores], [score for _, score in scores])
    verdict = "rising" if low > 0 else "falling" if high < 0 else "no trend that can be told from chance"
    middle = len(scores) // 2
    earlier, later = _half(scores[:middle]), _half(scores[middle:])
    worse = {"rising": earlier, "falling": later}.get(verdict)
    return {
        "assessments": len(scores),
        "per_30_days": round(30 * per_day, 4),
        "interval": [_finite(30 * low), _finite(30 * high)],
        "verdict": verdict,
        "earlier": earlier,
        "later": later,
        "news": bool(worse and worse["short"] >= SHORT * worse["answers"]),
    }


def _half(scores: Sequence[tuple[float, float]]) -> Half:
    return Half(answers=len(scores), short=sum(score < PASS_THRESHOLD for _, score in scores))


def _finite(value: float) -> float | None:
    return round(value, 4) if abs(value) < 1e9 else None
