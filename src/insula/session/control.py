"""What one turn may use, computed from settings and conditions and never changed (S5, S6, S11; law 6).

Nothing here restores anything: the settings go in and a new value comes out, so that a turn that raises, or one that
runs beside another, cannot leave a lowered limit behind.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from insula.session.adaptation import Adaptation, Stage
from insula.session.conditions import DEGRADED, Conditions
from insula.types import Controls

RETRIEVAL_FACTOR = 0.75
"""`max_context_items` is multiplied by this for each condition (S6)."""
RETRIEVAL_FLOOR = 4
"""Memories below which no condition lowers it (S6)."""
THRESHOLD_STEP = 0.05
"""What each condition adds to the consolidation threshold (S5)."""
THRESHOLD_CAP = 0.85
"""Above this no condition raises it (S5)."""
SKIPPED: tuple[Stage, ...] = ("embedding", "assessor_model")
"""What a turn goes without under severe degradation (S11)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regulation:
    """What conditions make of the settings for one turn."""

    controls: Controls
    skipped: tuple[Stage, ...] = ()
    """Stages that this turn goes without."""
    adaptations: tuple[Adaptation, ...] = ()
    """All that are in force, each with its reason."""

    def newer_than(self, previous: "Regulation") -> tuple[Adaptation, ...]:
        """The adaptations that were not in force in the turn before: what goes on record."""
        return tuple(one for one in self.adaptations if one not in previous.adaptations)


def regulated(settings: Controls, conditions: Conditions) -> Regulation:
    """What a turn may use under the present conditions: the settings themselves where there are none.

    Args:
        settings: what a turn may use before conditions change it.
        conditions: those of the session.
    """
    number = len(conditions.active)
    controls = replace(
        settings,
        max_context_items=_items(settings, number),
        consolidation_threshold=_threshold(settings, number),
    )
    # A p95 that falls fast may end degradation while severity still dwells.
    skipped = SKIPPED if conditions.severe.active and conditions.degraded.active else ()
    made = (one for one in _adaptations(settings, conditions, skipped) if one.before != one.after)
    return Regulation(controls=controls, skipped=skipped, adaptations=tuple(made))


def _items(settings: Controls, conditions: int) -> int:
    """Memories for a number of conditions; a limit that is set below the floor is left alone."""
    lowered = math.floor(settings.max_context_items * RETRIEVAL_FACTOR**conditions)
    return min(settings.max_context_items, max(RETRIEVAL_FLOOR, lowered))


def _threshold(settings: Controls, conditions: int) -> float:
    """Threshold for a number of conditions; one that is set above the cap is left alone."""
    if not conditions:
        return settings.consolidation_threshold
    raised = round(settings.consolidation_threshold + THRESHOLD_STEP * conditions, 4)
    return max(settings.consolidation_threshold, min(THRESHOLD_CAP, raised))


def _adaptations(settings: Controls, conditions: Conditions, skipped: tuple[Stage, ...]) -> Iterator[Adaptation]:
    """Each lever for each condition in turn, whether it moved or was at its limit already."""
    for number, (reason, since) in enumerate(conditions.active):
        yield Adaptation(
            at=since,
            lever="max_context_items",
            reason=reason,
            before=_items(settings, number),
            after=_items(settings, number + 1),
        )
        yield Adaptation(
            at=since,
            lever="consolidation_threshold",
            reason=reason,
            before=_threshold(settings, number),
            after=_threshold(settings, number + 1),
        )
    began = conditions.severe.since or 0.0
    yield Adaptation(at=began, lever="skipped_stages", reason=DEGRADED, before=(), after=skipped)
