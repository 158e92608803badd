"""What a sense must have. A hook never loads this: `typing` would cost it half its budget."""

from collections.abc import Mapping
from typing import Protocol

from insula.coding.step.action import Action
from insula.coding.step.state import Reading, State


class SenseText(Protocol):
    """What every sense has: a name, a label for people, and what is said of what it feels."""

    @property
    def NAME(self) -> str: ...  # noqa: N802
    @property
    def LABEL(self) -> str: ...  # noqa: N802
    @property
    def ADVICE(self) -> Mapping[int, tuple[str, ...]]:  # noqa: N802
        """By rung, 0 for none, `AHEAD` before a call: what may follow the fact, each once in a session."""
        ...

    def fact(self, reading: Reading) -> str:
        """What is seen, with no word of an output, a file or a page (law 10)."""
        ...


class Sense(SenseText, Protocol):
    """A sense that feels after each call."""

    def feel(self, state: State, action: Action) -> Reading | None:
        """What it feels after an action; `state` holds it already."""
        ...


class ForeseeingSense(Sense, Protocol):
    """A sense that can tell by what is about to be done, too."""

    def foresee(self, state: State, action: Action) -> Reading | None:
        """What it feels before an action, of which only the command is known."""
        ...


class EndSense(SenseText, Protocol):
    """A sense that feels when the agent stops."""

    def feel_end(self, state: State, said: str) -> Reading | None:
        """What it feels; `said` are the agent's last words."""
        ...
