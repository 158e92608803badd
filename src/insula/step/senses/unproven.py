"""Unproven end: the agent stops, and since its last change nothing has shown that what was changed now works.

Felt where the host hears what is answered to the end of a turn, once for each goal: what failed was not run again, the
check of this session was not run since, or a script that was written has never been run. A check of the same kind that
was run as a whole shows it as well.
"""

from insula.step.goal import Goal
from insula.step.programs import BUILD, COMPILERS, RUN, TEST, TYPES
from insula.step.state import Reading, State

NAME = "unproven"
LABEL = "stops before it is shown to work"
CLIMBS = False


def feel_end(state: State, said: str) -> Reading | None:
    """Whether the end is unproven.

    Args:
        state: when the agent stops.
        said: its last words.
    """
    found = _of_check(state) or _of_script(state)
    if found is None:
        return None
    from insula.step.bans import admits

    return None if admits(said) else found


def _of_check(state: State) -> Reading | None:
    carry = state.carry
    if carry.changed <= carry.user_turn:  # nothing was changed for this request
        return None
    goal = next(
        (goal for goal in reversed(state.goals) if _is_checked(goal) and goal.changed and goal.last > carry.user_turn),
        None,
    )
    if goal is not None and not _shown(state, goal):
        return Reading(sense=NAME, count=1, key=f"end {goal.id}", form="failing", label=goal.label)
    if carry.proved and carry.changed > carry.proved:
        return Reading(sense=NAME, count=1, key=f"end {carry.proved}", form="stale", label=carry.proved_label)
    return None


def _is_checked(goal: Goal) -> bool:
    """Whether to run it again would show something: a check, or a file of a program's that ended with an exception."""
    return goal.proves or bool(goal.family.startswith(RUN) and goal.selectors and goal.failure.thrown)


def _shown(state: State, goal: Goal) -> bool:
    """Whether a check of the same kind has gone well as a whole since the last change; to test compiles as well."""
    kinds = [goal.family.split(" ", 1)[0]]
    program = goal.family.removeprefix(BUILD).removeprefix(TYPES).split(" ")[1:2]
    if goal.family.startswith((BUILD, TYPES)) and not goal.selectors and COMPILERS.intersection(program):
        kinds.append(f"{TEST} {program[0]} ")
    return any(
        action.ok and action.proves and not action.selectors and action.nth > state.carry.changed
        for action in state.window
        if action.family.startswith(tuple(kinds))
    )


def _of_script(state: State) -> Reading | None:
    carry = state.carry
    if not carry.script or carry.script_turn <= carry.user_turn:
        return None
    return Reading(sense=NAME, count=1, key=f"end {carry.script}", form="script", label=carry.script)


def fact(reading: Reading) -> str:
    """What has not been run since."""
    what = f"`{reading.label}`" if reading.label else "What failed"
    if reading.form == "script":
        return f"{what} was written and has never been run."
    if reading.form == "failing":
        return f"{what} failed when it was last run, and it has not been run since the last change."
    return f"{what} has not been run since the last change, so what was seen before holds for another version."


ADVICE = {
    0: (
        "Run it, or tell the user plainly that the result is not verified.",
        "Either run it now, or say in the answer that this is open.",
    )
}
