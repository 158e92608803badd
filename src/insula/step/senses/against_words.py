"""Against the user's words: a call of the kind that the user has asked not to make.

What they forbid is read from their own words (`bans`), in this session's messages and in the rules that they made; what
they later ask for is allowed again.
"""

from insula.step.action import EDIT, Action
from insula.step.command import FORCES, PUSHES
from insula.step.ladder import AHEAD
from insula.step.state import RUN, TOUCH, Ban, Reading, State

NAME = "against_words"
LABEL = "against the user's words"
CLIMBS = False


def feel(state: State, action: Action) -> Reading | None:
    """Whether the user has asked not to do this."""
    if not state.bans or not (action.ok or action.failed):
        return None
    ban = next((ban for ban in state.bans if _breaks(action, ban)), None)
    if ban is None:
        return None
    return Reading(
        sense=NAME, count=1, key=f"ban {ban.act} {ban.what} {state.carry.user_turn}", form=ban.act, label=action.label
    )


foresee = feel


def _breaks(action: Action, ban: Ban) -> bool:
    if ban.act == RUN:
        return ban.what in action.label.split() or f" {ban.what} " in f"{action.family} "
    if ban.act == TOUCH:
        return action.kind == EDIT and f"/{ban.what.strip('/')}/" in f"/{action.target}/"
    if ban.act == PUSHES and ban.what:
        return bool({PUSHES, FORCES} & set(action.acts)) and ban.what in action.touches
    return ban.act in action.acts or (ban.act == PUSHES and FORCES in action.acts)


def fact(reading: Reading) -> str:
    """What was done although the user had asked not to."""
    what = f"`{reading.label}`" if reading.label else "this call"
    return f"The user asked not to do what {what} {'does' if reading.ahead else 'has just done'}."


ADVICE = {
    AHEAD: ("Leave it, or ask them first.",),
    0: (
        "Tell them what happened, and undo it if that loses nothing.",
        "Say so plainly, and ask before you go on with it.",
    ),
}
