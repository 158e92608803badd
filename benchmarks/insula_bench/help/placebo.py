"""A text that says nothing to the point, as long as one that does: any words change what a model does next (X7)."""

from itertools import accumulate, cycle

from insula.coding.step.wording import SIGN

NEUTRAL = (
    "The clock of this machine was set this morning and agrees with the one in the hall.",
    "The building has four floors, and the lift stops at each of them.",
    "Paper of this kind is made of wood and is kept in a dry place.",
    "The library opens at nine on weekdays and at ten on Saturdays.",
    "Most maps of the town are drawn with north at the top.",
    "The train to the coast takes two hours and has a dining car.",
)


def make_placebo(note: str) -> str:
    """Neutral words as long as a note, to a word, under the same sign."""
    wanted = len(note.removeprefix(SIGN))
    words = [word for _, word in zip(range(wanted), cycle(" ".join(NEUTRAL).split()), strict=False)]
    ends = accumulate(len(word) + 1 for word in words)
    count = max(1, sum(end - 1 <= wanted for end in ends))
    said = " ".join(words[:count]).rstrip(",.")
    return f"{SIGN if note.startswith(SIGN) else ''}{said}."
