"""The senses that feel when the agent stops, and all senses by their names; a call of a tool pays for neither."""

from insula.step.senses import (
    absent,
    chronos,
    guessed,
    nociception,
    o2,
    oscillation,
    spatial,
    told_again,
    unmet,
    unproven,
    untrue,
    vanished,
    vestibular,
)
from insula.step.senses.minding import MINDING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.step.senses.protocol import Last, Sense, Worded

AFTER_CALLS: "tuple[Sense, ...]" = (nociception, oscillation, vestibular, vanished, absent, spatial, o2, chronos)

AT_THE_END: "tuple[Last, ...]" = (untrue, unmet, unproven, guessed, absent)
"""Of several that feel something, the first speaks."""
_WORDED: "tuple[Worded, ...]" = (*MINDING, *AFTER_CALLS, *AT_THE_END, told_again)
ALL: "dict[str, Worded]" = {sense.NAME: sense for sense in _WORDED}
EVERY = frozenset(ALL)
"""Their names, those of the senses that are off by default as well."""
