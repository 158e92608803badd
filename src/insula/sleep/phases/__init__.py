"""The phases of a night, in their order: a file each, with the report that it leaves in the journal."""

from insula.sleep.cycle import Phase
from insula.sleep.names import PhaseName
from insula.sleep.phases.calibration import calibrate
from insula.sleep.phases.consolidation import consolidate
from insula.sleep.phases.file import lay_down
from insula.sleep.phases.lessons import reinforce
from insula.sleep.phases.mistakes import learn
from insula.sleep.phases.reflection import reflect
from insula.sleep.phases.soul import guide
from insula.sleep.phases.statements import complete
from insula.sleep.phases.summaries import summarise
from insula.sleep.phases.trends import trend
from insula.sleep.phases.wishes import settle

PHASES: tuple[tuple[PhaseName, Phase], ...] = (
    (PhaseName.SUMMARIES, summarise),
    (PhaseName.CONSOLIDATION, consolidate),
    (PhaseName.STATEMENTS, complete),
    (PhaseName.MISTAKES, learn),
    (PhaseName.WISHES, settle),
    (PhaseName.REFLECTION, reflect),
    (PhaseName.LESSONS, reinforce),
    (PhaseName.SOUL, guide),
    (PhaseName.FILE, lay_down),
    (PhaseName.CALIBRATION, calibrate),
    (PhaseName.TRENDS, trend),
)
