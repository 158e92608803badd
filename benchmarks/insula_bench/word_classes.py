"""Words of many languages by what they mean, for the head that tells secrets: `python -m insula_bench.word_classes`.

The hook has no sentence encoder. So the words that the encoder's tokenizer knows as one piece, and those of the
templates and of ordinary messages, are read by it here, and put into as many classes as a byte holds (k-means, Lloyd
1982): `say`, `sag` and `diga` into one. What is kept is a table of two bytes a place, found by the hash of a word: a
check, and the class.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from insula.language.encoder import load_encoder
from insula.redaction import head
from insula_bench.secret_lines import NONE, SECRETS, ordinary_messages, read_lines

TABLE = Path(head.__file__).with_name("words.bin")
PIECES = 60_000
"""Pieces of the tokenizer that begin a word, the most frequent first; of ideograms, of which fewer make a word, all."""
CLASSES, ROUNDS = 255, 12
SAMPLE = 20_000
"""Words that the classes are made of; all are then put into them."""
LATIN = re.compile(r"[^\W\d_\u0600-\u06ff\u0e00-\u0e7f\u1100-\uffff]{2,16}")
IDEOGRAMS = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]{2,4}|[\u4e00-\u9fff]")
READ_OUT = re.compile(r"\{(?:turn|read)_")
"""What stands for a value that is read out: such a line has few words but those of `spoken.txt`."""

Array = npt.NDArray[np.float32]


def find_words() -> list[str]:
    """The words that get a class, the most frequent first, each once."""
    pieces = enumerate(load_encoder()._tokenizer._numbers)  # pyright: ignore[reportPrivateUsage]
    known = (word for rank, piece in pieces for word in _words_of(piece) if rank < PIECES or IDEOGRAMS.match(word))
    return list(dict.fromkeys((*known, *_own_words())))


def _words_of(piece: str) -> Iterator[str]:
    word = piece.removeprefix("▁").lower()
    if (LATIN.fullmatch(word) and piece[0] == "▁") or IDEOGRAMS.fullmatch(word):
        yield word


def _own_words() -> Iterator[str]:
    lines = (line for name in (*SECRETS, *NONE) for line in read_lines(name) if not READ_OUT.search(line))
    for text in (*lines, *ordinary_messages()):
        yield from (word for word in LATIN.findall(text.lower()) if len(word) > 2)


def find_classes(vectors: Array) -> npt.NDArray[np.int64]:
    """The class of each word, from 1."""
    chance = np.random.default_rng(5)
    sample = vectors[np.sort(chance.permutation(len(vectors))[:SAMPLE])]
    centres = sample[chance.permutation(len(sample))[:CLASSES]]
    for _ in range(ROUNDS):
        nearest = (sample @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, sample)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-6), centres).astype(np.float32)
    return np.concatenate([(part @ centres.T).argmax(1) for part in np.array_split(vectors, 20)]) + 1


def write_table(words: list[str], classes: npt.NDArray[np.int64]) -> bytes:
    """The table: of two words in one place the more frequent."""
    table = bytearray(2 << head.WORD_BITS)
    for word, number in zip(words, classes.tolist(), strict=True):
        place, check = head.find_place(word)
        if not table[place + 1]:
            table[place], table[place + 1] = check, number
    return bytes(table)


def main() -> None:
    """Write the table anew."""
    words = find_words()
    encoder = load_encoder()
    vectors = np.stack([reading.vector for reading in encoder.read_texts(words)]).astype(np.float32)
    vectors -= vectors.mean(0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    TABLE.write_bytes(write_table(words, find_classes(vectors)))
    print(f"{len(words)} words in {CLASSES} classes")


if __name__ == "__main__":
    main()
