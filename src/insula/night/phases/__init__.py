"""The phases of a night, in their order."""

from collections.abc import Sequence
from functools import partial

from insula.night.cycle import Phase, PhaseName
from insula.night.phases.calibration import calibrate
from insula.night.phases.consolidation import consolidate
from insula.night.phases.lessons import reinforce
from insula.night.phases.mistakes import learn
from insula.night.phases.reflection import reflect
from insula.night.phases.soul import guide, lay_down
from insula.night.phases.statements import understand, understand_within
from insula.night.phases.summaries import summarise
from insula.night.phases.trends import trend

PHASES: tuple[tuple[PhaseName, Phase], ...] = (
    (PhaseName.SUMMARIES, summarise),
    (PhaseName.CONSOLIDATION, consolidate),
    (PhaseName.STATEMENTS, understand),
    (PhaseName.MISTAKES, learn),
    (PhaseName.REFLECTION, reflect),
    (PhaseName.LESSONS, reinforce),
    (PhaseName.SOUL, guide),
    (PhaseName.FILE, lay_down),
    (PhaseName.CALIBRATION, calibrate),
    (PhaseName.TRENDS, trend),
)


def understanding_phases(
    phases: Sequence[tuple[PhaseName, Phase]], understanding: str, tokens: int
) -> tuple[tuple[PhaseName, Phase], ...]:
    """Some phases as the settings have it: without the one that reads what was said where that is off, and that one
    within so many tokens a day.
    """
    within = partial(understand_within, tokens=tokens)
    kept = (one for one in phases if understanding != "off" or one[0] != PhaseName.STATEMENTS)
    return tuple((name, within if phase is understand else phase) for name, phase in kept)
