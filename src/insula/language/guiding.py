"""Five small heads of the night: what users say of how the assistant works, and what a piece of guidance does.

They stand beside those of `heads`, on the same sentence vectors; `insula bench guiding --write` fits them, the same
bytes each time on one machine. Of any other embedding they can tell nothing. That a sentence is put like the one before
it they cannot know (`insula.night.corrections`).
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal

import numpy as np

from insula.language.heads import DIMENSIONS, Vector, read_weights
from insula.language.meanings import Network

GuidingHead = Literal["feedback", "wards", "corrects", "thanks", "tells"]
"""What a head decides: `feedback`, whether the user speaks of how the assistant works or should work; `wards`, whether
a piece of guidance keeps something away ("leave milk out"), and does not bring it ("cook with milk"); `corrects`,
whether a sentence says that something in the response was wrong; `thanks`, whether it thanks, or says that the response
was right, and nothing else; `tells`, whether a sentence states something of the user or their people ("The user has two
sons"), and does not say how to work, or how work went ("For her sons, leave out nuts")."""
FILES: Mapping[str, tuple[GuidingHead, ...]] = {
    "guiding.npz": ("feedback", "wards", "corrects", "thanks"),
    "tells.npz": ("tells",),
}
"""Where the weights of each stand."""
FEEDBACK = 0.3
"""Chance from which the user's words count as feedback. It is low: what rests on them must be near them, too."""
WARDS = 0.5
"""Chance from which guidance counts as warding something off."""
CORRECTS, THANKS = 0.7, 0.6
"""Chances from which a sentence counts as a correction, and as thanks."""
TELLS = 0.5
"""Chance from which a sentence counts as telling of somebody."""


def guiding_chance(head: GuidingHead, vector: Vector | None) -> float | None:
    """The chance in [0, 1] that a sentence means what a head decides; None without a vector that it can read."""
    if vector is None or vector.size != DIMENSIONS:
        return None
    return float(1 / (1 + np.exp(-_load_network(head).log_odds(vector))))


@cache
def _load_network(head: GuidingHead) -> Network:
    weights = read_weights(next(file for file, heads in FILES.items() if head in heads))
    return Network(weights[f"{head}_hidden"], weights[f"{head}_out"])
