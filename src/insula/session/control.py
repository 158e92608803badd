"""What one turn may use, computed from settings and conditions and never changed (S5, S6, S11; law 6).

Nothing here restores anything: the settings go in and a new value comes out, so that a turn that raises, or one that
runs beside another, cannot leave a lowered limit behind.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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


LeverValue = int | float | tuple[Stage, ...]
Values = Mapping[Lever, LeverValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regulation:
    """What conditions make of the settings for one turn."""

    controls: Controls
    skipped: tuple[Stage, ...] = ()
    """Stages that this turn goes without."""


def regulate_controls(settings: Controls, conditions: Conditions) -> Regulation:
    """What a turn may use under the present conditions: the settings themselves where there are none."""
    number, degree = len(conditions.active), _slowness_degree(conditions)
    controls = replace(
        settings,
        max_context_items=_limit_items(settings, number),
        consolidation_threshold=_raise_threshold(settings, number),
        history_share=min(settings.history_share, HISTORY_SHARES[degree]),
        retry=0 if degree else settings.retry,
    )
    return Regulation(controls=controls, skipped=SKIPPED if degree > 1 else ())


def record_changes(
    settings: Controls, before: Conditions, after: Conditions, at: float, figures: Figures | None = None
) -> tuple[Adaptation, ...]:
    """What goes on record when conditions change: each lever that moved, first for what ended, then for what began.

    Args:
        settings: what a turn may use before conditions change it.
        figures: those in view of which the conditions changed.
    """
    kept = sum(held in after.active for held in before.active)
    begun: list[Reason] = [reason for reason, since in after.active if (reason, since) not in before.active]
    moves: list[tuple[Cause, Values, Values]] = [
        ("stable", _values_under(settings, len(before.active)), _values_under(settings, kept)),
        *(
            (reason, _values_under(settings, number), _values_under(settings, number + 1))
            for number, reason in enumerate(begun, kept)
        ),
    ]
    slower = _slowness_degree(after) > _slowness_degree(before)
    moves.append((DEGRADED if slower else "stable", _speed_values(settings, before), _speed_values(settings, after)))
    return tuple(
        Adaptation(at=at, lever=lever, reason=cause, before=old[lever], after=new[lever], found=figures or Figures())
        for cause, old, new in moves
        for lever in old
        if old[lever] != new[lever]
    )


def record_return(settings: Controls, adaptations: Iterable[Adaptation], at: float) -> tuple[Adaptation, ...]:
    """What goes on record when a process starts: conditions begin anew, so a lever left moved is back where it was.

    Args:
        settings: what a turn may use before conditions change it.
        adaptations: those of the process before, oldest first.
    """
    usual = {**_values_under(settings, 0), **_speed_values(settings, Conditions())}
    last: dict[Lever, Adaptation] = {adaptation.lever: adaptation for adaptation in adaptations}
    return tuple(
        Adaptation(at=at, lever=lever, reason="stable", before=adaptation.after, after=usual[lever])
        for lever, adaptation in last.items()
        if adaptation.reason != "stable" and adaptation.after != usual.get(lever, adaptation.after)
    )


def _values_under(settings: Controls, conditions: int) -> Values:
    """Where the levers stand that each condition moves, under so many."""
    return {
        "max_context_items": _limit_items(settings, conditions),
        "consolidation_threshold": _raise_threshold(settings, conditions),
    }


def _speed_values(settings: Controls, conditions: Conditions) -> Values:
    """Where the levers stand that only a slow model moves: it is spared history to read, and a second answer."""
    made = regulate_controls(settings, conditions)
    return {
        "history_share": made.controls.history_share,
        "retry": made.controls.retry,
        "skipped_stages": made.skipped,
    }


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
