"""How loud to speak to an agent that is stuck: awareness, then Socratic, then directive, then the user (seed 002)."""

from insula.step.senses import Reading
from insula.value import Value

AWARENESS = 1
SOCRATIC = 2
DIRECTIVE = 3
FLAG = 4
"""The agent is asked to turn to the user: the top, an impasse."""

COOLDOWN = 3
"""Calls between two rungs above the Socratic one: time to act on what was said."""
CALM = 3
"""Successes in a row after which the ladder is at its foot again (seed 002)."""


class Ladder(Value):
    """Where an agent stands on it."""

    rung: int = 0
    since: int = 0
    """Calls since something was said."""
    calm: int = 0
    """Successes in a row without a reading."""


def climb(ladder: Ladder, reading: Reading | None, ok: bool) -> tuple[Ladder, int]:
    """The ladder after an action, and the rung to speak from now; 0 is silence.

    Args:
        ladder: where the agent stood.
        reading: what nociception or vestibular felt.
        ok: whether the action succeeded.
    """
    if reading is None:
        calm = ladder.calm + 1 if ok else 0
        return (Ladder() if calm >= CALM else ladder.replace(calm=calm, since=ladder.since + 1)), 0
    rung = _next(ladder, reading)
    if rung:
        return Ladder(rung=rung), rung
    return ladder.replace(calm=0, since=ladder.since + 1), 0


def _next(ladder: Ladder, reading: Reading) -> int:
    if reading.severe and ladder.rung < SOCRATIC:
        return SOCRATIC
    if ladder.rung == 0:
        return AWARENESS
    if reading.severe and ladder.rung < FLAG and ladder.since + 1 >= COOLDOWN:
        return ladder.rung + 1
    return 0
