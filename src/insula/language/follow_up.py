"""Whether a message gives the answer to the user's own question: "It's Wednesdays now.", "It's Rex.".

The assistant had answered by what was told before, or did not know. Such words name nothing that anybody could ask for,
and tell little of a fact until their question stands before them. A logistic regression for each of the two, on four
things that the heads know, decides (`follow_up.json`, `insula bench follow-up --write`). Of any other embedding than
the shipped one it can tell nothing.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from insula.language.heads import DIMENSIONS, ScoreCard, Vector, change_odds, log_odds, predict_chance

Decision = Literal["corrects", "tells"]
"""`corrects`: a message sets right what the assistant answered; `tells`: it tells what the assistant did not know."""
NAMES = ("fact", "with_question", "change", "near")


class FollowUp(NamedTuple):
    """A question of the user's, the assistant's answer, and what the user said to that."""

    question: str
    answer: str
    message: str
    was_known: bool
    """Whether the assistant gave an answer, and did not say that it knows none."""

    @property
    def with_question(self) -> str:
        """What the user said, behind the question."""
        return f"{self.question} {self.message}"

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts whose vectors are read."""
        return self.answer, self.message, self.with_question


def gives_answer(said: FollowUp, vectors: Mapping[str, Vector]) -> bool:
    """Whether what the user said gives the answer to their question."""
    known, card = describe_follow_up(said, vectors), load_card("corrects" if said.was_known else "tells")
    if not known:
        return False
    odds = sum(card["weights"][name] * value for name, value in zip(NAMES, known, strict=True))
    return odds + card["weights"]["intercept"] >= card["points"]["keep"]


def describe_follow_up(said: FollowUp, vectors: Mapping[str, Vector]) -> tuple[float, ...]:
    """What is weighed, in the order of `NAMES`; empty without vectors.

    Returns:
        The log-odds that the words tell a fact, alone and behind the question, those that they tell of a change, and
        the cosine of them and the answer.
    """
    message, whole, answer = (vectors.get(text) for text in (said.message, said.with_question, said.answer))
    if message is None or whole is None or answer is None or {message.size, whole.size, answer.size} != {DIMENSIONS}:
        return ()
    alone, behind = predict_chance("fact", said.message, message), predict_chance("fact", said.with_question, whole)
    return log_odds(alone or 0.0), log_odds(behind or 0.0), change_odds(message), float(message @ answer)


@cache
def load_card(decision: Decision) -> ScoreCard:
    """The card of a regression."""
    cards: Mapping[Decision, ScoreCard] = json.loads((files("insula.language") / "follow_up.json").read_text("utf-8"))
    return cards[decision]
