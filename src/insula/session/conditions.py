"""Whether a session is under load: how much slower its model is than usual, how full working memory is (S7).

A long answer is no slow one, a long prompt neither, and Insula's own time is none of the model's. So an answer is
compared with what the model usually takes for as many tokens, and what a host does not know is not guessed.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from statistics import median
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from insula.types import Usage
from insula.value import is_list, is_number

WINDOW_SECONDS = 300.0
"""How far back "now" reaches where turns are frequent, so that old turns mask no recovery (S7)."""
OLDEST_SECONDS = 3_600.0
"""No turn older than this counts as now, however few there are."""
KEPT = 500
"""Turns that a caller needs to keep, so that a busy service spends no time on a percentile (seed 003, its code)."""
MINIMUM = 20
"""The smallest sample of which a p95 is taken: of fewer, the p95 by nearest rank is the slowest turn alone (S7)."""
LEAST_NOW = 8
"""The smallest sample that says how slow a model is now: of fewer, a model whose times spread as hosted ones' do
(log-normal, sigma 0.5) is called slow by chance once in a few hundred turns (ours; `insula bench slowness`)."""
LEAST_USUAL = 20
"""Answers before anything is known of what is usual for a model (S7)."""
KEPT_USUAL = 60
"""Answers by which it is known. Once half of them are slow, slow is usual: after 30 turns, and half an hour."""
APART_SECONDS = 60.0
"""How far apart they lie, once there are enough: else a busy service would call usual what began a minute ago."""
MODELS = 16
"""Models of which what is usual is not worked out anew for each answer."""
FELT_SECONDS = 0.1
"""What takes less is not felt as waiting (Nielsen 1993), however fast the model is otherwise."""
EDGE = 0.1
"""Share of the answers at either end beyond which what is usual for their length is not known, and taken in the model's
favour."""
P95 = 0.95
_AT = attrgetter("at")

Measure = Literal["first_token", "answer"]
"""What was timed: a prompt until the first token came back, or all of an answer."""
PROMPT: Measure = "first_token"
ANSWER: Measure = "answer"


class Latency(NamedTuple):
    """How long one turn took."""

    at: float
    """When it ended, in seconds since the epoch."""
    ms: float


class Observation(NamedTuple):
    """How long a model took for one answer."""

    at: float
    """When it ended, in seconds since the epoch."""
    measure: Measure
    seconds: float
    tokens: int
    """Of the prompt where the first token was timed, of the answer where all of it was."""


class Slowness(NamedTuple):
    """How slow one answer was."""

    at: float
    times: float
    """As a multiple of what is usual for such an answer."""


T = TypeVar("T", Latency, Slowness)


@dataclass(frozen=True, slots=True)
class UsualTime:
    """What a model usually takes: so much in any case, and so much for each token."""

    fixed: float
    per_token: float
    shortest: int
    longest: int

    def seconds_for(self, tokens: int) -> float:
        """For so many tokens: of fewer than were seen as many as the fewest, of more at most in proportion."""
        known = self.fixed + self.per_token * min(max(tokens, self.shortest), self.longest)
        return known * max(1.0, tokens / self.longest if self.longest else 1.0)


@dataclass(frozen=True, slots=True)
class Pace:
    """How slow a model usually is, and how slow it has been lately."""

    usual: Mapping[Measure, tuple[Observation, ...]] = field(default_factory=dict[Measure, tuple[Observation, ...]])
    """The answers by which the usual is known, oldest first."""
    recent: tuple[Slowness, ...] = ()

    def observe_answer(self, new: Observation) -> "Pace":
        """The pace after one more answer, which is compared with those before it."""
        before = self.usual.get(new.measure, ())
        normal, recent = fit_usual(before), self.recent
        if normal is not None:
            times = max(FELT_SECONDS, new.seconds) / max(FELT_SECONDS, normal.seconds_for(new.tokens))
            recent = (*recent, Slowness(new.at, times))[-KEPT:]
        is_soon = len(before) >= LEAST_USUAL and 0 <= new.at - before[-1].at < APART_SECONDS
        kept = before if is_soon else (*before, new)[-KEPT_USUAL:]
        return replace(self, usual={**self.usual, new.measure: kept}, recent=recent)

    def measure_slowdown(self, now: float) -> float | None:
        """How many times slower than usual the model is now: the median of the last answers.

        Returns:
            None where fewer than `LEAST_NOW` answers can be compared.
        """
        known = _select_recent(self.recent, now)
        if len(known) < LEAST_NOW:
            return None
        frequent = sum(now - answer.at <= WINDOW_SECONDS for answer in known)
        return round(median(answer.times for answer in known[-max(frequent, LEAST_NOW) :]), 2)


def observe_turn(usage: Usage, at: float) -> Observation | None:
    """What the cost of a turn says of its model's pace; None where the host does not know enough.

    Args:
        usage: of a turn; where the model was called more than once, one call is taken for like another.
    """
    first, calls = usage.seconds_to_first_token, max(1, usage.calls)
    if first is not None and _is_time(first):
        return Observation(at, PROMPT, first, max(0, usage.input_tokens) // calls)
    if usage.output_tokens > 0 and _is_time(usage.seconds):
        return Observation(at, ANSWER, usage.seconds / calls, max(1, usage.output_tokens // calls))
    return None


@lru_cache(maxsize=MODELS)
def fit_usual(observations: tuple[Observation, ...]) -> UsualTime | None:
    """What observations of one measure say is usual: the line of Theil (1950) and Sen (1968) through them.

    It stays where it is until a third of them are far off it, and never falls with the number of tokens. Many turns ask
    of the same observations, since those that follow closely are not kept.

    Returns:
        None where there are fewer than `LEAST_USUAL`.
    """
    if len(observations) < LEAST_USUAL:
        return None
    seconds = np.array([answer.seconds for answer in observations])
    tokens = np.array([answer.tokens for answer in observations])
    left, right = np.triu_indices(len(observations), 1)
    apart = tokens[right] - tokens[left]
    slopes = ((seconds[right] - seconds[left])[apart != 0]) / apart[apart != 0]
    slope = max(0.0, float(np.median(slopes))) if slopes.size else 0.0
    fixed = float(np.median(seconds - slope * tokens))
    if fixed < 0:
        fixed, slope = 0.0, float(np.median(seconds / np.maximum(1, tokens)))
    lengths, edge = sorted(answer.tokens for answer in observations), int(EDGE * len(observations))
    return UsualTime(fixed, slope, lengths[edge], lengths[-1 - edge])


def write_pace(pace: Pace) -> dict[str, list[list[float]]]:
    """What is usual for a model, as plain JSON."""
    return {
        measure: [[answer.at, answer.seconds, answer.tokens] for answer in observations]
        for measure, observations in pace.usual.items()
    }


def read_pace(data: Mapping[str, object]) -> Pace:
    """The pace that was written; what cannot be read of it is left out, and what was lately is of another time."""
    known: dict[Measure, tuple[Observation, ...]] = {}
    for measure in (PROMPT, ANSWER):
        rows = data.get(measure)
        answers = [answer for row in (rows if is_list(rows) else ()) if (answer := _read_observation(measure, row))]
        if answers:
            known[measure] = tuple(answers[-KEPT_USUAL:])
    return Pace(known)


def percentile_95(values: Iterable[float]) -> float | None:
    """The 95th percentile by nearest rank (the value at rank ⌈0.95·n⌉), in the unit of the values.

    Returns:
        None where there is no finite value.
    """
    finite = sorted(value for value in values if math.isfinite(value))
    return finite[math.ceil(P95 * len(finite)) - 1] if finite else None


def recent_p95(latencies: Iterable[Latency], now: float) -> float | None:
    """The p95 of the turns of the last `WINDOW_SECONDS`, or of the last `MINIMUM` where those are fewer.

    A window by time alone would forget a slow model for its very slowness: the slower the turns, the fewer there are.

    Args:
        latencies: of one model, in any order; its last `KEPT` are enough.

    Returns:
        Milliseconds; None where there are fewer than `MINIMUM` turns in the last `OLDEST_SECONDS`.
    """
    known = _select_recent(latencies, now)
    if len(known) < MINIMUM:
        return None
    frequent = len(known) - bisect_left(known, now - WINDOW_SECONDS, key=_AT)
    return percentile_95([turn.ms for turn in known[-max(frequent, MINIMUM) :]])


def _select_recent(timed: Iterable[T], now: float) -> list[T]:
    # After a clock was put back, turns of its future would hide those that follow until it has caught up.
    return sorted([entry for entry in timed if 0 <= now - entry.at <= OLDEST_SECONDS], key=_AT)


def _is_time(seconds: float) -> bool:
    return math.isfinite(seconds) and seconds > 0


def _read_observation(measure: Measure, row: object) -> Observation | None:
    values = row if is_list(row) else []
    if len(values) != len(Observation._fields) - 1 or not all(map(is_number, values)):
        return None
    at, seconds, tokens = values
    return Observation(at, measure, seconds, int(tokens)) if seconds > 0 and tokens >= 0 else None


Reason = Literal["performance_degraded", "stm_high_utilization"]
DEGRADED: Reason = "performance_degraded"
STM_HIGH: Reason = "stm_high_utilization"

DWELL_SECONDS = 30.0
"""How long a condition stays as it is, once it has changed (S7: a minimum dwell; the number is ours)."""
STM_ENTER = 0.85
"""Utilisation from which working memory is highly used (seed 003)."""
STM_LEAVE = 0.70
"""Below this it no longer is; also, where the snapshot interval relaxes (seed 003)."""


@dataclass(frozen=True, slots=True)
class ConditionBand:
    """Where a condition begins and ends; between the two it stays as it is."""

    enter: float
    """A value at or above this begins it."""
    leave: float
    """A value below this ends it."""


STM_BAND = ConditionBand(STM_ENTER, STM_LEAVE)
DEGRADED_BAND = ConditionBand(2.0, 1.5)
"""In multiples of what is usual for the model: who waits twice as long notices (ours; how often chance reaches it is
measured by `insula bench slowness`)."""
SEVERE_BAND = ConditionBand(4.0, 3.0)
"""In multiples of what is usual for the model: so slow that stages are skipped (S11; the numbers are ours)."""


def describe_slowdown(times: float) -> str:
    """How slow a model is, for a person: in figures only where it is slower than what ends degradation."""
    if times < DEGRADED_BAND.leave:
        return "the model is as fast as usual"
    return f"the model takes {times:.1f} times as long as usual"


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether something holds, and since when."""

    active: bool = False
    since: float | None = None
    """When it last changed, in seconds since the epoch; None where it never has."""

    def observe_value(self, at: float, value: float | None, band: ConditionBand) -> "Condition":
        """The condition after a value was seen.

        Args:
            value: None where it is not known: then nothing supports the condition, and it ends after its dwell.
            band: where the condition begins and ends.
        """
        active = self.active
        if value is None or value < band.leave:
            active = False
        elif value >= band.enter:
            active = True
        return self if active == self.active or self._is_dwelling(at) else Condition(active, at)

    def _is_dwelling(self, at: float) -> bool:
        # A clock that was put back must not hold a condition until it has caught up.
        return self.since is not None and 0 <= at - self.since < DWELL_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions of one session; they start anew with the process."""

    degraded: Condition = Condition()
    severe: Condition = Condition()
    stm_high: Condition = Condition()

    def observe_turn(self, at: float, slowdown: float | None, utilization: float | None) -> "Conditions":
        """The conditions of the next turn.

        Args:
            slowdown: of the model, as a multiple of what is usual for it (`latency.Pace.slowdown`).
            utilization: of working memory, in [0, 1].
        """
        return replace(
            self,
            degraded=self.degraded.observe_value(at, slowdown, DEGRADED_BAND),
            severe=self.severe.observe_value(at, slowdown, SEVERE_BAND),
            stm_high=self.stm_high.observe_value(at, utilization, STM_BAND),
        )

    @property
    def active(self) -> tuple[tuple[Reason, float], ...]:
        """The conditions that hold, each with when it began in seconds since the epoch; always in the same order."""
        known: tuple[tuple[Reason, Condition], ...] = ((DEGRADED, self.degraded), (STM_HIGH, self.stm_high))
        return tuple((reason, condition.since or 0.0) for reason, condition in known if condition.active)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The conditions that hold: what an adaptation gives as its reason."""
        return tuple(reason for reason, _ in self.active)
