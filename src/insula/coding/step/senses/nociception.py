"""Nociception: the same thing fails again, in turn after turn, whatever lies between.

Three forms. *Survives*: something was changed for it twice, and it fails as before. *Goal*: it has failed alike in
several turns, and its output names what fails or says the same. *Row*: turns in which all fails alike, though what is
called differs. The calls of one turn count once; waits, polls and probes count not at all. Behind more than two changes
a failure has mostly moved on under the same name: there it must name what fails, in the same words each time. A row of
refusals is an agent that finds out what it may do.
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
CHECKED = 4
"""... or this many of what is refused, and of a check unless its words stayed as they were, through two changes or in
the very same call with the same output and nothing changed: to look again is no loop yet, what says something else has
got on."""


def feel(state: State, action: Action) -> Reading | None:
    """What fails again."""
    if not action.failed:
        return None
    return _read_goal(state) or _read_row(state)


def _read_goal(state: State) -> Reading | None:
    goal = _get_goal(state)
    if goal is None or not _is_certain(goal):
        return None
    survives = goal.fixes >= FIXES and goal.same_words
    if goal.is_command and goal.edits > FIXES and not (survives and goal.failure.names):
        return None
    elsewhere = len(goal.files) + goal.unnamed >= goal.edits >= FIXES  # each change to another file
    if goal.proves and elsewhere:  # other work goes on beside what is red
        return None
    moves = goal.proves and not (survives or (goal.same_run and not goal.edits))
    if goal.turns < (CHECKED if goal.denied or moves else TURNS):
        return None
    form = "denied" if goal.denied else "survives" if survives else "goal"
    return Reading(sense=NAME, count=goal.turns, key=goal.id, first=goal.first, form=form, goal=goal, label=goal.label)


def _get_goal(state: State) -> "Goal | None":
    """The open failure that was met last, in this turn."""
    return next((goal for goal in reversed(state.goals) if goal.last == state.turn.number), None)


def _is_certain(goal: "Goal") -> bool:
    """Whether it is the same that fails: of a command, its output names what, we know its kind, or it says the same."""
    return not goal.is_command or bool(goal.denied or goal.failure.names or goal.named) or goal.same_words


def _read_row(state: State) -> Reading | None:
    row = _list_failing(group_by_turn(state.window))
    proves = bool(row) and all(action.proves for action in row[0].failing)
    if proves or _asks_elsewhere(row):  # to look at a failing test in another way is no loop
        return None
    alike = next((place for place, group in enumerate(row) if not _fail_alike(group, row[0])), len(row))
    goal = _get_goal(state)
    if alike < TURNS or (goal is not None and goal.turns >= alike):  # it is one failure, which is told as such
        return None
    first = row[alike - 1].number
    return Reading(sense=NAME, count=alike, key=f"row {first}", first=first, form="alike")


def _asks_elsewhere(row: list[TurnActions]) -> bool:
    """Whether each turn asked another address: that all refuse may be what was to be shown."""
    asked = [action for group in row for action in group.failing]
    return all(action.family.startswith(REQUEST) for action in asked) and len({a.selectors for a in asked}) == len(row)


def _list_failing(turns: list[TurnActions]) -> list[TurnActions]:
    """The last turns in which something failed, nothing was refused and nothing went well, newest first."""
    row: list[TurnActions] = []
    for group in reversed(turns):
        if not group.failing or group.has_success or any(action.denied for action in group.failing):
            break
        row.append(group)
    return row


def _fail_alike(group: TurnActions, other: TurnActions) -> bool:
    from insula.coding.step.failure import fail_alike

    return fail_alike(group.failing[0], other.failing[0])


# What is said of it.


def fact(reading: Reading) -> str:
    """What is seen, in our words and in the agent's own commands."""
    goal = reading.goal
    if goal is None:
        return f"{reading.count} turns in a row ended in similar errors."
    call = _name_goal(goal)
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
    from insula.coding.step.goal import Goal
