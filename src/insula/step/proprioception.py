"""An agent's sense of what it is doing: each action moves the state on, and now and then there is something to say.

Pure: the trace is folded through here by the hook, by a replay and by a benchmark alike.
"""

from insula.step.action import EDIT, WINDOW, Action
from insula.step.fingerprint import similar
from insula.step.ladder import FLAG, Ladder, climb
from insula.step.senses import (
    BASELINE_CALLS,
    CHRONOS,
    CLIMBING,
    O2,
    Carry,
    Reading,
    chronos,
    level,
    nociception,
    o2,
    spatial,
    tokens,
    vestibular,
)
from insula.step.wording import text
from insula.value import Value

WATCH = 3
"""Actions after a text that show whether it was heeded."""
_REMEMBERED = 64
"""Ids of calls that are known, so that a hook installed twice counts once."""


class Watch(Value):
    """A text whose effect is still to be seen."""

    sense: str
    rung: int
    call: str
    error: str
    left: int = WATCH


class State(Value):
    """What an agent has done so far, as far as it bears on what to tell it next."""

    window: tuple[Action, ...] = ()
    carry: Carry = Carry()
    ladder: Ladder = Ladder()
    watch: Watch | None = None
    known: tuple[str, ...] = ()
    held: str = ""
    """A text that its host would have dropped, for the next time it listens."""


class Sensed(Value):
    """The state after an action, and what came of it."""

    state: State
    readings: tuple[Reading, ...] = ()
    rung: int = 0
    """The rung that the text is from; 0 for silence and for texts that are no part of the ladder."""
    sense: str = ""
    """The sense that the text is of."""
    text: str = ""
    """What to tell the agent; empty for silence."""
    heeded: bool | None = None
    """Whether the text before was heeded, where this action settles it."""

    @property
    def impasse(self) -> bool:
        """Whether the ladder has been climbed to its top just now."""
        return self.rung == FLAG


def sense(state: State, action: Action) -> Sensed:
    """What the senses feel after an action, and the one thing to say about it, if any.

    Args:
        state: before the action.
        action: what was done.
    """
    if action.id and action.id in state.known:
        return Sensed(state=state)
    window = (*state.window, action)[-WINDOW:]
    carry = _counted(state.carry, window)
    if not action.ran:
        return Sensed(state=state.replace(carry=carry, known=_known(state, action)))
    felt = (nociception(window), vestibular(window), spatial(window), o2(window, carry), chronos(carry, action.at))
    readings = tuple(reading for reading in felt if reading is not None)
    stuck = next((reading for reading in readings if reading.sense in CLIMBING), None)
    ladder, rung = climb(state.ladder, stuck, action.ok)
    said = stuck if rung else next((reading for reading in readings if reading.sense not in CLIMBING), None)
    watch, heeded = _watched(state.watch, action)
    return Sensed(
        state=state.replace(
            window=window,
            carry=_told(carry, said, action.at),
            ladder=ladder,
            watch=_watching(said, rung, action) if rung and said else watch,
            known=_known(state, action),
        ),
        readings=readings,
        rung=rung,
        sense=said.sense if said else "",
        text=text(said, rung) if said else "",
        heeded=heeded,
    )


def hear(state: State, at: float) -> State:
    """The state after a message of the user's: whatever was, they know, and everything starts anew."""
    carry = state.carry.replace(user_at=at, steps=0, edits=0, level=0)
    return state.replace(window=(), carry=carry, ladder=Ladder(), watch=None)


def forget(state: State) -> State:
    """The state after the context was cleared or compacted: what was read before may well be read again."""
    return state.replace(window=(), ladder=Ladder(), watch=None, held="")


def _known(state: State, action: Action) -> tuple[str, ...]:
    return (*state.known, action.id)[-_REMEMBERED:] if action.id else state.known


def _counted(carry: Carry, window: tuple[Action, ...]) -> Carry:
    first = tokens(window) if carry.calls < BASELINE_CALLS else 0
    action = window[-1]
    return carry.replace(
        calls=carry.calls + 1,
        steps=carry.steps + 1,
        edits=carry.edits + (action.kind == EDIT and action.ok),
        first_tokens=carry.first_tokens + first,
    )


def _told(carry: Carry, said: Reading | None, now: float) -> Carry:
    if said is not None and said.sense == O2:
        return carry.replace(o2_at=carry.calls)
    if said is not None and said.sense == CHRONOS:
        return carry.replace(level=level(carry, now))
    return carry


def _watching(said: Reading, rung: int, action: Action) -> Watch:
    return Watch(sense=said.sense, rung=rung, call=action.call, error=action.error)


def _watched(watch: Watch | None, action: Action) -> tuple[Watch | None, bool | None]:
    """A text was heeded when the next actions neither repeat the call nor run into the same error."""
    if watch is None:
        return None, None
    if action.call == watch.call or (not action.ok and watch.error and similar(action.error, watch.error)):
        return None, False
    return (watch.replace(left=watch.left - 1), None) if watch.left > 1 else (None, True)


# From and to the trace.


def fold(state: State | None, records: "list[Record]") -> "tuple[State, list[Sensed]]":
    """The state after further records of a trace, and what came of each action.

    Records of other kinds are passed over, and so are actions that are none.
    """
    state = state or State()
    outcomes: list[Sensed] = []
    for record in records:
        if record.get("e") == "user":
            state = hear(state, 0.0 if record.get("away") else record["at"])
        elif record.get("e") == "start" and record.get("source") in {"clear", "compact"}:
            state = forget(state)
        elif record.get("e") == "action" and (action := acted(record)) is not None:
            outcomes.append(sense(state, action))
            state = outcomes[-1].state
    return state, outcomes


def acted(record: "Record") -> Action | None:
    """The action that a record of a trace holds; None where it holds none."""
    try:
        return Action.of(record)
    except TypeError:
        return None


def dump(state: State) -> "Record":
    """A state as JSON holds it."""
    return {
        "window": [action.as_dict() for action in state.window],
        "carry": state.carry.as_dict(),
        "ladder": state.ladder.as_dict(),
        "watch": state.watch.as_dict() if state.watch else None,
        "known": state.known,
        "held": state.held,
    }


def load(kept: "Record") -> State:
    """The state that was dumped.

    Raises:
        TypeError, KeyError: it is none.
    """
    return State(
        window=tuple(Action.of(fields) for fields in kept["window"]),
        carry=Carry.of(kept["carry"]),
        ladder=Ladder.of(kept["ladder"]),
        watch=Watch.of(kept["watch"]) if kept["watch"] else None,
        known=tuple(kept["known"]),
        held=kept["held"],
    )


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]
