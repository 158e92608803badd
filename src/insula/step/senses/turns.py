"""The window as turns of the model, for the senses that compare what was done in one with what was done in another."""

from insula.step.action import Action
from insula.value import Value


class Group(Value):
    """What was done in one turn."""

    number: int
    actions: tuple[Action, ...]

    @property
    def signature(self) -> frozenset[tuple[str, str, bool]]:
        """What was called and what came of it, in whatever order."""
        return frozenset((action.call, action.result, action.ok) for action in self.actions)

    @property
    def failing(self) -> tuple[Action, ...]:
        """What failed in it."""
        return tuple(action for action in self.actions if action.failed)

    @property
    def going(self) -> bool:
        """Whether something went well in it."""
        return any(action.ok and not action.probes and not action.waits for action in self.actions)


def groups(window: tuple[Action, ...]) -> list[Group]:
    """The actions of a window, turn by turn."""
    found: list[Group] = []
    for action in window:
        if found and found[-1].number == action.nth:
            found[-1] = Group(number=action.nth, actions=(*found[-1].actions, action))
        else:
            found.append(Group(number=action.nth, actions=(action,)))
    return found
