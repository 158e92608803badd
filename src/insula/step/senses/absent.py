"""Absent: what was looked for is not there, in turn after turn, though each time it was sought in another way.

Only turns since the last change of code count. At the end of a request fewer are enough: then the answer rests on what
was not found.
"""

from insula.step.action import Action
from insula.step.senses.turns import Group, groups
from insula.step.state import Reading, State
from insula.step.words import counted

NAME = "absent"
LABEL = "what it looks for is not there"
CLIMBS = False

LOOKED_BACK = 6
"""Turns of looking that count."""
FEWEST = 4
"""Turns since the last change of code: right after one, a search that finds nothing may be what was wanted."""
EMPTY, EMPTY_AT_END = 3, 2
"""Of them brought nothing."""


def feel(state: State, action: Action) -> Reading | None:
    """Whether what is looked for is missing again and again."""
    return _felt(state, EMPTY) if action.nothing else None


def feel_end(state: State, said: str) -> Reading | None:
    """Whether the agent answers after it has looked in vain."""
    return _felt(state, EMPTY_AT_END)


def _felt(state: State, least: int) -> Reading | None:
    last = [group for group in groups(state.window)[-LOOKED_BACK:] if group.number > state.carry.changed]
    empty = sum(map(_is_empty, last))
    if empty < least or len(last) < FEWEST:
        return None
    return Reading(sense=NAME, count=empty, key=f"absent {state.carry.user_turn}", form=str(len(last)))


def _is_empty(group: Group) -> bool:
    """Whether something was sought in a turn, and nothing in it brought anything."""
    return bool(group.actions) and all(action.nothing for action in group.actions)


def fact(reading: Reading) -> str:
    """How often nothing was found."""
    looked = counted(int(reading.form))
    return f"{counted(reading.count).capitalize()} of the last {looked} turns looked for something and found nothing."


ADVICE = {
    0: (
        "Look at one whole record of what is there, or ask the user where it is kept, before the next pattern.",
        "Is it known that it exists, in this place and under this name?",
    )
}
