"""Unproven end: the agent stops, and since its last change nothing has shown that what was changed now works.

Felt where the host hears what is answered to the end of a turn: a check that covers what was changed for this request
was red when it was last run, or has not been run since, or a script that was written has never been run.
"""

from insula.step.goal import Goal
from insula.step.programs import RUN
from insula.step.proof import red, stale
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
    from insula.step.hedges import admits

    return None if admits(said) else found


def _of_check(state: State) -> Reading | None:
    since = state.carry.user_turn  # what was changed for this request
    failed = red(state.proof, since)
    if failed is not None and failed.changed > failed.turn:  # that it is red the agent has read, and will say
        return Reading(sense=NAME, count=1, key=f"end {failed.turn}", form="failing", label=failed.label)
    if goal := next(filter(_is_reproduction, reversed(state.goals)), None):
        return Reading(sense=NAME, count=1, key=f"end {goal.id}", form="failing", label=goal.label)
    if found := stale(state.proof, since):
        return Reading(sense=NAME, count=1, key=f"end {found[0].turn}", form="stale", label=found[0].label)
    return None


def _is_reproduction(goal: Goal) -> bool:
    """Whether a file that ended with an exception was to be mended: to run it again would show it."""
    return goal.family.startswith(RUN) and bool(goal.selectors and goal.failure.thrown and goal.changed)


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
