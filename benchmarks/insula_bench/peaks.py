"""A network on the vector of a text and on the peaks of its tokens, fitted by Adam in NumPy.

A peak is how strongly a detector answers to the token that it answers to most (max-over-time pooling: Collobert et al.
2011, JMLR 12). Detectors and network are fitted together; a detector learns from the token of its peak alone.
"""

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from insula.language.heads import FEATURES
from insula.memory.retrieval.embedding import token_features
from insula_bench.network import BATCH, DECAY, EPSILON, LEAST_RATE, LEFT_OUT, RATE, SECOND, SURE, Head

Array = npt.NDArray[np.float32]
Index = npt.NDArray[np.intp]

DETECTORS, EPOCHS, HIDDEN = 96, 6, 128
MOST_TOKENS = 120
"""Of a text that are read while a network is fitted."""
FEATURES_LEFT_OUT = 0.3
"""Of the features of tokens, and of peaks, in each step."""
SHRUNK = 1e-2
"""What weights are drawn to nothing by, for a rate of one."""
AT_ONCE = 512


class Batches(NamedTuple):
    """The features of the tokens of some texts."""

    features: npt.NDArray[np.float16]
    """A row for each token of all known texts."""
    begins: Index
    """Where each text begins."""
    counts: Index
    """How many tokens each has."""

    def read(self, some: Index) -> tuple[Array, Index]:
        """The features of the tokens of some of them, and where each begins among those."""
        begins, counts = self.begins[some], self.counts[some]
        starts: Index = np.cumsum(counts) - counts
        rows = np.repeat(begins - starts, counts)
        rows += np.arange(len(rows))
        return self.features[rows].astype(np.float32), starts


class Tokens:
    """The features of the tokens of texts, each made once; they lie on disk (3 kB a token)."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 it is read as long as this lives
        self._places: dict[str, tuple[int, int]] = {}
        self._rows: int = 0

    def of(self, texts: Sequence[str]) -> Batches:
        """The features of some texts."""
        for text in dict.fromkeys(texts):
            if text not in self._places:
                features = token_features(text)[:MOST_TOKENS]
                if not features.size:
                    features = np.zeros((1, FEATURES), np.float32)
                self._file.write(features.astype(np.float16).tobytes())
                count = features.shape[0]
                self._places[text] = (self._rows, count)
                self._rows += count
        self._file.flush()
        kept: Any = np.memmap(self._file, np.float16, "r", shape=(self._rows, FEATURES))
        places = np.array([self._places[text] for text in texts], np.intp).reshape(-1, 2)
        return Batches(kept, places[:, 0], places[:, 1])


class Detecting(NamedTuple):
    """A network that reads a vector and the peaks of detectors; the last row of each layer is its bias."""

    detectors: Array
    network: Head


def find_peaks(detectors: Array, tokens: Batches) -> Array:
    """The peaks of each text."""
    made = np.zeros((len(tokens.begins), DETECTORS), np.float32)
    for begin in range(0, len(made), AT_ONCE):
        some = np.arange(begin, min(begin + AT_ONCE, len(made)))
        features, starts = tokens.read(some)
        made[some] = np.maximum(np.maximum.reduceat(features @ detectors[:-1] + detectors[-1], starts), 0)
    return made


def fit(vectors: Array, tokens: Batches, labels: npt.NDArray[np.bool_]) -> Detecting:
    """Fit detectors and network, always from the same start.

    Args:
        labels: whether each means what the head decides.
    """
    dice = np.random.default_rng(0)
    width = vectors.shape[1] + DETECTORS
    weights = [_start(dice, FEATURES, DETECTORS), _start(dice, width, HIDDEN), _start(dice, HIDDEN, 1)]
    moments = [(np.zeros_like(each), np.zeros_like(each)) for each in weights]
    steps, step = EPOCHS * -(-len(labels) // BATCH), 0
    for _ in range(EPOCHS):
        order = dice.permutation(len(labels))
        for begin in range(0, len(labels), BATCH):
            some = order[begin : begin + BATCH]
            rate, step = RATE * (1 - step / steps) + LEAST_RATE, step + 1
            slopes = _slopes(weights, vectors[some], *tokens.read(some), labels[some], dice)
            for at, slope in enumerate(slopes):
                _step(weights[at], moments[at], slope, rate, step)
    detectors, hidden, out = weights
    return Detecting(detectors, Head(hidden, out[:, 0]))


def _start(dice: np.random.Generator, width: int, outputs: int) -> Array:
    least = 1 / np.sqrt(width)
    return np.vstack([dice.uniform(-least, least, (width, outputs)), np.zeros((1, outputs))]).astype(np.float32)


def _slopes(
    weights: Sequence[Array],
    vectors: Array,
    features: Array,
    starts: Index,
    labels: npt.NDArray[np.bool_],
    dice: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """The slopes of the mean loss, with a part of all that is read left out at random."""
    detectors, hidden, out = weights
    features = features * _kept(dice, features.shape, FEATURES_LEFT_OUT)
    answers = features @ detectors[:-1] + detectors[-1]
    tops = np.maximum.reduceat(answers, starts)
    kept = _kept(dice, tops.shape, FEATURES_LEFT_OUT)
    read = np.hstack([vectors * _kept(dice, vectors.shape, LEFT_OUT), np.maximum(tops, 0) * kept])
    inner = read @ hidden[:-1] + hidden[-1]
    felt = np.maximum(inner, 0)
    odds = np.clip(felt @ out[:-1, 0] + out[-1, 0], -SURE, SURE)
    error = ((1 / (1 + np.exp(-odds)) - labels) / len(labels)).astype(np.float32)
    back = np.outer(error, out[:-1, 0]) * (inner > 0)
    to_peaks = (back @ hidden[vectors.shape[1] : -1].T) * kept * (tops > 0)
    lengths = np.diff(starts, append=len(features))
    is_top = answers == np.repeat(tops, lengths, axis=0)  # a token that a text has twice counts as one
    to_answers = np.repeat(to_peaks, lengths, axis=0) * is_top
    return (
        np.vstack([features.T @ to_answers, to_peaks.sum(0, keepdims=True)]),
        np.vstack([read.T @ back, back.sum(0, keepdims=True)]),
        np.append(felt.T @ error, error.sum())[:, None].astype(np.float32),
    )


def _kept(dice: np.random.Generator, shape: tuple[int, ...], left_out: float) -> Array:
    return (dice.random(shape, np.float32) >= left_out).astype(np.float32) / np.float32(1 - left_out)


def _step(weights: Array, moments: tuple[Array, Array], slope: Array, rate: float, step: int) -> None:
    """One step of Adam, in place; weights but biases are drawn to nothing beside it (Loshchilov and Hutter 2019)."""
    first, second = moments
    first += (1 - DECAY) * (slope - first)
    second += (1 - SECOND) * (slope * slope - second)
    size = np.sqrt(second / (1 - SECOND**step)) + EPSILON
    weights[:-1] *= 1 - rate * SHRUNK
    weights -= rate / (1 - DECAY**step) * first / size
