"""Vanished: what the agent has changed is not there any more, and it was not the agent who took it away.

A file that it wrote is missing, or version control shows none of the changes that it has just made: a formatter, a
hook, another branch, another process or the user has been there, and to make them again would not last.
"""

from insula.step.action import EDIT, EXECUTE, READ, Action
from insula.step.senses.oscillation import standing
from insula.step.state import Edit, Reading, State

NAME = "vanished"
LABEL = "its work has disappeared"
CLIMBS = False

_MISSING = "missing file"
_SHOWS = frozenset(("run git diff",))


def feel(state: State, action: Action) -> Reading | None:
    """Whether work of the agent's own is gone."""
    if action.kind in {READ, EDIT} and action.failed and action.named == _MISSING:
        return _reading("file", [one for one in state.edits if one.target == action.target])
    if action.kind == EXECUTE and action.ok and not action.result and action.family in _SHOWS:
        return _reading("changes", _fresh(state, action))
    return None


def _fresh(state: State, action: Action) -> list[Edit]:
    """The changes of the named file that were made since the user spoke and since the last commit."""
    since = max(state.carry.committed, state.carry.user_turn)
    own = [one for one in standing(state.edits) if since < one.turn < action.nth]
    return [one for one in own if any(one.target.endswith(path.removeprefix("./")) for path in action.selectors)]


def _reading(form: str, own: list[Edit]) -> Reading | None:
    if not own:
        return None
    last = own[-1]
    return Reading(sense=NAME, count=len(own), key=f"gone {last.target} {last.turn}", form=form, label=last.label)


def fact(reading: Reading) -> str:
    """What is gone."""
    what = f"`{reading.label}`" if reading.label else "a file"
    if reading.form == "file":
        return f"{what}, which you have changed in this session, is not where it was."
    return f"None of your changes of {what} is there any more, and no commit of yours took them in."


ADVICE = {
    0: (
        "Something else has changed the tree (a branch, a hook, a formatter, the user): find out what before going on.",
        "Ask what took them away before you make them again.",
    )
}
