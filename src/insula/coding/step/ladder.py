"""How loud to speak of a trouble: awareness, then Socratic, then directive, then the user (seed 002).

Each trouble has a ladder of its own, known by the trouble's key. It climbs as the trouble goes on, waits while nothing
happens, and ends at its top.
"""

from insula.value import Value

AHEAD = -1
"""No rung: what is told before a call."""
AWARENESS = 1
SOCRATIC = 2
DIRECTIVE = 3
FLAG = 4
"""The agent is asked to turn to the user: the top, an impasse."""

GAPS = {AWARENESS: 2, SOCRATIC: 3, DIRECTIVE: 3}
"""By how much a trouble must have grown, in turns, before the next rung: time to act on what was said."""
APART = 6
"""Turns between texts of two different troubles."""
MOST = 12
"""Troubles whose ladders are kept."""


class Step(Value):
    """Where the agent stands on the ladder of one trouble."""

    key: str
    """Of the trouble."""
    rung: int
    count: int
    """How great the trouble was when it was last spoken of."""
    turn: int
    """When that was, in turns."""
    first: int
    """The turn of the first text."""
    at: float
    """When that was."""
    context: int = 0
    """Tokens in the context then, as the host counted them; 0 unknown."""
    sense: str = ""
    family: str = ""
    """What the trouble was with."""


def next_rung(steps: tuple[Step, ...], key: str, count: int, turn: int) -> int:
    """The rung to speak from now; 0 is silence."""
    step = next((step for step in steps if step.key == key), None)
    if step is None:
        return AWARENESS if all(turn - other.turn >= APART for other in steps) else 0
    if step.rung >= FLAG or count - step.count < GAPS[step.rung]:
        return 0
    return step.rung + 1
