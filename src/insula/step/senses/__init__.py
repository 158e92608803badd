"""The senses: each looks at what an agent has done so far, and tells what it feels, or nothing.

A sense is one file with all that it is: what it feels, what it exempts, how it counts, what is said of it, its label.
To add one, write the file and name it in the table below.
"""

from insula.step.senses import (
    absent,
    against_words,
    at_risk,
    bypass,
    chronos,
    delivery,
    guessed,
    nociception,
    o2,
    oscillation,
    spatial,
    unproven,
    vanished,
    vestibular,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from insula.step.action import Action
    from insula.step.state import Reading, State

    class Worded(Protocol):
        """What every sense has: a name, a label for people, and what is said of what it feels."""

        @property
        def NAME(self) -> str: ...  # noqa: N802
        @property
        def LABEL(self) -> str: ...  # noqa: N802
        @property
        def CLIMBS(self) -> bool:  # noqa: N802
            """Whether its readings mean that the agent is stuck, and so climb the ladder."""
            ...

        @property
        def ADVICE(self) -> Mapping[int, tuple[str, ...]]:  # noqa: N802
            """By rung, 0 for none, `AHEAD` before a call: what may follow the fact, each once in a session."""
            ...

        def fact(self, reading: Reading) -> str:
            """What is seen, with no word of an output, a file or a page (law 10)."""
            ...

    class Sense(Worded, Protocol):
        """A sense that feels after each call."""

        def feel(self, state: State, action: Action) -> Reading | None:
            """What it feels after an action; `state` holds it already."""
            ...

    class Foreseeing(Worded, Protocol):
        """A sense that can tell by what is about to be done."""

        def foresee(self, state: State, action: Action) -> Reading | None:
            """What it feels before an action, of which only the command is known."""
            ...

    class Last(Worded, Protocol):
        """A sense that feels when the agent stops."""

        def feel_end(self, state: State, said: str) -> Reading | None:
            """What it feels; `said` are the agent's last words."""
            ...


SENSES: "tuple[Sense, ...]" = (
    against_words,
    at_risk,
    bypass,
    nociception,
    oscillation,
    vestibular,
    vanished,
    delivery,
    absent,
    spatial,
    o2,
    chronos,
)
"""Those that feel after each call; of several that feel something at once, the first speaks."""
FORESEEING: "tuple[Foreseeing, ...]" = (against_words, at_risk, bypass, delivery)
"""Those that feel before a call where the host asks; what they tell then is not told again after it."""
AT_THE_END: "tuple[Last, ...]" = (unproven, guessed, absent)
"""Those that feel when the agent stops, in that order too."""
ALL: "dict[str, Worded]" = {sense.NAME: sense for sense in (*SENSES, *AT_THE_END)}
CLIMBING = frozenset(name for name, sense in ALL.items() if sense.CLIMBS)
"""The senses whose readings mean that the agent is stuck."""
