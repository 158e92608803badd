"""Whether a message sets the answer to the user's own question right: "That's outdated, it's Dr Costa now.".

Such words name nothing that anybody could ask for, and tell little of a fact until their question stands before them.
A logistic regression on four things that the heads know decides (`corrected.json`, `insula bench corrected --write`).
Of any other embedding than the shipped one it can tell nothing.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypedDict

from insula.language.heads import DIMENSIONS, Vector, change_odds, log_odds, predict_chance

NAMES = ("fact", "with_question", "change", "near")


class CorrectedCard(TypedDict):
    """What is known of the regression."""

    decides: str
    weights: Mapping[str, float]
    points: Mapping[str, float]
    """The log-odds from which a message counts as the right answer (`keep`)."""


class Answered(NamedTuple):
    """A question of the user's, the assistant's answer, and what the user said to that."""

    question: str
    answer: str
    reply: str

    @property
    def with_question(self) -> str:
        """What the user said, behind the question."""
        return f"{self.question} {self.reply}"

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts whose vectors are read."""
        return self.question, self.answer, self.reply, self.with_question


def is_corrected(said: Answered, vectors: Mapping[str, Vector]) -> bool:
    """Whether what the user said sets the answer right."""
    known, card = describe_correction(said, vectors), load_card()
    if not known:
        return False
    odds = sum(card["weights"][name] * value for name, value in zip(NAMES, known, strict=True))
    return odds + card["weights"]["intercept"] >= card["points"]["keep"]


def describe_correction(said: Answered, vectors: Mapping[str, Vector]) -> tuple[float, ...]:
    """What is weighed, in the order of `NAMES`; empty without vectors.

    Returns:
        The log-odds that the words tell a fact, alone and behind the question, those that they tell of a change, and
        the cosine of them and the answer.
    """
    reply, whole, answer = (vectors.get(text) for text in (said.reply, said.with_question, said.answer))
    if reply is None or whole is None or answer is None or {reply.size, whole.size, answer.size} != {DIMENSIONS}:
        return ()
    alone, behind = predict_chance("fact", said.reply, reply), predict_chance("fact", said.with_question, whole)
    return log_odds(alone or 0.0), log_odds(behind or 0.0), change_odds(reply), float(reply @ answer)


@cache
def load_card() -> CorrectedCard:
    """The card of the regression."""
    return json.loads((files("insula.language") / "corrected.json").read_text("utf-8"))
