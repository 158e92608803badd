"""Whether a message asks to have something forgotten, and what: a thing that it names, what was just said, or all.

A small network on the vector of a sentence and on its spelling decides (`forget.npz`; `make heads` fits it, its card is
`forget.json`). Of any other embedding than the shipped one it can tell nothing.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple, TypedDict, get_args

from insula.language.heads import DIMENSIONS, Vector, read_weights
from insula.language.meanings import Meanings, Network
from insula.text.analysis import Analysis, analyse_text
from insula.text.tables import load_table

Forget = Literal["named", "before", "all"]
"""What is to be forgotten: what the message names, what was said just before it, or everything."""
Meaning = Literal["none", "named", "before", "all"]
MEANINGS: tuple[Meaning, ...] = get_args(Meaning)


class ForgetCard(TypedDict):
    """What is known of the network."""

    points: Mapping[str, float]
    """`offer`: the chance from which a sentence is such a request; `likely`: from which it is one where something that
    is stored is named by it."""
    weighs: Mapping[str, float]
    asking: Mapping[str, Sequence[str]]
    """By language the terms that such requests are made with, whatever they name."""


class ForgetRequest(NamedTuple):
    """A request to forget."""

    scope: Forget
    words: str
    """The sentence or clause of the message that asks; the rest of the message says something else."""
    is_sure: bool = True
    """Whether it is one whatever is stored."""


class _Read(NamedTuple):
    text: str
    scope: Forget
    chance: float


def find_request(pieces: Mapping[str, Vector], message: Analysis) -> ForgetRequest | None:
    """What a message asks to have forgotten; None where it asks no such thing, or where there are no vectors.

    Args:
        pieces: its sentences and clauses, each with its vector. The shortest that asks is taken; of one that names
            nothing ("You needn't remember, …", "Get rid of it.") the sentence that it stands in, or the message.
        message: what the user said themselves.
    """
    points = load_card()["points"]
    read = [_read_piece(text, pieces[text]) for text in sorted(pieces, key=len) if pieces[text].size == DIMENSIONS]
    likely = [piece for piece in read if piece.chance >= points["likely"]]
    sure = [piece for piece in likely if piece.chance >= points["offer"]]
    if not likely:
        return None
    asks = (sure or likely)[0]
    if asks.scope != "all" and not name_terms(asks.text, message.language):
        asks = next((piece for piece in likely if piece.scope == "named" and asks.text in piece.text), asks)
        if not name_terms(asks.text, message.language) and name_terms(message.text, message.language):
            asks = asks._replace(text=message.text)
    return ForgetRequest(asks.scope, asks.text, is_sure=bool(sure))


def _read_piece(text: str, vector: Vector) -> _Read:
    read = _load_network().meaning_chances(text, vector, load_card()["weighs"])
    chances = dict(zip(MEANINGS, map(float, read), strict=True))
    return _Read(text, max(get_args(Forget), key=lambda scope: chances[scope]), 1 - chances["none"])


def name_terms(request: str, language: str) -> frozenset[str]:
    """The terms of a request to forget that name what is to be forgotten."""
    return frozenset(analyse_text(request, default=language).terms) - {*load_card()["asking"].get(language, ())}


def is_in_request(words: str, request: str) -> bool:
    """Whether words of a message are a part of what of it asks, or hold that, and so are no fact and no preference.

    Args:
        request: empty where nothing is to be forgotten.
    """
    said, asks = (text.strip(" .!?。！？").casefold() for text in (words, request))
    return bool(asks) and (said in asks or asks in said)


def load_card() -> ForgetCard:
    """The card of the network."""
    return load_table("forget.json", __package__)


@cache
def _load_network() -> Meanings:
    read = read_weights("forget.npz")
    return Meanings(Network(read["hidden"], read["out"]), read["spelled"])
