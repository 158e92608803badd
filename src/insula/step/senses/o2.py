"""O2: the context fills fast; the last turns take many times the tokens that the first ones took."""

from insula.step.action import Action
from insula.step.state import Reading, State

NAME = "o2"
LABEL = "tokens rushing"
CLIMBS = False

BASELINE_CALLS = 10
"""Calls that make the baseline of the token velocity (seed 002)."""
VELOCITY = 3.0
"""Token velocity over the baseline that is worth a word (seed 002)."""
RECENT_CALLS = 3
CHARS_PER_TOKEN = 4
"""The usual estimate for English and code, where the host counts no tokens."""
LEAST_TOKENS = 10_000
"""Tokens per call below which no velocity matters: a twentieth of a usual context."""
REST = 25
"""Turns between two words about the velocity."""


def feel(state: State, action: Action) -> Reading | None:
    """Whether the last calls take many times the tokens of the first."""
    window, carry = state.window, state.carry
    if carry.calls < BASELINE_CALLS + RECENT_CALLS or len(window) < RECENT_CALLS:
        return None
    if carry.o2_at >= 0 and state.turn.number - carry.o2_at < REST:
        return None
    recent = sum(tokens(window[: len(window) - back]) for back in range(RECENT_CALLS)) / RECENT_CALLS
    ratio = recent / max(1.0, carry.first_tokens / BASELINE_CALLS)
    if ratio < VELOCITY or recent < LEAST_TOKENS:
        return None
    full = action.context / action.context_window if action.context_window else 0.0
    return Reading(sense=NAME, count=round(recent), key=f"o2 {state.turn.number}", ratio=ratio, full=full)


def tokens(window: tuple[Action, ...]) -> int:
    """About how many tokens the last action brought: by how much the context grew, else by its characters."""
    last, before = window[-1], window[-2] if len(window) > 1 else None
    if before is not None and last.context > before.context > 0:
        return last.context - before.context
    return last.chars // CHARS_PER_TOKEN


def fact(reading: Reading) -> str:
    """How fast the context fills."""
    full = f"; the context is {reading.full:.0%} full" if reading.full else ""
    return f"Your last calls brought about {reading.count / 1000:.0f}k tokens each{full}."


ADVICE = {
    0: (
        "Narrower reads and shorter outputs leave more of the context for the work.",
        "A search before a read, or a limit on an output, keeps room for what is still to come.",
    )
}
