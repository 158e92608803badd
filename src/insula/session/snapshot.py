"""What the session looks like from outside at one moment: figures, and no text of anybody's (S2, seed 003)."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from insula.session.saved import Advisory, Record

VERSION = 1
"""Of the schema below; a snapshot of another version is not read."""
ONE_USE = 0.1
"""Salience that one use adds to an item: what it may lack and still be within reach of promotion (S0)."""
FILLED = 11 / 32
"""Share of working memory's items that long talks fill with what is within reach of promotion: what the talks of a user
with an assistant reach, and one of five conversations of LoCoMo (`insula bench session`)."""

TurnStatus = Literal["stored", "skipped"]
"""Whether the last user turn was written to memory (seed 003)."""
NonNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Performance(Record):
    """How fast turns are, and whether the model is slower than usual."""

    latency_p95_ms: NonNegative | None = None
    """Milliseconds of whole turns, as somebody waits for them; absent until there are enough. It decides nothing."""
    slowdown: NonNegative | None = None
    """How many times longer than usual the model takes for such answers; absent until it can be told."""
    degraded: bool = False
    """Whether the model is so much slower that turns go without something."""


class Snapshot(Record):
    """One snapshot of a service instance; a figure that does not exist yet is absent, not zero."""

    version: Literal[1] = VERSION
    ts: float
    """When it was taken, in seconds since the epoch."""
    turn_counter: Count
    """User turns of the service instance so far."""
    performance: Performance
    recent_consolidation_selectivity: NonNegative | None = None
    """Promotions to long-term memory per item stored; above 1 where items stored earlier were promoted."""
    promotion_age_p95_seconds: NonNegative | None = None
    """How old items were when they were promoted."""
    stm_utilization: Share | None = None
    stm_capacity: Annotated[int, Field(ge=1)] | None = None
    last_user_turn_status: TurnStatus | None = None
    advisories: tuple[Advisory, ...] | None = None
    """What turns of all sessions went without since the snapshot before; absent where that is nothing."""


def measure_utilization(occupied: int | None, capacity: int | None) -> float | None:
    """How full working memory is of what matters, in [0, 1]; None where either is unknown."""
    return min(1.0, occupied / (FILLED * capacity)) if capacity and occupied is not None else None


def count_occupied(saliences: Iterable[float], consolidation_threshold: float) -> int:
    """How many items take up working memory: those that one more use would promote.

    Working memory always holds the last few things said, so that a count of all items is at its capacity from some turn
    on, whatever is said. Small talk, which may go at any time, takes no room.

    Args:
        saliences: of the items not yet promoted that were said lately.
        consolidation_threshold: the one in the settings; with a raised one, raising it would raise utilisation.
    """
    return sum(salience + ONE_USE >= consolidation_threshold for salience in saliences)
