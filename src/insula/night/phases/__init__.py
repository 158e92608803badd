"""The phases of a night, in their order."""

from functools import partial

from insula.night.cycle import Phase, PhaseName
from insula.night.outcomes import calibrate_confidence
from insula.night.phases.consolidation import consolidate_memories
from insula.night.phases.lessons import reinforce_lessons
from insula.night.phases.mistakes import learn_corrections
from insula.night.phases.reflection import reflect_on_days
from insula.night.phases.soul import lay_down, render_soul
from insula.night.phases.summaries import summarise_sessions
from insula.night.phases.trends import measure_trend
from insula.night.understanding import understand_lines

PHASES: tuple[tuple[PhaseName, Phase], ...] = (
    (PhaseName.SUMMARIES, summarise_sessions),
    (PhaseName.CONSOLIDATION, consolidate_memories),
    (PhaseName.STATEMENTS, understand_lines),
    (PhaseName.MISTAKES, learn_corrections),
    (PhaseName.REFLECTION, reflect_on_days),
    (PhaseName.LESSONS, reinforce_lessons),
    (PhaseName.SOUL, render_soul),
    (PhaseName.FILE, lay_down),
    (PhaseName.CALIBRATION, calibrate_confidence),
    (PhaseName.TRENDS, measure_trend),
)


def understanding_phases(understanding: str, tokens: int) -> tuple[tuple[PhaseName, Phase], ...]:
    """The phases as the settings have it: without the one that reads what was said where that is off, and that one
    within so many tokens a day.
    """
    within = partial(understand_lines, tokens=tokens)
    kept = (phase for phase in PHASES if understanding != "off" or phase[0] != PhaseName.STATEMENTS)
    return tuple((name, within if phase is understand_lines else phase) for name, phase in kept)
