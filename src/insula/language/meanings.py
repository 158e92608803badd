"""Networks that tell several meanings of a sentence apart, by its vector and by how it is spelled."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import SCALE, Vector, Weights
from insula.language.spelling import hash_ngrams


class Network(NamedTuple):
    """A network of one hidden layer; the last row of each layer is its bias."""

    hidden: Weights
    out: Weights

    def log_odds(self, vector: Vector) -> Weights:
        """The log-odds of each meaning, up to a constant."""
        felt = np.maximum(SCALE * vector @ self.hidden[:-1] + self.hidden[-1], 0.0)
        return felt @ self.out[:-1] + self.out[-1]


class Meanings(NamedTuple):
    """A network, and weights of n-grams beside it, a column for each meaning, the bias last."""

    network: Network
    spelled: Weights

    def meaning_chances(self, text: str, vector: Vector, weighs: Mapping[str, float]) -> npt.NDArray[np.float32]:
        """The chance in [0, 1] of each meaning.

        Args:
            weighs: what the log-odds of the network (`meant`) and of the spelling (`spelled`) count for.
        """
        grams = hash_ngrams(text)
        read = grams.shares @ self.spelled[grams.places] + self.spelled[-1]
        return softmax(weighs["meant"] * self.network.log_odds(vector) + weighs["spelled"] * read)


def softmax(odds: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The chances of some log-odds."""
    raised = np.exp(odds - odds.max())
    return raised / raised.sum()
