"""Guessed: the agent ends with an explanation that it itself calls likely, or with an error that it explains away.

Its last words are read for it: "the most likely cause", "probably a stale cache", "unrelated to my changes". What is
recommended ("probably the best way") is no guess at a cause.
"""

from insula.step.proof import is_proven
from insula.step.state import Reading, State

NAME = "guessed"
LABEL = "ends with a guess"
CLIMBS = False


def feel_end(state: State, said: str) -> Reading | None:
    """Whether the last words explain by a guess what was worked on."""
    from insula.step.hedges import guesses

    if not state.window or _is_shown(state) or not guesses(said):
        return None
    return Reading(sense=NAME, count=1, key=f"guess {state.carry.user_turn}")


def _is_shown(state: State) -> bool:
    """Whether a check has passed on what was changed for this request: then the cause that was mended was the cause."""
    since = state.carry.user_turn
    changed = state.carry.changed > since
    passed = any(check.passed and check.turn > state.carry.changed for check in state.proof.checks)
    return changed and passed and is_proven(state.proof, since)


def fact(reading: Reading) -> str:
    """What the end rests on."""
    return "The answer explains what was found by something likely that has not been shown."


ADVICE = {
    0: (
        "One observation that would come out otherwise if it were wrong can be made now; else call it a guess.",
        "Try what would tell it from the next likely cause, or tell the user what they would have to look at.",
    )
}
