"""The senses: each looks at what an agent has done so far, and tells what it feels, or nothing.

A sense is one file with all that it is: what it feels, what it exempts, how it counts, what is said of it, its label.
To add one, write the file and name it in the table below, or in that of `minding` or `ending`, whose senses
a call only pays for where they may feel something. Whether it speaks by default stands in `register`.
"""

from insula.step.senses import (
    absent,
    chronos,
    nociception,
    o2,
    oscillation,
    spatial,
    vanished,
    vestibular,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.step.senses.protocol import Sense


SENSES: "tuple[Sense, ...]" = (
    nociception,
    oscillation,
    vestibular,
    vanished,
    absent,
    spatial,
    o2,
    chronos,
)
"""Those that feel after each call; of several that feel something at once, the first speaks."""
CLIMBING = frozenset(sense.NAME for sense in SENSES if sense.CLIMBS)
"""The senses whose readings mean that the agent is stuck."""
