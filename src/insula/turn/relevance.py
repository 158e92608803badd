"""How likely each recalled line answers what is asked: one calibrated score for all lines of the user's own (K4).

It weighs four things that recall knows of a line: how near its best statement is in matter, whether one was made of it
at all, how many of the question's words it holds, and how near the two are in meaning. Sixteen things more were tried,
whose a statement is and what kind of value it holds among them; none told more. `make heads` fits it on the lives of
`insula bench life`.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from insula.language.heads import cards
from insula.turn.instructions import bears
from insula.types import Recalled

FEW = 5
"""Lines that may answer at once, and stay in their order."""
NONE = -9.0
"""What counts as the log-odds of the best line where there is none."""
BESIDE = 1.0
"""By how much the log-odds of a line may stay below the best one's, and it still stands beside it."""


def features(one: Recalled) -> tuple[float, float, float, float, float]:
    """What is weighed, in the order of `NAMES`."""
    unread = one.fit is None
    return one.fit or 0.0, float(unread), one.parts.get("overlap", 0.0), one.parts.get("cosine", 0.0), 1.0


NAMES = ("fit", "unread", "overlap", "cosine", "intercept")


def answer_odds(one: Recalled) -> float:
    """The log-odds that a line answers what is asked, among as many lines as people have who told a few dozen facts."""
    weights = _weights()
    return sum(weights[name] * value for name, value in zip(NAMES, features(one), strict=True))


class Evidence(NamedTuple):
    """What memory has for a message, before it is decided whether that is told."""

    best: float
    """The log-odds that the likeliest of the user's lines answers; `NONE` where they have none."""
    confidence: float
    """How likely memory holds what is asked, by all that was recalled, in [0, 1]."""
    memories: int
    """How many lines there are in all: the more, the likelier one seems to answer by chance."""

    @property
    def values(self) -> tuple[float, float, float]:
        """What is weighed of it."""
        return self.best, self.confidence, math.log(max(self.memories, 1))


def may_answer(one: Recalled) -> bool:
    """Whether a memory is a line of the user's own that may stand before the model: no question of theirs does."""
    return one.memory.provenance == "user" and bears(one)


def gather_evidence(recalled: Sequence[Recalled], confidence: float, memories: int) -> Evidence:
    """What memory has for a message; see `Evidence`."""
    best = max((answer_odds(one) for one in recalled if may_answer(one)), default=NONE)
    return Evidence(best, confidence, memories)


def answering(recalled: Sequence[Recalled], most: int) -> tuple[Recalled, ...]:
    """The lines that likely answer, the newest first: the user's by their odds, and all that others brought.

    Where a few lines answer, or what answered may have changed, all stay in the order in which they were recalled: the
    newest first, what it ended or may have changed behind it.

    Args:
        recalled: what came up.
        most: lines that may stand before the model.
    """
    odds = [(answer_odds(one), one) for one in recalled if may_answer(one)]
    others = [one for one in recalled if one.memory.provenance != "user"]
    if not odds:
        return tuple(others)
    best, likeliest = max(odds, key=lambda pair: pair[0])
    if _is_in_order(likeliest, recalled):
        return tuple(recalled)
    near = sorted((pair for pair in odds if pair[0] >= best - BESIDE), key=lambda pair: -pair[0])[:most]
    newest = sorted((one for _, one in near), key=lambda one: -one.memory.id)
    return (*newest, *others)


def _is_in_order(likeliest: Recalled, recalled: Sequence[Recalled]) -> bool:
    """Whether the likeliest line answers by what it states, or nothing does and something may have changed."""
    if likeliest.bearing in {"answers", "history"}:
        return sum(one.bearing in {"answers", "history"} for one in recalled) <= FEW
    return likeliest.reason == "changed" and all(one.bearing != "answers" for one in recalled)


@cache
def _weights() -> Mapping[str, float]:
    return cards()["personal"]["answer"]
