"""The phases of a night, in their order: a file each, with the report that it leaves in the journal."""

from collections.abc import Sequence
from functools import partial

from insula.sleep.cycle import Phase
from insula.sleep.names import PhaseName
from insula.sleep.phases.calibration import calibrate
from insula.sleep.phases.consolidation import consolidate
from insula.sleep.phases.file import lay_down
from insula.sleep.phases.lessons import reinforce
from insula.sleep.phases.mistakes import learn
from insula.sleep.phases.reflection import reflect
from insula.sleep.phases.soul import guide
from insula.sleep.phases.statements import understand, understand_within
from insula.sleep.phases.summaries import summarise
from insula.sleep.phases.trends import trend
from insula.sleep.phases.wishes import settle

PHASES: tuple[tuple[PhaseName, Phase], ...] = (
    (PhaseName.SUMMARIES, summarise),
    (PhaseName.CONSOLIDATION, consolidate),
    (PhaseName.STATEMENTS, understand),
    (PhaseName.MISTAKES, learn),
    (PhaseName.WISHES, settle),
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
