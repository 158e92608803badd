"""Whether what a message is about brings a lesson up: the terms that they share, by day and by night alike."""

from collections.abc import Collection

TRIGGERED = 0.5
"""Share of a trigger's terms that a message must hold to bring its lesson up."""
LONG_WORD = 6
"""Letters from which a word is as telling as any; frequent words are short (Zipf)."""
SAME = 0.25
"""Share of the shorter of two triggers that the other must hold, for both to be about the same."""


def trigger_appears(trigger: Collection[str], terms: Collection[str]) -> bool:
    """Whether a message with these terms brings up what has this trigger; what has none comes up always."""
    if not trigger:
        return True
    held = set(terms)
    return sum(term in held for term in trigger) >= TRIGGERED * len(trigger)


def trigger_overlap(trigger: Collection[str], other: Collection[str]) -> float:
    """The terms that two triggers share, as a share of the shorter one; 0 where one is empty."""
    least = min(len(set(trigger)), len(set(other)))
    return len(set(trigger) & set(other)) / least if least else 0.0


def is_telling(words: Collection[str]) -> bool:
    """Whether words, as they were written, say what something is about: one short common word does not.

    A name, a long word or two words do, "keep" or "live" does not.
    """
    alone = next(iter(words), "")
    return len(words) > 1 or len(alone) >= LONG_WORD or not (alone.isascii() and alone.islower() and alone.isalpha())
