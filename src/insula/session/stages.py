"""How long the stages of a turn take, so that a person sees which of them a slow turn waits for."""

from collections import deque
from collections.abc import Mapping
from statistics import median
from typing import Literal, NamedTuple, get_args

from insula.session.latency import percentile_95
from insula.value import is_number, is_object

TurnStage = Literal["recall", "embedding", "write", "model", "assessment", "finish"]
"""Before the model: what memory holds and what is told of it (`recall`), the message written down (`write`). Behind it:
the response judged (`assessment`), and written down with the rest (`finish`). Vectors (`embedding`) are made within
`recall`, `write` and `finish`. What the host does beside its model is in none of them."""
STAGES: tuple[TurnStage, ...] = get_args(TurnStage)
KEPT = 200
"""Turns of which the times are kept."""


class StageTime(NamedTuple):
    """How long a stage takes, in milliseconds."""

    p50: float
    p95: float


class StageTimes:
    """The times of the last turns; after a restart those of before it, until there are new ones."""

    def __init__(self) -> None:
        self._ms: dict[TurnStage, deque[float]] = {}
        self._before: dict[TurnStage, StageTime] = {}

    def note_stage(self, stage: TurnStage, seconds: float) -> None:
        """Take in how long a stage took."""
        if stage not in self._ms:
            self._ms[stage] = deque(maxlen=KEPT)
        self._ms[stage].append(1_000 * seconds)

    def summarize(self) -> dict[TurnStage, StageTime]:
        """The median and the 95th percentile of each stage that was timed, in the order of a turn."""
        new = {
            stage: StageTime(round(median(ms), 2), round(percentile_95(ms) or 0.0, 2)) for stage, ms in self._ms.items()
        }
        times = self._before | new
        return {stage: times[stage] for stage in STAGES if stage in times}

    def dump_state(self) -> dict[str, dict[str, float]]:
        """What is to survive a restart, as plain JSON."""
        return {stage: times._asdict() for stage, times in self.summarize().items()}

    def restore_state(self, state: object) -> None:
        """Go on from a state that was written; what cannot be read of it is left out."""
        known: Mapping[str, object] = state if is_object(state) else {}
        for stage in STAGES:
            if is_object(times := known.get(stage)):
                middle, most = times.get("p50"), times.get("p95")
                if is_number(middle) and is_number(most):
                    self._before[stage] = StageTime(middle, most)
