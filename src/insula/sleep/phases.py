"""The phases of a night, in their order."""

from insula.sleep.consolidation import consolidate
from insula.sleep.cycle import Phase
from insula.sleep.guidelines import guide, lay_down
from insula.sleep.lessons import learn, reinforce
from insula.sleep.outcomes import calibrate
from insula.sleep.reflection import reflect
from insula.sleep.summaries import summarise
from insula.sleep.trends import trend

PHASES: tuple[tuple[str, Phase], ...] = (
    ("summaries", summarise),
    ("consolidation", consolidate),
    ("mistakes", learn),
    ("reflection", reflect),
    ("lessons", reinforce),
    ("soul", guide),
    ("file", lay_down),
    ("calibration", calibrate),
    ("trends", trend),
)
