"""Whether a message asks to have something forgotten, and what: a thing that it names, what was just said, or all.

A small network on the vector of a sentence and on its spelling decides (`forget.npz`; `make heads` fits it, its card is
`forget.json`). Of any other embedding than the shipped one it can tell nothing.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple, TypedDict, get_args

from insula.language.heads import DIMENSIONS, Vector, read_weights
from insula.language.meanings import Meanings, Network
from insula.text.tables import load_table

Forget = Literal["named", "before", "all"]
"""What is to be forgotten: what the message names, what was said just before it, or everything."""
Meaning = Literal["none", "named", "before", "all"]
MEANINGS: tuple[Meaning, ...] = get_args(Meaning)


class ForgetCard(TypedDict):
    """What is known of the network."""

    points: Mapping[str, float]
    """`offer`: the chance from which a sentence is such a request."""
    weighs: Mapping[str, float]


class ForgetRequest(NamedTuple):
    """A request to forget."""

    scope: Forget
    words: str
    """The sentence or clause of the message that asks; the rest of the message says something else."""


def find_request(pieces: Mapping[str, Vector]) -> ForgetRequest | None:
    """What a message asks to have forgotten; None where it asks no such thing, or where there are no vectors.

    Args:
        pieces: its sentences and clauses, each with its vector. The shortest that asks is taken.
    """
    for text in sorted(pieces, key=len):
        if pieces[text].size == DIMENSIONS:
            read = _load_network().meaning_chances(text, pieces[text], load_card()["weighs"])
            chances = dict(zip(MEANINGS, map(float, read), strict=True))
            if 1 - chances["none"] >= load_card()["points"]["offer"]:
                return ForgetRequest(max(get_args(Forget), key=lambda scope: chances[scope]), text)
    return None


def is_in_request(words: str, request: str) -> bool:
    """Whether words of a message are a part of what of it asks, and so no fact and no preference.

    Args:
        request: empty where nothing is to be forgotten.
    """
    return bool(request) and words.strip(" .!?。！？").casefold() in request.casefold()


def load_card() -> ForgetCard:
    """The card of the network."""
    return load_table("forget.json", __package__)


@cache
def _load_network() -> Meanings:
    read = read_weights("forget.npz")
    return Meanings(Network(read["hidden"], read["out"]), read["spelled"])
