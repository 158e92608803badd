"""Impasse: the decision cycle is stuck (K5, after SOAR)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from insula.claims import say_claim
from insula.turn import mending
from insula.turn.mending import Shortfall
from insula.types import PASS_THRESHOLD, Assessment

SAME_TOPIC = 0.25
"""Share of all their terms that two messages on one topic have in common (Jaccard)."""


class JudgedTurn(NamedTuple):
    """What is kept of a turn to recognise an impasse in the next."""

    passed: bool
    """What could not be judged counts as passed."""
    score: float
    topic: frozenset[str]
    shortfall: Shortfall | None = None
    """What the next turn is told of it."""


def summarize_turn(assessment: Assessment, topic: frozenset[str], shortfall: Shortfall | None = None) -> JudgedTurn:
    """What the next turn needs to know of this one."""
    return JudgedTurn(assessment.outcome != "doubtful", assessment.score, topic, shortfall)


def from_record(data: Mapping[str, Any]) -> JudgedTurn | None:
    """What a turn's record on the ledger says of it; None where it had no response."""
    if (assessment := data.get("assessment")) is None:
        return None
    score = float(assessment["score"])
    passed = score >= PASS_THRESHOLD or bool(assessment.get("unclear"))
    return JudgedTurn(passed, score, frozenset(data.get("topic", ())), mending.from_record(data))


def find_impasse(previous: JudgedTurn | None, current: JudgedTurn) -> str | None:
    """Why the agent is stuck, or None: two assessments in a row below threshold on one topic."""
    if previous is None or previous.passed or current.passed or not same_topic(previous.topic, current.topic):
        return None
    shared = ", ".join(sorted(previous.topic & current.topic)[:4])
    key = "noticed.stuck on" if shared else "noticed.stuck"
    return say_claim("why.noticed", key, topic=shared, first=previous.score, second=current.score).text


def same_topic(topic: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two messages are about the same; one without content ("try again") stays on the topic."""
    return not topic or not other or len(topic & other) / len(topic | other) >= SAME_TOPIC
