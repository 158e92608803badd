"""What a sentence of a reply says in place of an answer: that one does not know, was not told, will not, or may I help.

A small network on the vector of a sentence and on what the encoder saw at its places decides (`replies.npz`; `make
heads` fits it, its card is `replies.json`). Of any other embedding than the shipped one it can tell nothing.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, TypedDict, get_args

from insula.language.heads import DIMENSIONS, Vector, read_request
from insula.language.meanings import Network, read_weights, softmax
from insula.text.analysis import without_code

Said = Literal["unknown", "untold", "refusal", "offer"]
"""What is said in place of an answer: that one does not know or cannot see it, was never told it, turns the request
down, or is there to help."""
Meaning = Literal["none", "unknown", "untold", "refusal", "offer"]
MEANINGS: tuple[Meaning, ...] = get_args(Meaning)


DECLINES: frozenset[Said] = frozenset({"unknown", "untold", "refusal"})
"""What is said by who cannot, will not or does not know."""
MAX_CHARS = 16_000
SENTENCE_CHARS = 300
"""So much of a reply, and of a sentence, is read."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
_QUOTED = re.compile(r"[\"“„«「『][^\"“”„«»「」『』]*[\"”“»」』]")


class ReplyCard(TypedDict):
    """What is known of the network."""

    points: Mapping[str, float]
    """`said`: the chance from which a sentence is in place of an answer."""


def find_meanings(reply: str, read_vector: Callable[[str], Vector], chars: int | None = None) -> frozenset[Said]:
    """What the sentences of a reply say in place of an answer, outside code and quotations.

    Args:
        read_vector: makes the vector of a text, at unit length.
        chars: only sentences that begin within so many characters are read.
    """
    sentences = _SENTENCE.finditer(_QUOTED.sub("", without_code(reply[:MAX_CHARS])))
    early = (each.group() for each in sentences if chars is None or each.start() < chars)
    return frozenset(meaning for each in early if (meaning := find_meaning(each, read_vector)))


def find_meaning(sentence: str, read_vector: Callable[[str], Vector]) -> Said | None:
    """What a sentence of a reply says in place of an answer; None where it answers, or has no vector of the shipped
    embedding.

    Args:
        read_vector: makes the vector of a text, at unit length.
    """
    text = sentence.strip()[:SENTENCE_CHARS]
    if not any(map(str.isalpha, text)) or (vector := read_vector(text)).size != DIMENSIONS:
        return None
    read = softmax(_load_network().log_odds(read_request(text, vector)))
    chances = dict(zip(MEANINGS, map(float, read), strict=True))
    if 1 - chances["none"] < load_card()["points"]["said"]:
        return None
    return max(get_args(Said), key=lambda meaning: chances[meaning])


@cache
def load_card() -> ReplyCard:
    """The card of the network."""
    return json.loads((files("insula.language") / "replies.json").read_text("utf-8"))


@cache
def _load_network() -> Network:
    read = read_weights("replies.npz")
    return Network(read["hidden"], read["out"])
