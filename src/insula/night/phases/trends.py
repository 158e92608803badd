"""Whether the quality of responses rises or falls, as far as it can be told from chance (K6)."""

from collections.abc import Sequence
from typing import NamedTuple

from insula.memory.storage.rows import StoredSignal
from insula.night.cycle import MeasuredEffect, Night, Result
from insula.stats import slope
from insula.types import PASS_THRESHOLD, TURN
from insula.value import is_number, is_object
from insula.worth import compare_outcomes, make_rate

DAYS = 90
"""Days that a trend looks back on."""
TURNS = 500
"""The latest assessments that it is made of: pairs of them are compared, each with each."""
FEWEST = 20
"""Assessments below which no trend is spoken of."""
MONTH_SCALE = 1.0
"""Scores lie between 0 and 1: where the line of a few days leads beyond that in a month, no month is spoken of."""
NO_TREND = "no trend that can be told from chance"
_DAY = 86_400.0


class Trend(NamedTuple):
    """How the quality of responses changes in 30 days, with what it rests on."""

    verdict: str
    change: float
    low: float
    high: float
    """Of the interval; infinite where there is no telling."""
    answers: tuple[int, int]
    """In the earlier and in the later half."""
    short: tuple[int, int]
    """Of these, those that fell short."""

    @property
    def is_news(self) -> bool:
        """Whether it is told: the scores rise or fall, and of the better half fewer answers fell short, as far as both
        can be told from chance; the second holds however often somebody looks, and a night looks each day."""
        if self.verdict == NO_TREND:
            return False
        earlier, later = (make_rate(short, of) for short, of in zip(self.short, self.answers, strict=True))
        fewer = compare_outcomes(later, earlier)
        return fewer.low > 0 if self.verdict == "rising" else fewer.high < 0


async def measure_trend(night: Night) -> Result:
    """The phase: slope of the assessments per day, with its interval, and what the scores rest on."""
    scores = list_scores(await night.list_signals(TURN, DAYS))[-TURNS:]
    if len(scores) < FEWEST:
        why = f"{len(scores)} assessments in {DAYS} days are too few for a trend ({FEWEST})."
        return Result({"assessments": len(scores)}, skipped=why)
    trend = fit_trend(scores)
    report = {"assessments": len(scores), "verdict": trend.verdict, "per_30_days": round(trend.change, 4)}
    if not trend.is_news:
        return Result(report)
    said = (
        f"Answers get {'better' if trend.verdict == 'rising' else 'worse'}: of the latest {trend.answers[1]}, "
        f"{trend.short[1]} fell short, and {trend.short[0]} of the {trend.answers[0]} before."
    )
    effect = MeasuredEffect(
        "how good answers are, in 30 days", trend.verdict, *(round(figure, 4) for figure in trend[1:4])
    )
    is_month = trend.low >= -MONTH_SCALE and trend.high <= MONTH_SCALE
    return Result(report, says=[said], effects=[effect] if is_month else ())


def list_scores(turns: Sequence[StoredSignal]) -> list[tuple[float, float]]:
    """Day and score of the responses of which something could be told."""
    scores: list[tuple[float, float]] = []
    for turn in turns:
        assessment = turn.data.get("assessment")
        score = assessment.get("score") if is_object(assessment) and not assessment.get("unclear") else None
        if is_number(score):
            scores.append((turn.at / _DAY, float(score)))
    return scores


def fit_trend(scores: Sequence[tuple[float, float]]) -> Trend:
    """The change of some scores by their day."""
    per_day, low, high = slope([day for day, _ in scores], [score for _, score in scores])
    verdict = "rising" if low > 0 else "falling" if high < 0 else NO_TREND
    middle = len(scores) // 2
    halves = scores[:middle], scores[middle:]
    answers = len(halves[0]), len(halves[1])
    earlier, later = (sum(score < PASS_THRESHOLD for _, score in half) for half in halves)
    return Trend(verdict, 30 * per_day, 30 * low, 30 * high, answers, (earlier, later))
