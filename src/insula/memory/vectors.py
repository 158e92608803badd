"""Optional embeddings: float16 in the store, cosine here."""

from collections.abc import Callable, Sequence

import numpy as np

Vector = Sequence[float]
Embed = Callable[[str], Vector]
"""Any function from a text to its embedding; none is shipped."""


def packed(vector: Vector) -> bytes:
    """A vector of unit length as float16, two bytes a dimension."""
    array = np.asarray(vector, dtype=np.float32)
    return (array / (np.linalg.norm(array) or 1.0)).astype(np.float16).tobytes()


def cosine(vector: Vector, stored: bytes) -> float:
    """Cosine of a vector with a packed one, in [-1, 1]; 0 where their dimensions differ."""
    other = np.frombuffer(stored, dtype=np.float16).astype(np.float32)
    array = np.asarray(vector, dtype=np.float32)
    if array.shape != other.shape:
        return 0.0
    return float(np.clip(array @ other / (np.linalg.norm(array) or 1.0), -1.0, 1.0))
