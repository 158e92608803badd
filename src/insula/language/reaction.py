"""What the user says next of a response: that it was wrong, or thanks and no more; two small heads.

They stand beside those of `guiding`, on the same sentence vectors, and `insula bench guiding --write` fits them, too.
That a sentence is put like the one before it they cannot know (`insula.night.corrections`).
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import numpy as np

from insula.language.heads import DIMENSIONS, SCALE, Vector, Weights

ReactionHead = Literal["corrects", "thanks"]
CORRECTS = 0.7
"""Chance from which a sentence says that something in the response was wrong."""
THANKS = 0.6
"""Chance from which it thanks, or says that the response was right, and nothing else."""


def reaction_chance(head: ReactionHead, vector: Vector | None) -> float:
    """The chance in [0, 1] that a sentence says what a head decides; 0 without a vector that it can read."""
    if vector is None or vector.size != DIMENSIONS:
        return 0.0
    hidden, out = _load_weights()[head]
    felt = np.maximum(SCALE * vector @ hidden[:-1] + hidden[-1], 0.0)
    return float(1 / (1 + np.exp(-(felt @ out[:-1] + out[-1]))))


@cache
def _load_weights() -> Mapping[ReactionHead, tuple[Weights, Weights]]:
    """Of each head the hidden layer and the last one; the last row of each is its bias."""
    with (files("insula.language") / "reaction.npz").open("rb") as file:
        raw = np.load(file, allow_pickle=False)
        names: tuple[ReactionHead, ...] = get_args(ReactionHead)
        return {
            name: (raw[f"{name}_hidden"].astype(np.float32), raw[f"{name}_out"].astype(np.float32)) for name in names
        }
