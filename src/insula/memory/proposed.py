"""Which of the latest statements about those asked about are weighed: all are compared with what is asked at once.

What a statement has to do with a question is judged by its words, its subject and its place among the others, one by
one; of hundreds only those are worth it that are near, and those by which something changed lately.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from insula.memory.assertion import Question
from insula.memory.modality import UPDATES
from insula.memory.vectors import cosines

NEAR = 40
"""Memories that are proposed for how near what they state is to a question."""
CHANGED = 12
"""Memories that are proposed since they tell of a change, the latest."""


class Spoken(NamedTuple):
    """A statement, as far as it is chosen by; the sets of words as they are stored."""

    memory: int
    subjects: str
    marks: str
    terms: str
    vector: bytes | None


def proposed(asked: Sequence[Question], found: Sequence[Spoken]) -> list[int]:
    """The memories whose statements are weighed, in no order.

    Args:
        asked: the questions; a statement counts by the one that it is nearest to.
        found: statements about those asked about, the latest of each first.
    """
    memories = dict.fromkeys(one.memory for one in found)
    if len(memories) <= NEAR + CHANGED:
        return list(memories)
    near = np.max([_nearness(question, found) for question in asked], axis=0)
    order: list[int] = np.argsort(-near, kind="stable").tolist()
    best = dict.fromkeys(found[at].memory for at in order)
    changed = (one.memory for one in found if not UPDATES.isdisjoint(one.marks.split()))
    latest = sorted(dict.fromkeys(changed), reverse=True)
    return list(dict.fromkeys([*list(best)[:NEAR], *latest[:CHANGED]]))


def _nearness(question: Question, found: Sequence[Spoken]) -> list[float]:
    """How near statements are to a question: by their vectors, where one is still to come by the words in common."""
    near = [0.0] * len(found) if question.vector is None else cosines(question.vector, [one.vector for one in found])
    asked = question.terms
    return [
        cosine or len(asked.intersection(one.terms.split())) / max(len(asked), 1)
        for cosine, one in zip(near, found, strict=True)
    ]
