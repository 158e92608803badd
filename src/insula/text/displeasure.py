"""Whether a user is displeased with the conversation: told from their words, without a model.

Displeasure is not correction: a user whose hotel is full says "no, then another day", and nothing was wrong. Every cue
weighs the same, for or against: the rated dialogues there are state no licence, so no weight may come from them.
"""

import math
import re

from insula.text.corrections import correction

_FOR = frozenset({"negated", "reject", "no", "failed", "emphasis"})
"""Cues of `text.corrections` that speak for displeasure; so does a correction, by its score."""

_AGAINST = frozenset({"thanks"})
_BIAS = -2.0
_CHEER = re.compile("[!！]")


def displeasure(message: str, previous_message: str, response: str) -> float:
    """How likely a message is that of a displeased user, in [0, 1].

    Args:
        message: the user's message.
        previous_message: the user's message before it; empty in the first turn.
        response: what the assistant said between the two; empty in the first turn.
    """
    found = correction(message, previous_message, response)
    cheers = bool(_CHEER.search(message))  # far more often joy than anger
    opens = not (previous_message or response)  # nothing has gone wrong yet
    odds = _BIAS + found.score + len(_FOR.intersection(found.cues)) - len(_AGAINST.intersection(found.cues))
    return 1 / (1 + math.exp(cheers + opens - odds))
