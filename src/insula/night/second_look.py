"""A second look at what a model proposed: it is asked which notes follow from the words that they quote (R7).

Heads on sentence vectors tell what a note is about, and not whether it says the opposite of it. A model can, if it can
tell that at all: among the pairs stand five whose answer is known, in the language that most of the others are in. Of
one that gets any of them wrong, or gives no answer that can be read, nothing is kept; the night does without.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from insula.errors import ModelMalformed, ModelRefused
from insula.night import prompts
from insula.night.cycle import Night
from insula.night.prompts import ask_model
from insula.text.analysis import detect_language

if TYPE_CHECKING:
    from insula.llm.model import Model

Says = Literal["follows", "opposite", "other"]
WHY: Mapping[Says, str] = {
    "follows": "",
    "opposite": "says the opposite of what it quotes",
    "other": "is not what the quoted words ask for",
}
"""Why a note may not be kept, by what it is; empty where it may."""
UNFIT = "the model does not tell a guideline from its opposite"
"""Why nothing of a model is kept that gets a known pair wrong."""
DOES_WITHOUT = "{why}, so nothing that it proposed was kept."
UNREAD = "the model gave no answer that can be read when it was asked again"
"""Why nothing is kept where nobody can tell whether the model stands by it."""
MOST = 60
"""Pairs of one question: more than a reflection can hold, with the known ones."""
WORDS = 300
"""Characters of the user's words in a pair."""
MAX_TOKENS = 1_000
TEMPERATURE = 0.0
PURPOSE = "second look"
ANSWER = "reflection:second look"


class Pair(NamedTuple):
    """The user's words, and a note that rests on them."""

    words: str
    note: str


DEFAULT = "en"
"""The language of the known pairs where there are none in that of the others."""


class Verdict(BaseModel):
    """What a note is to the words that it rests on."""

    pair: int
    says: Says


class SecondLook(BaseModel):
    """What each note is."""

    verdicts: Annotated[list[Verdict], Field(max_length=MOST)]


class SecondLookResult(NamedTuple):
    """What a model says of notes when it reads them again."""

    why: list[str]
    """Why each may not be kept; empty where it may."""
    unfit: str = ""
    """Why nothing of this model is kept; empty where it can be asked."""


async def look_again(night: Night, model: "Model", pairs: Sequence[Pair]) -> SecondLookResult:
    """What a model says of notes beside the words that they rest on.

    Raises:
        BudgetExceeded: what may be spent is spent; the next start asks.
        ModelError: the model was not reached, or not in time.
    """
    known = known_pairs(find_language(pairs))
    mixed = _mix_pairs(pairs, list(known))
    answer = await ask_model(
        night,
        model,
        ANSWER,
        prompts.second_look({"pair": at, "user": pair.words, "note": pair.note} for at, pair in enumerate(mixed, 1)),
        SecondLook,
        purpose=PURPOSE,
        max_tokens=MAX_TOKENS,
        temperature=TEMPERATURE,
        final=(ModelMalformed, ModelRefused),
    )
    if answer["failed"]:
        return SecondLookResult([UNREAD] * len(pairs), UNREAD)
    read: dict[int, Says] = {
        verdict.pair: verdict.says for verdict in SecondLook.model_validate(answer["value"]).verdicts
    }
    says: dict[Pair, Says] = {pair: read.get(at, "other") for at, pair in enumerate(mixed, 1)}
    if any(says[pair] != right for pair, right in known.items()):
        return SecondLookResult([UNFIT] * len(pairs), UNFIT)
    return SecondLookResult([WHY[says[pair]] for pair in pairs])


def known_pairs(language: str) -> Mapping[Pair, Says]:
    """The pairs whose answer is known, in a language."""
    every = _load_known_pairs()
    return every.get(language, every[DEFAULT])


def known_answer(pair: Pair) -> Says | None:
    """The answer to a known pair of any language; None to any other."""
    return next((known[pair] for known in _load_known_pairs().values() if pair in known), None)


@cache
def _load_known_pairs() -> Mapping[str, Mapping[Pair, Says]]:
    read = json.loads((files("insula.night") / "known_pairs.json").read_text("utf-8"))
    return {language: {Pair(*pair): says for *pair, says in rows} for language, rows in read.items()}


def find_language(pairs: Sequence[Pair]) -> str:
    """The language that most of the notes are in: a model that reads English well may misread another."""
    languages = Counter(detect_language(f"{pair.words} {pair.note}", DEFAULT) for pair in pairs)
    return max(languages, key=lambda language: languages[language], default=DEFAULT)


def _mix_pairs(pairs: Sequence[Pair], known: Sequence[Pair]) -> list[Pair]:
    """Some pairs with the known ones spread among them."""
    each = -(-len(pairs) // len(known))
    return [pair for at, right in enumerate(known) for pair in (right, *pairs[at * each : (at + 1) * each])]
