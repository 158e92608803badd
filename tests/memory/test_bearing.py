"""What a statement says of a question, the more there is remembered beside it."""

import numpy as np
import pytest

from insula.memory import assertion
from insula.memory.bearing import Judged, Told, judged
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.vectors import Vector
from insula.text.analysis import analyse

ASKED = assertion.questions(analyse("Where do I live?"), USER, ASSISTANT)[0]
FEW, MANY = 5, 5_000


def told(memory: int, text: str, cosine: float) -> Told:
    """A line whose vector has this cosine with the question's."""
    (statement,) = assertion.statements(analyse(text), USER, ASSISTANT, ())
    return Told(memory, float(memory), statement._replace(vector=vector(cosine, memory)))


def vector(cosine: float, other: int) -> Vector:
    found = np.zeros(8, np.float32)
    found[0], found[other] = cosine, (1 - cosine**2) ** 0.5
    return found


def beside(newer: Told, memories: int) -> Judged:
    """How "I live in Porto." stands beside something newer."""
    older = told(1, "I live in Porto.", 0.7)
    return judged([ASKED._replace(vector=vector(1.0, 1))], [older, newer], memories)[older.memory]


@pytest.mark.parametrize("memories", [FEW, MANY])
def test_what_is_plainly_newer_is_told_beside_the_older_however_much_is_remembered(memories: int) -> None:
    older = beside(told(2, "I now live in Madrid.", 0.9), memories)
    assert (older.bearing, older.until, older.taken_by) == ("answers", None, (2,))


@pytest.mark.parametrize("memories", [FEW, MANY])
def test_what_the_same_words_end_is_history_however_much_is_remembered(memories: int) -> None:
    older = beside(told(2, "I no longer live in Porto.", 0.9), memories)
    assert (older.bearing, older.until, older.taken_by) == ("history", 2.0, (2,))


def test_a_change_that_is_near_by_chance_alone_is_told_beside_nothing_among_thousands() -> None:
    change = told(2, "I no longer commute by tram.", 0.35)
    assert beside(change, FEW).reason == "changed"
    assert beside(change, MANY).reason == ""
