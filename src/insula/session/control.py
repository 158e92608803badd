"""What one turn may use, computed from settings and conditions and never changed (S5, S6, S11; law 6).

Nothing here restores anything: the settings go in and a new value comes out, so that a turn that raises, or one that
runs beside another, cannot leave a lowered limit behind.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypedDict

from insula.session.adaptation import Adaptation, Cause, Figures, Stage
from insula.session.conditions import DEGRADED, Conditions, Reason
from insula.session.saved import Lever
from insula.types import Controls

RETRIEVAL_FACTOR = 0.75
"""`max_context_items` is multiplied by this for each condition (S6)."""
HISTORY_SHARES = 1.0, 0.75, 0.5
"""Share of the conversation that is sent along: as usual, degraded, severely degraded. What a model is to read before
its first token is what a slow one can be spared at the least loss: what was said is recalled all the same (ours)."""
RETRIEVAL_FLOOR = 4
"""Memories below which no condition lowers it (S6)."""
THRESHOLD_STEP = 0.05
"""What each condition adds to the consolidation threshold (S5)."""
THRESHOLD_CAP = 0.85
"""Above this no condition raises it (S5)."""
SKIPPED: tuple[Stage, ...] = ("embedding", "assessor_model")
"""What a turn goes without under severe degradation (S11)."""


class SpeedControls(TypedDict):
    """The controls that depend on nothing but how slow the model is."""

    history_share: float
    retry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Regulation:
    """What conditions make of the settings for one turn."""

    controls: Controls
    skipped: tuple[Stage, ...] = ()
    """Stages that this turn goes without."""


def regulate_controls(settings: Controls, conditions: Conditions) -> Regulation:
    """What a turn may use under the present conditions: the settings themselves where there are none.

    Args:
        settings: what a turn may use before conditions change it.
    """
    number = len(conditions.active)
    controls = replace(
        settings,
        max_context_items=_limit_items(settings, number),
        consolidation_threshold=_raise_threshold(settings, number),
        **_speed_controls(settings, conditions),
    )
    return Regulation(controls=controls, skipped=_skipped_stages(conditions))


def record_changes(
    settings: Controls, before: Conditions, after: Conditions, at: float, figures: Figures | None = None
) -> tuple[Adaptation, ...]:
    """What goes on record when conditions change: each lever that moved, first for what ended, then for what began.

    Args:
        settings: what a turn may use before conditions change it.
        found: the figures in view of which the conditions changed.
    """
    kept = sum(held in after.active for held in before.active)
    begun: list[Reason] = [reason for reason, since in after.active if (reason, since) not in before.active]
    made = [*_record_move(settings, "stable", len(before.active), kept, at)]
    for number, reason in enumerate(begun, kept):
        made += _record_move(settings, reason, number, number + 1, at)
    moved = (
        adaptation
        for adaptation in (*made, *_speed_changes(settings, before, after, at))
        if adaptation.before != adaptation.after
    )
    return tuple(adaptation.model_copy(update={"found": figures or Figures()}) for adaptation in moved)


def record_return(settings: Controls, adaptations: Iterable[Adaptation], at: float) -> tuple[Adaptation, ...]:
    """What goes on record when a process starts: conditions begin anew, so a lever left moved is back where it was.

    Args:
        settings: what a turn may use before conditions change it.
        adaptations: those of the process before, oldest first.
    """
    usual: dict[Lever, int | float | tuple[Stage, ...]] = {
        "max_context_items": settings.max_context_items,
        "consolidation_threshold": settings.consolidation_threshold,
        "history_share": settings.history_share,
        "retry": settings.retry,
        "skipped_stages": (),
    }
    last = {adaptation.lever: adaptation for adaptation in adaptations}
    return tuple(
        Adaptation(
            at=at, lever=adaptation.lever, reason="stable", before=adaptation.after, after=usual[adaptation.lever]
        )
        for adaptation in last.values()
        if adaptation.reason != "stable" and adaptation.after != usual.get(adaptation.lever, adaptation.after)
    )


def _limit_items(settings: Controls, conditions: int) -> int:
    """Memories for a number of conditions; a limit that is set below the floor is left alone."""
    lowered = math.floor(settings.max_context_items * RETRIEVAL_FACTOR**conditions)
    return min(settings.max_context_items, max(RETRIEVAL_FLOOR, lowered))


def _raise_threshold(settings: Controls, conditions: int) -> float:
    """Threshold for a number of conditions; one that is set above the cap is left alone."""
    if not conditions:
        return settings.consolidation_threshold
    raised = round(settings.consolidation_threshold + THRESHOLD_STEP * conditions, 4)
    return max(settings.consolidation_threshold, min(THRESHOLD_CAP, raised))


def _slowness_degree(conditions: Conditions) -> int:
    """How slow the model is: 0 as usual, 1 degraded, 2 severely."""
    # Times that fall fast may end degradation while severity still dwells.
    return 1 + conditions.severe.active if conditions.degraded.active else 0


def _skipped_stages(conditions: Conditions) -> tuple[Stage, ...]:
    return SKIPPED if _slowness_degree(conditions) > 1 else ()


def _speed_controls(settings: Controls, conditions: Conditions) -> SpeedControls:
    """What a slow model is spared, and a full working memory is not: history to read, and a second answer."""
    degree = _slowness_degree(conditions)
    return {
        "history_share": min(settings.history_share, HISTORY_SHARES[degree]),
        "retry": 0 if degree else settings.retry,
    }


def _record_move(settings: Controls, cause: Cause, old: int, new: int, at: float) -> Iterator[Adaptation]:
    """The two levers, each from a number of conditions to another, whether it moved or was at its limit already."""
    items = _limit_items(settings, old), _limit_items(settings, new)
    threshold = _raise_threshold(settings, old), _raise_threshold(settings, new)
    yield Adaptation(at=at, lever="max_context_items", reason=cause, before=items[0], after=items[1])
    yield Adaptation(at=at, lever="consolidation_threshold", reason=cause, before=threshold[0], after=threshold[1])


def _speed_changes(settings: Controls, before: Conditions, after: Conditions, at: float) -> Iterator[Adaptation]:
    """The levers that only a slow model moves."""
    cause = DEGRADED if _slowness_degree(after) > _slowness_degree(before) else "stable"
    old, new = _speed_controls(settings, before), _speed_controls(settings, after)
    share, retry = (old["history_share"], new["history_share"]), (old["retry"], new["retry"])
    yield Adaptation(at=at, lever="history_share", reason=cause, before=share[0], after=share[1])
    yield Adaptation(at=at, lever="retry", reason=cause, before=retry[0], after=retry[1])
    yield Adaptation(
        at=at, lever="skipped_stages", reason=cause, before=_skipped_stages(before), after=_skipped_stages(after)
    )
