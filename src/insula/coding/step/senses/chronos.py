"""Chronos: it is long since the user spoke, and nothing shows that the work gets on.

Turns count as long as they bring no progress: a changed file, a commit, a check that went well. One slow build is one.
"""

from insula.coding.step.action import Action
from insula.coding.step.state import Reading, State

NAME = "chronos"
LABEL = "long without a word of yours"

TURNS = 30
MINUTES = 15
"""Turns without progress and minutes since the user's message from which Chronos speaks; each time at the double."""


def feel(state: State, action: Action) -> Reading | None:
    """Whether it is long since the user spoke."""
    carry = state.carry
    if not carry.user_at or count_level(state, action.at) <= carry.level:
        return None
    return Reading(
        sense=NAME,
        count=state.turn.number - carry.user_turn,
        key=f"chronos {count_level(state, action.at)}",
        minutes=int(max(0.0, action.at - carry.user_at) / 60),
    )


def count_level(state: State, now: float) -> int:
    """How often Chronos would have spoken by now."""
    carry = state.carry
    idle = state.turn.number - max(carry.user_turn, carry.progress_turn)
    minutes = max(0.0, now - carry.user_at) / 60
    return int(min(idle / TURNS, minutes / MINUTES)).bit_length()


def fact(reading: Reading) -> str:
    """How long it has been."""
    return f"{reading.count} turns and {reading.minutes} minutes since the user's last message."


ADVICE = {
    0: (
        "Does what you are doing now still serve it, and what of it is left?",
        "What is the shortest way from here to what was asked?",
        "A short word to the user on where things stand may save both of you time.",
    )
}
