"""Nociception: the same thing fails again, in turn after turn, whatever lies between.

Three forms. *Survives*: something was changed for it twice, and it fails as before. *Goal*: it has failed alike in
several turns. *Row*: turns in which all fails alike, though what is called differs. The calls of one turn count
once; waits, polls and probes count not at all. Where more was changed than twice, the failure has mostly moved on under
the same name, and nothing is said.
"""

from insula.coding.step.action import Action
from insula.coding.step.ladder import AWARENESS, DIRECTIVE, FLAG, SOCRATIC
from insula.coding.step.programs import REQUEST
from insula.coding.step.state import Reading, State
from insula.coding.step.turn import TurnActions, group_by_turn
from insula.coding.step.wording import join_names, write_number

NAME = "nociception"
LABEL = "fails again and again"

FIXES = 2
"""Changes that a failure must have survived (issue: from the second such fix on)."""
TURNS = 3
"""Turns in which a goal must have failed alike, or in a row in which all fails with like errors, ..."""
UNTOUCHED = 4
"""... or this many where it is a check that no two changes were of no avail for: to look again is no loop yet."""


def feel(state: State, action: Action) -> Reading | None:
    """What fails again."""
    if not action.failed:
        return None
    return _read_goal(state) or _read_row(state)


def _read_goal(state: State) -> Reading | None:
    goal = next((goal for goal in reversed(state.goals) if goal.last == state.turn.number), None)
    if goal is None or (goal.is_command and goal.edits > FIXES):
        return None
    form = "denied" if goal.denied else "survives" if goal.fixes >= FIXES else "goal"
    least = UNTOUCHED if goal.proves and goal.fixes < FIXES else TURNS
    if goal.turns < least:
        return None
    return Reading(sense=NAME, count=goal.turns, key=goal.id, first=goal.first, form=form, goal=goal, label=goal.label)


def _read_row(state: State) -> Reading | None:
    row = _list_failing(group_by_turn(state.window))
    equal = _count_while(row, lambda group: group.signature == row[0].signature)
    if equal >= TURNS:
        same = next((goal for goal in reversed(state.goals) if goal.last == state.turn.number), None)
        reading = _make_row("equal", row[:equal])
        return reading.replace(key=same.id, goal=same) if same is not None else reading
    proves = bool(row) and all(action.proves for action in row[0].failing)
    if proves or _asks_elsewhere(row):  # to look at a failing test in another way is no loop
        return None
    alike = _count_while(row, lambda group: _are_of_a_kind(group, row[0]))
    return _make_row("alike", row[:alike]) if alike >= TURNS else None


def _asks_elsewhere(row: list[TurnActions]) -> bool:
    """Whether each turn asked another address: that all refuse may be what was to be shown."""
    asked = [action for group in row for action in group.failing]
    return all(action.family.startswith(REQUEST) for action in asked) and len({a.selectors for a in asked}) == len(row)


def _make_row(form: str, row: list[TurnActions]) -> Reading:
    label = row[0].failing[0].label if form == "equal" and len(row[0].failing) == 1 else ""
    first = row[-1].number
    return Reading(sense=NAME, count=len(row), key=f"row {first}", first=first, form=form, label=label)


def _list_failing(turns: list[TurnActions]) -> list[TurnActions]:
    """The last turns in which something failed and nothing went well, newest first."""
    row: list[TurnActions] = []
    for group in reversed(turns):
        if not group.failing or group.has_success or any(map(_awaits_approval, group.failing)):
            break
        row.append(group)
    return row


def _awaits_approval(action: Action) -> bool:
    """Whether a call waits for a permission that somebody may yet give: the agent is told so, and says so."""
    return action.denied and any(mark in action.error for mark in ("requires approval", "granted it"))


def _count_while(row: list[TurnActions], holds: "Callable[[TurnActions], bool]") -> int:
    return next((place for place, group in enumerate(row) if not holds(group)), len(row))


def _are_of_a_kind(group: TurnActions, other: TurnActions) -> bool:
    from insula.coding.step.failure import fail_alike

    first, second = group.failing[0], other.failing[0]
    return (first.denied and second.denied) or fail_alike(first, second)


# What is said of it.


def fact(reading: Reading) -> str:
    """What is seen, in our words and in the agent's own commands."""
    goal = reading.goal
    call = _name_goal(goal) if goal else f"`{reading.label}`" if reading.label else "The same call"
    if goal is None or reading.form == "equal":
        return _FELT[reading.form].format(what=call, count=reading.count)
    if goal.denied:
        return f"{call} was denied in {reading.count} turns; the rule that denies it will not change by itself."
    how = f"the same {goal.named}" if goal.named else "the same failures" if goal.failure.names else "the same error"
    told = f"{call} has failed in {reading.count} turns with {how}"
    return f"{told}; {_name_changes(goal)}." if goal.edits and goal.is_command else f"{told}."


def _name_goal(goal: "Goal") -> str:
    if not goal.label:
        return "The same call"
    doing = {"read": "Reading ", "edit": "Editing ", "other": "The tool ", "search": "The tool "}
    return f"{doing.get(goal.family.split(' ', 1)[0], '')}`{goal.label}`"


def _name_changes(goal: "Goal") -> str:
    changes = "one change" if goal.edits == 1 else f"{write_number(goal.edits)} changes"
    verb = "was" if goal.edits == 1 else "were"
    if not goal.files:
        return f"{changes} since {verb} of no avail"
    only = "" if goal.unnamed else "all " if goal.edits > 1 and len(goal.files) == 1 else ""
    rest = " and elsewhere" if goal.unnamed else ""
    return f"the {changes} since {verb} {only}to {join_names(goal.files)}{rest}"


_FELT = {
    "equal": "{what} failed in {count} turns in a row with the same words.",
    "alike": "{count} turns in a row ended in similar errors.",
}
ADVICE = {
    AWARENESS: (
        "What the attempts have in common may say more than the next variation will.",
        "That it fails alike each time is itself a clue to where the cause lies.",
        "The cause may lie outside of what has been changed so far.",
        "It may be worth reading the whole failure once before the next try.",
    ),
    SOCRATIC: (
        "State the assumption you are working on. What would falsify it? Check that before the next try.",
        "Which observation would tell two explanations of this failure apart?",
        "What did you expect the last change to alter in the failure, and what does it mean that it did not?",
    ),
    DIRECTIVE: (
        "The premise that these tries share is still untested. Step back, and settle it with one small check before "
        "you try again; then take a different way.",
        "Reduce it to the smallest case that still fails, and go on from there instead of changing more.",
        "Go back to the last state that worked, and bring in one difference at a time.",
    ),
    FLAG: (
        "The user may know what is missing: tell them what you tried, what is settled, and what is open.",
        "This is a good point to show the user what is known and to ask how to go on.",
    ),
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from insula.coding.step.goal import Goal
