"""Delivery: a commit or a push of what a check has found wrong, or of what none has seen since it was changed.

Felt only where the session has a check of its own (a test, a build, a type check, a linter) that covers the code that
was changed: it was red when it was last run, or it passed before the change. Or a push that leaves changes behind.
"""

from insula.step.action import Action
from insula.step.command import BYPASSES, COMMITS, FORCES, PUSHES
from insula.step.ladder import AHEAD
from insula.step.proof import red, stale
from insula.step.senses.oscillation import standing
from insula.step.state import Reading, State
from insula.step.words import counted

NAME = "delivery"
LABEL = "delivers what is not finished"
CLIMBS = False

BEHIND, UNCHECKED, RED = "behind", "unchecked", "red"


def feel(state: State, action: Action) -> Reading | None:
    """Whether what is delivered is not what was checked."""
    acts = set(action.acts)
    if not action.ok or not action.ran or action.proves or not acts & {PUSHES, FORCES, COMMITS}:
        return None
    if action.guarded and COMMITS in acts and BYPASSES not in acts:
        return None  # the project checks each commit by itself
    if failed := red(state.proof):
        return Reading(sense=NAME, count=1, key=f"red {failed.turn}", form=RED, label=failed.label)
    if not acts & {COMMITS} and (left := _left(state, action)):
        return Reading(sense=NAME, count=left, key=f"behind {state.carry.committed}", form=BEHIND, label=action.label)
    if found := stale(state.proof):
        return Reading(sense=NAME, count=1, key=f"end {found[0].turn}", form=UNCHECKED, label=found[0].label)
    return None


foresee = feel


def _left(state: State, action: Action) -> int:
    """How many files of code were changed since the last commit, none of which is thrown away."""
    made = standing(state.edits, action.nth)
    return len({one.target for one in made if one.code and one.turn > state.carry.committed})


def fact(reading: Reading) -> str:
    """What was delivered without what."""
    if reading.form == BEHIND:
        files = "Changes of one file" if reading.count == 1 else f"Changes of {counted(reading.count)} files"
        return f"{files} were made since the last commit, and this push does not hold them."
    what = f"`{reading.label}`" if reading.label else "The check of this session"
    if reading.form == RED:
        return f"{what} failed when it was last run, and what it checks is being delivered now."
    return f"{what} has not been run since the last change of code, which is being delivered now."


_ADVICE = (
    "Look at `git status`, and run what is missing before others rely on it.",
    "Others will rely on it: make it whole, or say plainly what is not in it.",
)
ADVICE = {0: _ADVICE, AHEAD: _ADVICE}
