"""An agent's sense of what it is doing: each action moves the state on, and now and then there is something to say.

Pure: the trace is folded through here by the hook, by a replay and by a benchmark alike. Only the senses that are on
feel anything; the state holds what all of them need, so that one that is switched on knows what went before.
"""

from insula.coding.step.action import WINDOW, Action, load_action
from insula.coding.step.command import COMMITS, PUSHES
from insula.coding.step.goal import Goal, update_goals
from insula.coding.step.instructions.instruction import ASKED as REQUEST
from insula.coding.step.instructions.instruction import HERE, LIFT, RULE, STANDING, load_instructions
from insula.coding.step.ladder import MOST, Step, next_rung
from insula.coding.step.senses import CLIMBING, senses_after, senses_at_end, senses_before
from insula.coding.step.senses.register import DEFAULT
from insula.coding.step.state import KEYS, KNOWN, Carry, Reading, State, Wait, WatchedText
from insula.coding.step.turn import close_turn, enter_turn
from insula.value import Value, is_list

WATCH = 3
"""Turns after a text that show whether it was heeded."""


class EndedTrouble(Value):
    """A trouble that was spoken of, and is over."""

    key: str
    turns: int
    """From the first text to its end."""
    seconds: float
    tokens: int


class Sensed(Value):
    """The state after an action, and what came of it."""

    state: State
    readings: tuple[Reading, ...] = ()
    said: Reading | None = None
    """The one that the text is of."""
    rung: int = 0
    """The rung that the text is from; 0 for silence and for texts that are no part of the ladder."""
    text: str = ""
    """What to tell the agent; empty for silence."""
    heeded: bool | None = None
    """Whether the text before was heeded, where this action settles it, ..."""
    watched: str = ""
    """... and the trouble that it was of."""
    ended: tuple[EndedTrouble, ...] = ()
    asks: bool = False
    """Whether the text is a question to the user."""

    @property
    def sense(self) -> str:
        """The sense that the text is of."""
        return self.said.sense if self.said else ""


def sense_action(state: State, action: Action, on: frozenset[str] = DEFAULT) -> Sensed:
    """What the senses that are on feel after an action, and the one thing to say about it, if any."""
    if action.id and action.id in state.known:
        return Sensed(state=state)
    state = _drop_silent(state, on)
    turn = enter_turn(state.turn, action)
    action = action.replace(nth=turn.number)
    known = (*state.known, action.id)[-KNOWN:] if action.id else state.known
    state = _note_allowed(state, action)
    window = (*state.window, action)[-WINDOW:]
    state = state.replace(turn=turn, known=known, carry=_count_action(state.carry, action))
    if not action.ran and not action.denied:
        return Sensed(state=state)
    goals, shut = update_goals(state.goals, action, turn.number)
    state = state.replace(window=window, goals=goals, wait=_follow_wait(state.wait, action))
    felt = (each.feel(state, action) for each in senses_after(state, action, on))
    readings = tuple(reading for reading in felt if reading is not None)
    watched = state.watch.key if state.watch else ""
    watch, heeded = _check_watch(state, readings)
    ended = _list_ended(state, shut, action.at)
    over = {trouble.key for trouble in ended}
    state = state.replace(watch=watch, steps=tuple(step for step in state.steps if step.key not in over))
    told = _choose_text(state, readings, action.at)
    return told.replace(readings=readings, heeded=heeded, watched=watched, ended=ended)


ASKED = "asked "
"""Begins what is remembered of a call that the user was asked about."""


def _note_allowed(state: State, action: Action) -> State:
    """The state after a call that the user was asked about, and that was made: they are not asked about that file or
    act again, and the agent is not told of it."""
    if not action.breaks or not action.ran or f"{ASKED}{action.id}" not in state.keys:
        return state
    from insula.coding.step.senses.against_words import make_key, name_allowed

    allowed = (make_key(state, action.breaks[0]), name_allowed(state, action.breaks))
    return state.replace(keys=(*state.keys, *allowed)[-KEYS:])


def _drop_silent(state: State, on: frozenset[str]) -> State:
    """The state without the troubles of senses that were switched off meanwhile: nothing shows how those go on."""
    steps = tuple(step for step in state.steps if step.sense in on)
    if len(steps) == len(state.steps):
        return state
    watched = state.watch is not None and any(step.key == state.watch.key for step in steps)
    return state.replace(steps=steps, watch=state.watch if watched else None)


def _choose_text(state: State, readings: tuple[Reading, ...], at: float) -> Sensed:
    """The one text that a turn may have: of the first reading that has something new to say."""
    if not readings or state.spoke == state.turn.number:
        return Sensed(state=state)
    from insula.coding.step.wording import write_text

    for reading in readings:
        climbs = reading.sense in CLIMBING
        rung = next_rung(state.steps, reading.key, reading.count, state.turn.number) if climbs else 0
        if not rung and (climbs or reading.key in state.keys):
            continue
        told, said = write_text(state, reading, rung)
        if told:
            noted = _note_text(state.replace(said=said), reading, rung, at)
            return Sensed(state=noted, said=reading, rung=rung, text=told)
    return Sensed(state=state)


def _note_text(state: State, reading: Reading, rung: int, at: float) -> State:
    turn, carry = state.turn.number, state.carry
    if reading.sense == "chronos":
        from insula.coding.step.senses.chronos import count_level

        carry = carry.replace(level=count_level(state, at))
    if reading.sense == "o2":
        carry = carry.replace(o2_at=turn)
    state = state.replace(carry=carry, spoke=turn)
    if not rung:
        return state.replace(keys=(*state.keys, reading.key)[-KEYS:])
    before = next((step for step in state.steps if step.key == reading.key), None)
    step = Step(
        key=reading.key,
        rung=rung,
        count=reading.count,
        turn=turn,
        first=before.first if before else turn,
        at=before.at if before else at,
        context=before.context if before else carry.context,
        sense=reading.sense,
        family=reading.goal.family if reading.goal else reading.label,
    )
    others = tuple(other for other in state.steps if other.key != reading.key)
    watch = WatchedText(key=reading.key, count=reading.count, until=turn + WATCH)
    return state.replace(steps=(*others, step)[-MOST:], watch=watch)


def foresee_action(state: State, action: Action, on: frozenset[str] = DEFAULT, asks: bool = False) -> Sensed:
    """What is felt before a call is made, and the one thing to say about it, if any; the call itself is still to come.

    Args:
        action: what is about to be done, as if it had gone well.
        asks: whether the host can put a question to the user.
    """
    turn = enter_turn(state.turn, action).number
    action = action.replace(nth=turn)
    felt = (each.foresee(state, action) for each in senses_before(on))
    readings = tuple(reading.replace(ahead=True) for reading in felt if reading is not None)
    if asks and readings and readings[0].said and not _is_allowed(state, action):
        return _ask_user(state, readings[0], action).replace(readings=readings)
    return _tell_once(state, readings).replace(readings=readings)


def _is_allowed(state: State, action: Action) -> bool:
    """Whether the user has let just this pass since their last message."""
    if not action.breaks:
        return False
    from insula.coding.step.senses.against_words import name_allowed

    return name_allowed(state, action.breaks) in state.keys


def _ask_user(state: State, reading: Reading, action: Action) -> Sensed:
    """What the host asks the user, in their own words; each time, until they have let such a call be made."""
    from insula.coding.step.wording import write_question

    keys = (*state.keys, f"{ASKED}{action.id}")[-KEYS:]
    return Sensed(state=state.replace(keys=keys), said=reading, text=write_question(reading), asks=True)


def sense_end(state: State, said: str, on: frozenset[str] = DEFAULT) -> Sensed:
    """What is felt when the agent stops with these words."""
    felt = (each.feel_end(state, said) for each in senses_at_end(on))
    readings = tuple(reading for reading in felt if reading is not None)
    return _tell_once(state, readings).replace(readings=readings)


def _tell_once(state: State, readings: "Iterable[Reading]") -> Sensed:
    """The text of the first of the readings that was not spoken of yet; they are on no ladder."""
    from insula.coding.step.wording import write_text

    for reading in readings:
        told, said = write_text(state, reading) if reading.key not in state.keys else ("", ())
        if told:
            keys = (*state.keys, reading.key, *(each.key for each in reading.more))[-KEYS:]
            return Sensed(state=state.replace(said=said, keys=keys), said=reading, text=told)
    return Sensed(state=state)


def hear_user(state: State, at: float, words: str = "") -> State:
    """The state after a message of the user's: what is open stays open; what they want is minded.

    Args:
        at: when; 0 where nobody attends.
    """
    from insula.coding.step.instructions.extraction import extract_instructions

    return take_instructions(state, at, extract_instructions(words) if words else ())


def take_instructions(state: State, at: float, heard: "tuple[Instruction, ...]") -> State:
    """The state after a message of the user's in which they said these words."""
    turn = state.turn.number
    carry = state.carry.replace(user_at=at, user_turn=turn, progress_turn=turn, level=0)
    asked = {act for instruction in heard if instruction.kind in {REQUEST, LIFT} for act in instruction.acts}
    return _merge_instructions(state, at, heard).replace(
        window=(), carry=carry, watch=None, wait=None, turn=close_turn(state.turn, ()), asked=tuple(sorted(asked))
    )


def _merge_instructions(state: State, at: float, heard: "tuple[Instruction, ...]") -> State:
    """The state with the ledger after these words."""
    if not heard and not any(instruction.holds == HERE for instruction in state.words):
        return state
    from insula.coding.step.instructions.ledger import merge_instructions

    return state.replace(words=merge_instructions(state.words, heard, at))


def forget_context(state: State) -> State:
    """The state after the context was cleared or compacted: what was read before may well be read again."""
    return state.replace(window=(), watch=None, held="")


def _count_action(carry: Carry, action: Action) -> Carry:
    commits = COMMITS in action.acts and (action.ok or PUSHES in action.acts)  # what failed was the push
    progress = action.is_progress or commits or (action.ok and action.proves)
    if action.context:
        from insula.coding.step.senses.o2 import pace_carry

        carry = pace_carry(carry, action)
    return carry.replace(progress_turn=action.nth) if progress else carry


def _follow_wait(wait: Wait | None, action: Action) -> Wait | None:
    """The poll that is followed, after an action."""
    if not action.waits:
        return wait
    from insula.coding.step.senses.vestibular import follow_wait

    return follow_wait(wait, action)


def _check_watch(state: State, readings: tuple[Reading, ...]) -> tuple[WatchedText | None, bool | None]:
    """A text was heeded when the trouble that it was of does not grow within the next turns.

    An open failure grows whether or not a sense reads anything in it: of what is uncertain none speaks.
    """
    watch = state.watch
    if watch is None:
        return None, None
    counts = [(goal.id, goal.turns) for goal in state.goals] + [(reading.key, reading.count) for reading in readings]
    if any(key == watch.key and count > watch.count for key, count in counts):
        return None, False
    return (watch, None) if state.turn.number <= watch.until else (None, True)


def _list_ended(state: State, shut: tuple[Goal, ...], at: float) -> tuple[EndedTrouble, ...]:
    """The troubles that were spoken of and are over: their goal was reached, or nothing came of them any more."""
    gone = {goal.id for goal in shut}
    turn, context = state.turn.number, state.carry.context
    open_goals = {goal.id for goal in state.goals}
    return tuple(
        EndedTrouble(
            key=step.key,
            turns=turn - step.first,
            seconds=max(0.0, at - step.at),
            tokens=max(0, context - step.context) if step.context else 0,
        )
        for step in state.steps
        if step.key in gone or (step.key not in open_goals and turn - step.turn > QUIET and " " in step.key)
    )


QUIET = 12
"""Turns without another text after which a trouble that is no open failure counts as over."""


# From and to the trace.


def fold_trace(
    state: State | None, records: "list[Record]", on: frozenset[str] = DEFAULT
) -> "tuple[State, list[Sensed]]":
    """The state after further records of a trace, and what came of each action.

    Records of other kinds are passed over, and so are actions that are none. None is the state at the beginning.
    """
    state = state or State()
    outcomes: list[Sensed] = []
    more = {record.get("id"): record for record in records if record.get("e") == "more"}
    for record in records:
        kind = record.get("e")
        if kind == "user":
            state = _load_message(state, record)
        elif kind == "start" and record.get("source") in {"clear", "compact"}:
            state = forget_context(state)
        elif kind == "rules":
            state = _load_rules(state, record)
        elif kind == "turn":
            ids = record.get("ids")
            state = state.replace(turn=close_turn(state.turn, tuple(map(str, ids)) if is_list(ids) else ()))
        elif kind == "before" and (action := load_action(record)) is not None:
            outcomes.append(foresee_action(state, action, on, record.get("asks") is True))
            state = outcomes[-1].state
        elif kind == "action" and (action := load_action(record)) is not None:
            known = more.get(action.id or action.call, {})
            action = action.replace(**{name: known[name] for name in _MORE if name in known})
            outcomes.append(sense_action(state, action, on))
            state = outcomes[-1].state
    return state, outcomes


_MORE = ("context", "context_window", "turn", "importers", "of_project")
"""What is found out about a call after it has been noted."""


def _load_message(state: State, record: "Record") -> State:
    at, heard = float(record.get("at", 0.0)), load_instructions(record.get("heard", ()))
    if record.get("kind", "prompt") in {"interrupt", "rejection"}:
        return _merge_instructions(state, at, heard) if heard else state
    return take_instructions(state, 0.0 if record.get("away") else at, heard)


def _load_rules(state: State, record: "Record") -> State:
    """The state with what the rules in the user's own words say that the session was told."""
    from insula.coding.step.instructions.extraction import extract_instructions

    words = record.get("words", ())
    rules = [rule for rule in words if isinstance(rule, str)] if is_list(words) else []
    heard = tuple(
        instruction.replace(holds=RULE)
        for rule in rules
        for instruction in extract_instructions(rule)
        if instruction.kind in STANDING
    )
    return _merge_instructions(state, float(record.get("at", 0.0)), heard) if heard else state


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from insula.coding.step.instructions.instruction import Instruction
    from insula.coding.step.trace import Record
