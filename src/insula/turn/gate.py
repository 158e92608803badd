"""Whether memory has a say in a message at all, decided before what it says (K4): nine messages in ten need nothing.

Two heads decide it. One tells from the meaning of each sentence the chance that only this user can have told what it
asks. The other weighs that chance together with what memory has for it (`relevance.Evidence`), and lets lines stand
before the model. Where there are no vectors, only a line that surely answers is shown, and never is it said that
nothing was told.
`make heads` fits both; their cards stand in docs/heads.md.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from insula.language.heads import cards, highest_chance, point
from insula.memory.vectors import Vector
from insula.text.analysis import LANGUAGES, Analysis
from insula.text.questions import AskKind, asks
from insula.turn.relevance import Evidence

_LEAST = 1e-4
_MADE: frozenset[AskKind] = frozenset({"how_to", "code", "request"})
"""Asks for what is to be made or done, which no memory answers."""


class Gate(NamedTuple):
    """What a message lets memory say."""

    personal: float | None
    """The chance that only this user can have told what it asks; None where there was no vector to tell it from."""
    talkers: frozenset[str] = frozenset()
    """Those whom it names and whose talk is remembered."""
    asks: bool = True
    """Whether it asks anything but for something to be made: of a talker that is what they said."""
    language: str = "en"

    def lets_in(self, evidence: Evidence) -> bool:
        """Whether lines may stand before the model."""
        if self.talkers:
            return True
        return self.personal is not None and _odds(features(self.personal, evidence)) >= 0

    @property
    def is_certain(self) -> bool:
        """Whether surely only this user can have told it: where no line stands, it may be said that they have not."""
        if self.language not in LANGUAGES:
            return False
        personal = self.personal is not None and self.personal >= point("personal", "untold")
        return personal or bool(self.talkers and self.asks)


def gate(message: Analysis, vectors: Sequence[Vector | None], talkers: Collection[str] = ()) -> Gate:
    """What a message lets memory say.

    Args:
        message: the message.
        vectors: of its sentences and clauses (`insula.language.units`).
        talkers: those whom it names and whose talk is remembered.
    """
    asking = any(ask.kind not in _MADE for ask in asks(message))
    return Gate(highest_chance("personal", vectors), frozenset(talkers), asking, message.language)


def features(personal: float, evidence: Evidence) -> tuple[float, ...]:
    """What lets lines in, in the order of `NAMES`: the log-odds of the first head, what memory has, and one."""
    chance = min(max(personal, _LEAST), 1 - _LEAST)
    return math.log(chance / (1 - chance)), *evidence.values, 1.0


NAMES = ("personal", "best", "confidence", "size", "intercept")


def _odds(values: Sequence[float]) -> float:
    weights = cards()["personal"]["lines"]
    return sum(weights[name] * value for name, value in zip(NAMES, values, strict=True))
