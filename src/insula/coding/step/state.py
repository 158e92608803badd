"""What an agent has done so far, as far as it bears on what to tell it next; bounded, and kept between two hooks."""

from insula.coding.step.action import Action
from insula.coding.step.goal import Goal
from insula.coding.step.instructions.instruction import Instruction
from insula.coding.step.ladder import Step
from insula.coding.step.turn import ModelTurn
from insula.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

SENTENCES = 240
"""Sentences of ours that are remembered, so that none is said twice."""
KNOWN = 64
"""Ids of calls that are known, so that a hook installed twice counts once."""
KEYS = 40
"""Troubles without a ladder that were told of and are remembered."""


class Carry(Value):
    """What the window cannot hold: counts since the session began and since the user spoke."""

    context: int = 0
    """Tokens in the context, as the host last counted them; 0 unknown."""
    first_context: int = 0
    """... when it first did, ..."""
    first_turn: int = 0
    """... and in which turn."""
    pace: float = 0.0
    """Tokens that each of the first ten turns brought; 0 while that is not known."""
    o2_at: int = -1
    """Turn in which the velocity was last spoken of; -1 for never."""
    user_at: float = 0.0
    """When the user last spoke; 0 where nobody did, or nobody attends."""
    user_turn: int = 0
    """The turn that the agent was in then."""
    progress_turn: int = 0
    """The last turn since then in which a file was changed, or something was committed or shown to work."""
    level: int = 0
    """How often Chronos has spoken since then."""


class WatchedText(Value):
    """A text whose effect is still to be seen."""

    key: str
    count: int
    until: int
    """The turn after which it was heeded, if the trouble did not grow until then."""


class Wait(Value):
    """A poll that has given the same answer since."""

    answer: str
    """Digests of the call and of what came of it."""
    at: float
    first: int
    last: int
    turns: int = 1


class State(Value):
    """What an agent has done so far."""

    turn: ModelTurn = ModelTurn()
    window: tuple[Action, ...] = ()
    carry: Carry = Carry()
    goals: tuple[Goal, ...] = ()
    steps: tuple[Step, ...] = ()
    """Ladders of troubles that were spoken of."""
    words: tuple[Instruction, ...] = ()
    """The ledger of what the user has ruled out and demanded in this session."""
    asked: tuple[str, ...] = ()
    """What the user's last message asked for."""
    keys: tuple[str, ...] = ()
    """What was told of that is no ladder's: once is enough."""
    said: tuple[str, ...] = ()
    """Digests of the sentences that were said."""
    spoke: int = 0
    """The turn of the last text; one is enough for a turn."""
    watch: WatchedText | None = None
    wait: Wait | None = None
    known: tuple[str, ...] = ()
    done: tuple[Action, ...] | None = None
    """What was done in the session, where the agent stops and a hook has read it; never kept."""
    held: str = ""
    """A text that its host would have dropped, for the next time it listens."""


class Reading(Value):
    """What a sense feels."""

    sense: str
    count: int
    """Turns, rounds, calls, importers: what the sense counts."""
    key: str = ""
    """Of the trouble: the same while it goes on."""
    first: int = 0
    """The turn in which it began; 0 where it is of one moment."""
    form: str = ""
    """Which of the things that a sense tells apart."""
    goal: Goal | None = None
    label: str = ""
    """What it is about, as it may be named."""
    full: float = 0.0
    """Of O2: share of the context that is used; 0 unknown."""
    minutes: int = 0
    """Of Chronos and of waits: how long it has been."""
    said: str = ""
    """Words of the user's own that it is about."""
    kind: str = ""
    """Of a demand or a call: what it is of; of the user's words: `rule` where they are of an earlier session."""
    ahead: bool = False
    """Whether it is told before the call that it is of."""
    more: "tuple[Reading, ...]" = ()
    """What else of the same kind is told in the same text."""


# From and to JSON.

_LISTS: "dict[str, Any]" = {"window": Action, "goals": Goal, "steps": Step, "words": Instruction}
_VALUES: "dict[str, Any]" = {"turn": ModelTurn, "carry": Carry, "watch": WatchedText, "wait": Wait}
_TEXTS = ("asked", "keys", "said", "known")
_PLAIN = ("spoke", "held")


def dump_state(state: State) -> "Record":
    """A state as JSON holds it."""
    record: Record = {name: [each.as_dict() for each in getattr(state, name)] for name in _LISTS}
    for name in _VALUES:
        value = getattr(state, name)
        record[name] = value.as_dict() if value is not None else None
    return record | {name: getattr(state, name) for name in (*_TEXTS, *_PLAIN)}


def load_state(kept: "Record") -> State:
    """The state that was dumped.

    Raises:
        TypeError, KeyError: it is none.
    """
    fields: Record = {name: tuple(kind.of(each) for each in kept[name]) for name, kind in _LISTS.items()}
    for name, kind in _VALUES.items():
        fields[name] = kind.of(kept[name]) if kept[name] is not None else None
    fields |= {name: tuple(kept[name]) for name in _TEXTS}
    return State(**fields, **{name: kept[name] for name in _PLAIN})
