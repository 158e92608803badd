"""Vestibular: the agent moves and gets nowhere. The very same call, a cycle of calls, the same unchanged file again.

What comes of different calls may be equal and good: only the very call counts. Waits and polls may repeat; one whose
answer has not changed for very long is told as a wait in vain.
"""

from itertools import takewhile

from insula.coding.step.action import BRIEF, EDIT, OTHER, READ, SEARCH, Action
from insula.coding.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.coding.step.state import Reading, State, Wait
from insula.coding.step.turn import TurnActions, group_by_turn

NAME = "vestibular"
LABEL = "going round in circles"

REPEATS = 3
"""Turns with the same call and result, reads of the same unchanged file."""
REPEAT = "repeat"
"""What the user asks for who says how often something is to be done."""
POLL_SECONDS = 5.0
SLOWER = 1.5
"""A call repeated after five seconds, and after longer than the agent's other calls, may be waiting for something."""
SLOW_REPEATS = 8
"""... but not for ever."""
PERIODS = (2, 3, 4)
ROUNDS = 2
STRETCH = 10
"""Minutes of waiting by which its ladder counts: one that goes on is not spoken of at each poll."""
POLLS, MINUTES = 10, 20
"""Turns and minutes after which a poll that always answers the same is told of."""


def feel(state: State, action: Action) -> Reading | None:
    """Whether the agent goes round in circles."""
    turns = group_by_turn(state.window)
    if action.waits:
        return _find_vain_wait(state.wait, action)
    if _is_blind(action) or REPEAT in state.asked:
        return None
    again = None if action.failed else _find_repeat(turns)  # what fails again is nociception's
    return again or _find_cycle(turns) or _find_reread(state.window)


def _is_blind(action: Action) -> bool:
    """Whether nothing is known of what came of it: keys pressed in a browser, a picture."""
    return action.kind == OTHER and action.result[:1] in {"", BRIEF}


def _find_repeat(turns: list[TurnActions]) -> Reading | None:
    last = turns[-1].signature
    row = list(takewhile(lambda group: group.signature == last, reversed(turns)))
    if len(row) < REPEATS or all(action.proves for action in turns[-1].actions):  # that a check passes is no chance
        return None
    if len(row) < SLOW_REPEATS and _may_wait(row) and _has_waited(turns, len(row)):
        return None
    return _make_reading("same", len(row), f"same {row[-1].number}", turns[-1].actions[-1], row[-1].number)


def _may_wait(row: list[TurnActions]) -> bool:
    """Whether what is repeated could come out otherwise by itself: what a check or a search says changes by edits."""
    return not all(action.proves or action.kind in {READ, SEARCH} for action in row[-1].actions)


def _has_waited(turns: list[TurnActions], count: int) -> bool:
    """Whether the last so many turns are further apart than the others: the agent waits for something."""
    times = [group.actions[-1].at for group in turns]
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    others = sorted(gaps[: len(gaps) - count + 1])
    usual = others[len(others) // 2] if others else 0.0
    return min(gaps[len(gaps) - count + 1 :]) >= max(POLL_SECONDS, SLOWER * usual)


def _find_cycle(turns: list[TurnActions]) -> Reading | None:
    for period in PERIODS:
        last = turns[-period:]
        if len(last) < period or len({group.signature for group in last}) == 1:
            continue  # the same again, which is told above
        if any(action.waits or _is_blind(action) for group in last for action in group.actions):
            continue
        rounds = 1
        while _get_round(turns, period, rounds) == _get_round(turns, period, 0):
            rounds += 1
        if rounds >= ROUNDS:
            first = turns[-period * rounds].number
            return _make_reading(
                f"cycle of {period}", rounds, f"cycle {period} {first % period}", turns[-1].actions[-1], first
            )
    return None


def _get_round(turns: list[TurnActions], period: int, back: int) -> "list[frozenset[tuple[str, str, bool]]]":
    end = len(turns) - period * back
    return [group.signature for group in turns[max(0, end - period) : end]]


def _find_reread(window: tuple[Action, ...]) -> Reading | None:
    last = window[-1]
    if last.kind != READ or not last.ok or not last.result:
        return None
    turns = {last.nth}
    for action in reversed(window[:-1]):
        if action.kind == EDIT and action.target == last.target:  # one that failed asks to read again
            break
        if (action.call, action.result) == (last.call, last.result):
            turns.add(action.nth)
    if len(turns) < REPEATS:
        return None
    return _make_reading("reread", len(turns), f"reread {last.call}", last, min(turns))


def _find_vain_wait(wait: Wait | None, action: Action) -> Reading | None:
    minutes = int((action.at - wait.at) / 60) if wait else 0
    if wait is None or wait.turns < POLLS or minutes < MINUTES:
        return None
    reading = _make_reading("wait", minutes // STRETCH, f"wait {action.call}", action, wait.first)
    return reading.replace(minutes=minutes)


def follow_wait(wait: Wait | None, action: Action) -> Wait | None:
    """The poll that is followed, after an action: another answer, or another question, begins anew."""
    if not action.result:  # what says nothing may well be at work
        return wait
    answer = f"{action.call} {action.result}"
    if wait is None or wait.answer != answer:
        return Wait(answer=answer, at=action.at, first=action.nth, last=action.nth)
    return wait.replace(turns=wait.turns + (wait.last != action.nth), last=action.nth)


def _make_reading(form: str, count: int, key: str, action: Action, first: int) -> Reading:
    return Reading(sense=NAME, count=count, key=key, first=first, form=form, label=action.label, kind=action.kind)


# What is said of it.


def fact(reading: Reading) -> str:
    """What is seen, in our words and in the agent's own commands."""
    call = f"`{reading.label}`" if reading.label else ""
    if reading.form.startswith("cycle"):
        return f"The last turns are a {reading.form} calls, gone round {reading.count} times with the same results."
    if reading.form == "reread":
        return f"You have read the same unchanged file {reading.count} times{f': {call}' if call else ''}."
    if reading.form == "wait":
        asked = call or "The same question"
        return f"{asked} has given the same answer for {reading.minutes} minutes."
    call = f"reading {call}" if call and reading.kind == READ else call
    return f"The last {reading.count} turns made the same call{f', {call},' if call else ''} and got the same result."


ADVICE = {
    AWARENESS: (
        "The next step should be a different one: change what it pointed to, or look at something not yet seen.",
        "What it can tell is already in your context.",
        "Nothing that it depends on has changed meanwhile.",
    ),
    SOCRATIC: (
        "State what you expected to change between them. If nothing was, the answer is already in your context.",
        "What would have to happen for the next one to come out otherwise?",
    ),
    DIRECTIVE: (
        "What is missing is probably not in these calls. Name the open question, and what else could answer it.",
        "Leave this and look at the question from its other end: what would the finished work need that is not there?",
    ),
    FLAG: (
        "The user may know what this is waiting for: tell them where it stands and what is open.",
        "Tell the user what you were trying to find out, and ask how to go on.",
    ),
}
