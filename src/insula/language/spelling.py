"""How a sentence is spelled: its n-grams of words and of characters, each hashed to a place in a table of weights.

A sentence vector smooths over the little words ("my", "did I") that tell whose matter a question is. Hashing instead of
a dictionary: Weinberger et al. 2009 (arXiv 0902.2206).
"""

import re
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from insula.caches import clear_on_erasure

PLACES = 1 << 16
"""Of the table: one half for words, one for characters; two n-grams may share a place."""
WORDS, CHARACTERS = (1, 2, 3), (2, 3, 4)
"""How many of them an n-gram has."""
LONGEST = 300
"""Characters of a sentence that are read."""
_HALF = PLACES // 2
_WORD = re.compile(r"\w+|[?!？！]")


class Spelled(NamedTuple):
    """The n-grams of a sentence, each once: its place, and how much of the sentence it is."""

    places: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float32]

    def log_odds(self, weights: npt.NDArray[np.float32]) -> float:
        """The sum of the weights at its places, each times its share."""
        return float(weights[self.places] @ self.shares)


@clear_on_erasure
@lru_cache(maxsize=512)
def hash_ngrams(text: str) -> Spelled:
    """The n-grams of a sentence; none of a text without a letter or a digit. Each head of a turn asks for the same."""
    words = _WORD.findall(text[:LONGEST].casefold())
    phrases = {" ".join(words[at : at + size]) for size in WORDS for at in range(len(words) - size + 1)}
    framed = [f" {word} " for word in words]
    parts = {word[at : at + size] for word in framed for size in CHARACTERS for at in range(len(word) - size + 1)}
    shares = np.array([_ngram_share(phrases), _ngram_share(parts)], np.float32)
    places = (_ngram_places(phrases), _HALF + _ngram_places(parts))
    return Spelled(np.concatenate(places), np.repeat(shares, [len(phrases), len(parts)]))


def _ngram_places(grams: set[str]) -> npt.NDArray[np.int64]:
    hashed = (crc32(gram.encode("utf-8", "replace")) % _HALF for gram in grams)
    return np.sort(np.fromiter(hashed, np.int64, len(grams)))


def _ngram_share(grams: set[str]) -> float:
    return 1 / max(len(grams), 1) ** 0.5
