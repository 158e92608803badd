"""What limits every answer on food: an allergy, an intolerance or a diet that the user told, theirs or their people's.

It is shown wherever food is spoken of, whether or not anybody asks for it: who is offered a peanut curry does not ask.
The words for them are a closed list in eight languages; what is about food is told by its meaning.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from insula.memory.storage.vectors import Vector
from insula.text.analysis import LANGUAGES
from insula.text.grammar import UNSPACED
from insula.types import Recalled

NEAR = 0.5
"""Nearness to a request for a dish, a recipe or a restaurant from which a message is about food: 24 of 30 that ask for
a meal, and four of 447 everyday ones, all of them about food."""


def food(language: str) -> tuple[str, ...]:
    """Requests that are about food, in a language and in English."""
    return tuple(dict.fromkeys([*_of(language)["food"], *_of("en")["food"]]))


def question(language: str) -> str:
    """The question that brings up who has which limit."""
    return str(_of(language)["asked"])


def is_near(message: Vector, others: Iterable[Vector]) -> bool:
    """Whether a message means about the same as one of some others."""
    return any(float(np.dot(message, other)) >= NEAR for other in others)


def limits(recalled: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Those memories in which the user says an allergy, an intolerance or a diet that still holds."""
    return tuple(one for one in recalled if _may_stand(one) and _says().search(one.memory.line))


def _may_stand(one: Recalled) -> bool:
    memory = one.memory
    told = memory.provenance == "user" and memory.kind != "episodic" and not memory.withheld and bool(memory.line)
    return told and one.until is None


@cache
def _says() -> re.Pattern[str]:
    """In any language: who speaks several says it in one of them."""
    spaced = "|".join(str(_of(language)["says"]) for language in LANGUAGES if language not in UNSPACED)
    unspaced = "|".join(str(_of(language)["says"]) for language in UNSPACED)
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{unspaced}", re.IGNORECASE)


def _of(language: str) -> dict[str, str | list[str]]:
    return _data().get(language) or _data()["en"]


@cache
def _data() -> dict[str, dict[str, str | list[str]]]:
    return json.loads((files("insula.turn") / "limits.json").read_text("utf-8"))
