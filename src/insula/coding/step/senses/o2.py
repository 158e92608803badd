"""O2: the context fills fast; the last turns take many times the tokens that the first ones took.

Tokens are those that the host counts, by how much the context grew from turn to turn; without its count the sense is
silent. Calls that were made at once share what their turn brought.
"""

from insula.coding.step.action import Action
from insula.coding.step.state import Carry, Reading, State
from insula.coding.step.turn import group_by_turn

NAME = "o2"
LABEL = "the context fills fast"

BASELINE_TURNS = 10
"""Turns that make the baseline of the token velocity (seed 002 counts calls)."""
VELOCITY = 3.0
"""Token velocity over the baseline that is worth a word (seed 002)."""
RECENT_TURNS = 3
LEAST_TOKENS = 10_000
"""Tokens per turn below which no velocity matters: a twentieth of a usual context."""
REST = 25
"""Turns between two words about the velocity."""


def feel(state: State, action: Action) -> Reading | None:
    """Whether the last turns take many times the tokens of the first."""
    carry = state.carry
    if not carry.pace or (carry.o2_at >= 0 and state.turn.number - carry.o2_at < REST):
        return None
    sizes = [max(past.context for past in group.actions) for group in group_by_turn(state.window)[-RECENT_TURNS - 1 :]]
    grows = all(0 < before <= after for before, after in zip(sizes, sizes[1:], strict=False))
    if len(sizes) <= RECENT_TURNS or not grows:
        return None
    recent = (sizes[-1] - sizes[0]) / RECENT_TURNS
    if recent < VELOCITY * carry.pace or recent < LEAST_TOKENS:
        return None
    full = action.context / action.context_window if action.context_window else 0.0
    return Reading(sense=NAME, count=round(recent), key=f"o2 {state.turn.number}", full=full)


def pace_carry(carry: Carry, action: Action) -> Carry:
    """The counts after an action: the baseline is what the first turns brought, as the host counts."""
    carry = carry.replace(context=action.context)
    if carry.pace:
        return carry
    if not carry.first_context or action.context < carry.first_context:
        return carry.replace(first_context=action.context, first_turn=action.nth)
    turns = action.nth - carry.first_turn
    if turns < BASELINE_TURNS:
        return carry
    return carry.replace(pace=max(1.0, (action.context - carry.first_context) / turns))


def fact(reading: Reading) -> str:
    """How fast the context fills."""
    full = f"; the context is {reading.full:.0%} full" if reading.full else ""
    return f"Each of the last turns brought about {reading.count / 1000:.0f}k tokens{full}."


ADVICE = {
    0: (
        "Narrower reads and shorter outputs leave more of the context for the work.",
        "A search before a read, or a limit on an output, keeps room for what is still to come.",
    )
}
