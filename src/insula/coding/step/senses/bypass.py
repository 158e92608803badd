"""Bypass: the agent goes round a check or a permission that somebody has put in its way, and nobody asked it to."""

from insula.coding.step.action import Action
from insula.coding.step.command import BYPASSES, show_bypass
from insula.coding.step.ladder import AHEAD
from insula.coding.step.state import Reading, State

NAME = "bypass"
LABEL = "goes round a check"


def feel(state: State, action: Action) -> Reading | None:
    """Whether the call switches off what was to hold it up."""
    if BYPASSES not in action.acts or BYPASSES in state.asked or not (action.ran or action.failed):
        return None
    return Reading(sense=NAME, count=1, key=f"bypass {action.family}", label=show_bypass(action.target) or action.label)


foresee = feel


def fact(reading: Reading) -> str:
    """What was switched off."""
    call = f"`{reading.label}`" if reading.label else "This call"
    return f"{call} goes round a check or a permission, and the user has not asked for that."


_ADVICE = (
    "What it was to find is still there: mend it, or ask the user whether it may stay.",
    "Tell the user what was not checked.",
)
ADVICE = {0: _ADVICE, AHEAD: _ADVICE}
