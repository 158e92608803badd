"""Delivery: a commit or a push of what no check has seen, or a push that leaves changes behind.

Felt only where the session has a check of its own (a test, a build, a linter that was run before) and code was changed
since; what has nothing to run, such as prose, settings and scripts, counts for nothing.
"""

from insula.step.action import Action
from insula.step.command import COMMITS, FORCES, PUSHES
from insula.step.ladder import AHEAD
from insula.step.programs import NOT_CODE
from insula.step.senses.oscillation import standing
from insula.step.state import Reading, State
from insula.step.words import counted

NAME = "delivery"
LABEL = "delivers what is not finished"
CLIMBS = False

BEHIND, UNCHECKED = "behind", "unchecked"


def feel(state: State, action: Action) -> Reading | None:
    """Whether what is delivered is not what was checked."""
    acts, carry = set(action.acts), state.carry
    if not action.ok or not action.ran:
        return None
    if acts & {PUSHES, FORCES} and COMMITS not in acts and (left := _left(state, action)):
        return Reading(sense=NAME, count=left, key=f"behind {carry.committed}", form=BEHIND, label=action.label)
    if acts & {PUSHES, FORCES, COMMITS} and not action.proves and carry.changed > carry.proved > 0:
        return Reading(sense=NAME, count=1, key=f"end {carry.proved}", form=UNCHECKED, label=carry.proved_label)
    return None


foresee = feel


def _left(state: State, action: Action) -> int:
    """How many files were changed since the last commit, none of which is thrown away."""
    made = [one.target for one in standing(state.edits, action.nth) if one.turn > state.carry.committed]
    return len({target for target in made if not target.lower().endswith(NOT_CODE)})


def fact(reading: Reading) -> str:
    """What was delivered without what."""
    if reading.form == BEHIND:
        files = "Changes of one file" if reading.count == 1 else f"Changes of {counted(reading.count)} files"
        return f"{files} were made since the last commit, and this push does not hold them."
    what = f"`{reading.label}`" if reading.label else "The check of this session"
    return f"{what} has not been run since the last change of code, which is being delivered now."


_ADVICE = (
    "Look at `git status`, and run what is missing before others rely on it.",
    "Others will rely on it: make it whole, or say plainly what is not in it.",
)
ADVICE = {0: _ADVICE, AHEAD: _ADVICE}
