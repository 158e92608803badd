"""Unproven end: the agent stops, and since its last change nothing has shown that what failed now works.

Felt where the host hears what is answered to the end of a turn, once for each goal. Without an open failure it is
felt only where the agent itself says that tests pass or that it is verified, and its check was not run since.
"""

from insula.step.state import Reading, State

NAME = "unproven"
LABEL = "stops before it is shown to work"
CLIMBS = False


def feel_end(state: State, claims: bool) -> Reading | None:
    """Whether the end is unproven.

    Args:
        state: when the agent stops.
        claims: whether its last words say that it works or is verified.
    """
    carry = state.carry
    if carry.changed <= carry.user_turn:  # nothing was changed for this request
        return None
    goal = next(
        (goal for goal in reversed(state.goals) if goal.proves and goal.changed and goal.last > carry.user_turn), None
    )
    if goal is not None:
        return Reading(sense=NAME, count=1, key=f"end {goal.id}", form="failing", label=goal.label)
    if claims and carry.proved and carry.changed > carry.proved:
        return Reading(sense=NAME, count=1, key=f"end {carry.proved}", form="stale", label=carry.proved_label)
    return None


def fact(reading: Reading) -> str:
    """What has not been run since."""
    what = f"`{reading.label}`" if reading.label else "what failed"
    if reading.form == "failing":
        return f"{what} failed when it was last run, and it has not been run since the last change."
    return f"{what} has not been run since the last change, so what was seen before holds for another version."


ADVICE = {
    0: (
        "Run it, or tell the user plainly that the result is not verified.",
        "Either run it now, or say in the answer that this is open.",
    )
}
