"""The senses: each looks at what an agent has done so far, and tells what it feels, or nothing.

A sense is one file with all that it is: what it feels, what it exempts, how it counts, what is said of it, its label.
To add one, write the file and name it in the table below, or in that of `minding`, and in `ending`; whether it speaks
by default stands in `register`. A call loads only those that may feel something after it: the hook has milliseconds.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from insula.step.action import Action
    from insula.step.senses.protocol import Sense
    from insula.step.state import State

CLIMBING = frozenset(("nociception", "oscillation", "vestibular"))
"""The senses whose readings mean that the agent is stuck."""
MAY_FEEL: "dict[str, Callable[[State, Action], object]]" = {
    "nociception": lambda state, action: action.failed,
    "oscillation": lambda state, action: state.edits and state.edits[-1].turn == action.nth,
    "vestibular": lambda state, action: action.waits or any(one.call == action.call for one in state.window[:-1]),
    "vanished": lambda state, action: state.edits,
    "absent": lambda state, action: action.nothing,
    "spatial": lambda state, action: action.importers,
    "o2": lambda state, action: state.carry.pace,
    "chronos": lambda state, action: state.carry.user_at,
}
"""Those that feel after a call, and when they may; of several that do, the first speaks."""


def may_feel(state: "State", action: "Action", on: "frozenset[str]") -> "Iterator[Sense]":
    """The senses that are on and may feel something after a call."""
    for name, may in MAY_FEEL.items():
        if name in on and may(state, action):
            yield __import__(f"{__name__}.{name}", fromlist=["feel"])
