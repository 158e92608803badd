"""Whether a message gives the answer to the user's own question: "It's Wednesdays now.", "It's Rex.".

The assistant had answered by what was told before, or did not know. Such words name nothing that anybody could ask for,
and tell little of a fact until their question stands before them. Two logistic regressions for each of the two, on what
the heads know, decide (`follow_up.json`, `insula bench follow-up --write`). Of any other embedding than
the shipped one it can tell nothing.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from insula.language.heads import (
    DIMENSIONS,
    ScoreCard,
    Vector,
    answer_affinities,
    change_odds,
    log_odds,
    predict_chance,
    read_request,
)

Decision = Literal["corrects", "tells"]
"""`corrects`: a message sets right what the assistant answered; `tells`: it tells what the assistant did not know."""
Score = Literal["corrects", "tells", "corrects_here", "tells_here"]
"""Whether it does so rather than anything else about the same matter, and (`here`) rather than tell of another."""
NAMES = ("fact", "with_question", "change", "near", "asked", "kept", "length")


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
        return self.question, self.answer, self.message, self.with_question


def gives_answer(said: FollowUp, vectors: Mapping[str, Vector]) -> bool:
    """Whether what the user said gives the answer to their question."""
    known: dict[str, float] = dict(zip(NAMES, describe_follow_up(said, vectors), strict=False))
    decision: Decision = "corrects" if said.was_known else "tells"
    cards = (load_card(decision), load_card(f"{decision}_here"))
    return bool(known) and all(weigh_follow_up(card, known) >= card["points"]["keep"] for card in cards)


def weigh_follow_up(card: ScoreCard, known: Mapping[str, float]) -> float:
    """The log-odds of a regression."""
    weights = {name: weight for name, weight in card["weights"].items() if name != "intercept"}
    return card["weights"]["intercept"] + sum(weight * known[name] for name, weight in weights.items())


def describe_follow_up(said: FollowUp, vectors: Mapping[str, Vector]) -> tuple[float, ...]:
    """What is weighed, in the order of `NAMES`; empty without vectors.

    Returns:
        The log-odds that the words tell a fact, alone and behind the question, and that they tell of a change; the
        cosine of them and the answer; how often people ask so for what is told so; the cosine of the question and of
        both; and the length in hundreds of characters.
    """
    read = [vectors[text] for text in said.texts if text in vectors]
    if len(read) < len(said.texts) or any(vector.size != DIMENSIONS for vector in read):
        return ()
    question, answer, message, whole = read
    alone, behind = predict_chance("fact", said.message, message), predict_chance("fact", said.with_question, whole)
    asked = answer_affinities(read_request(said.question, question)[None, :], message[None, :])
    return (
        log_odds(alone or 0.0),
        log_odds(behind or 0.0),
        change_odds(message),
        float(message @ answer),
        float(asked[0, 0]),
        float(question @ whole),
        len(said.message) / 100,
    )


@cache
def load_card(score: Score) -> ScoreCard:
    """The card of a regression."""
    cards: Mapping[Score, ScoreCard] = json.loads((files("insula.language") / "follow_up.json").read_text("utf-8"))
    return cards[score]
