"""The senses: each looks at what an agent has done so far, and tells what it feels, or nothing.

A sense is one file with all that it is: what it feels, what it exempts, how it counts, what is said of it, its label.
To add one, write the file and name it in a table below; whether it speaks by default stands in `register`. A call loads
only those that may feel something after it: the hook has milliseconds.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from insula.coding.step.action import Action
    from insula.coding.step.senses.protocol import EndSense, ForeseeingSense, Sense
    from insula.coding.step.state import State

CLIMBING = frozenset(("nociception", "vestibular"))
"""The senses whose readings mean that the agent is stuck, and so climb the ladder."""
AFTER_CALLS: "dict[str, Callable[[State, Action], object]]" = {
    "against_words": lambda state, action: action.breaks or state.words,
    "bypass": lambda state, action: action.acts,
    "nociception": lambda state, action: action.failed,
    "vestibular": lambda state, action: action.waits or any(past.call == action.call for past in state.window[:-1]),
    "spatial": lambda state, action: action.importers,
    "o2": lambda state, action: state.carry.pace,
    "chronos": lambda state, action: state.carry.user_at,
}
"""Those that feel after a call, and when they may; of several that do, the first speaks."""
BEFORE_CALLS = ("against_words", "bypass")
"""Those that feel by what is about to be done, too: what they tell then is not told again after it."""
AT_END = ("unmet",)
"""Those that feel when the agent stops."""
EVERY = frozenset((*AFTER_CALLS, *AT_END, "told_again"))


def load_sense(name: str) -> "Any":
    """The module of a sense."""
    return __import__(f"{__name__}.{name}", fromlist=["NAME"])


def senses_after(state: "State", action: "Action", on: "frozenset[str]") -> "Iterator[Sense]":
    """The senses that are on and may feel something after a call."""
    return (load_sense(name) for name, may_feel in AFTER_CALLS.items() if name in on and may_feel(state, action))


def senses_before(on: "frozenset[str]") -> "Iterator[ForeseeingSense]":
    """The senses that are on and may feel something before a call."""
    return (load_sense(name) for name in BEFORE_CALLS if name in on)


def senses_at_end(on: "frozenset[str]") -> "Iterator[EndSense]":
    """The senses that are on and may feel something when the agent stops."""
    return (load_sense(name) for name in AT_END if name in on)
