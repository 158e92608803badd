"""The senses: each looks at what an agent has done so far, and tells what it feels, or nothing.

A sense is one file with all that it is: what it feels, what it exempts, how it counts, what is said of it, its label.
To add one, write the file and name it in the table below.
"""

from insula.step.senses import (
    against_words,
    at_risk,
    chronos,
    nociception,
    o2,
    oscillation,
    spatial,
    unproven,
    vestibular,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.step.senses.protocol import Sense, Worded


SENSES: "tuple[Sense, ...]" = (against_words, at_risk, nociception, oscillation, vestibular, spatial, o2, chronos)
"""Those that feel after each call; of several that feel something at once, the first speaks."""
_AT_THE_END: "tuple[Worded, ...]" = (unproven,)
ALL: "dict[str, Worded]" = {sense.NAME: sense for sense in (*SENSES, *_AT_THE_END)}
CLIMBING = frozenset(name for name, sense in ALL.items() if sense.CLIMBS)
"""The senses whose readings mean that the agent is stuck."""
