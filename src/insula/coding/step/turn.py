"""The model's turn: calls that it made at once are taken in together, however many there are and whatever they cost.

A host tells a turn by a batch event that ends it or by a name that its calls have; where it does neither, calls belong
together that overlap in time, or follow each other faster than a model can answer.
"""

from itertools import groupby

from insula.coding.step.action import Action
from insula.value import Value

TOGETHER = 0.25
"""Seconds between the end of a call and the beginning of another within which no model has answered."""
JUMP = 60.0
"""A clock that goes back by more has been set; what comes then is another turn."""
_MOST = 64
"""Calls of a turn that are remembered."""


class ModelTurn(Value):
    """The turn that the model is in, or was in last."""

    number: int = 0
    """Counted from 1; 0 before the first."""
    name: str = ""
    """The host's name of it."""
    ended: float = 0.0
    """When the last of its calls ended."""
    ids: tuple[str, ...] = ()
    """Its calls."""
    closed: bool = False
    """Whether the host has said that it is over."""


def enter_turn(turn: ModelTurn, action: Action) -> ModelTurn:
    """The turn that an action is of: this one, or the next."""
    if not _is_within(turn, action):
        ids = (action.id,) if action.id else ()
        return ModelTurn(number=turn.number + 1, name=action.turn, ended=action.at, ids=ids)
    known = (*turn.ids, action.id)[-_MOST:] if action.id and action.id not in turn.ids else turn.ids
    return turn.replace(ended=max(turn.ended, action.at), ids=known, name=turn.name or action.turn)


def close_turn(turn: ModelTurn, ids: tuple[str, ...]) -> ModelTurn:
    """The turn after the host has told of a batch: it is over, if it was of these calls.

    Some of them may still be told one by one: they are known by their ids.
    """
    if ids and turn.ids and not set(ids) & set(turn.ids):
        return turn
    return turn.replace(closed=True, ids=tuple(dict.fromkeys((*turn.ids, *ids)))[-_MOST:])


def _is_within(turn: ModelTurn, action: Action) -> bool:
    if turn.number == 0:
        return False
    if action.id and action.id in turn.ids:
        return True
    if turn.closed:
        return False
    if turn.name and action.turn:
        return turn.name == action.turn
    return turn.ended - JUMP <= action.at and action.at - action.seconds <= turn.ended + TOGETHER


class TurnActions(Value):
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
    def has_success(self) -> bool:
        """Whether something went well in it."""
        return any(action.ok and not action.probes and not action.waits for action in self.actions)


def group_by_turn(window: tuple[Action, ...]) -> list[TurnActions]:
    """The actions of a window, turn by turn."""
    groups = groupby(window, key=lambda action: action.nth)
    return [TurnActions(number=number, actions=tuple(actions)) for number, actions in groups]
