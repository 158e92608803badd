"""What a module must have that knows a host. A hook never loads this: `typing` would cost it half its budget."""

from collections.abc import Callable
from typing import Any, Protocol

from insula.coding.step.action import Event
from insula.coding.step.person import Remark


class Dialect(Protocol):
    """What a module must have that knows a host."""

    @property
    def remarks(self) -> Callable[[str], tuple[Remark, ...]] | None:
        """What the user did since the agent last spoke, by the end of the host's record; None where it has none."""

    @property
    def turn(self) -> Callable[[str, str], str] | None:
        """The model's turn that a call is of, by the end of the host's record; None where it does not say."""

    @property
    def ask(self) -> Callable[[str, str], dict[str, object]] | None:
        """What lets the host ask the user before a call; None where it can't."""

    def event(self, payload: dict[str, Any], at: float) -> Event | None:
        """What the host tells; None where it is nothing that the senses need."""

    def answer(self, name: str, told: str) -> dict[str, object]:
        """What puts a text before the model, in answer to an event of that name."""
        ...

    def context(self, tail: str) -> tuple[int, int]:
        """Tokens in the context and the size of the window, by the end of the host's record; 0 unknown."""
        ...
