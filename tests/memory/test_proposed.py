"""Of hundreds of statements about those asked about the nearest are judged, and those by which something changed."""

import numpy as np

from insula.memory.assertion import Question, questions
from insula.memory.encoding import ASSISTANT, USER
from insula.memory.proposed import CHANGED, NEAR, Spoken, proposed
from insula.memory.vectors import Vector, embedded, packed
from insula.text.analysis import analyse

MANY = 240


def asked(text: str, vector: Vector | None) -> list[Question]:
    return [one._replace(vector=vector) for one in questions(analyse(text), USER, ASSISTANT)]


def pointing(angle: float) -> Vector:
    return embedded(lambda _: [np.cos(angle), np.sin(angle)], "")


def spoken(number: int, *, marks: str = "", terms: str = "", angle: float = 1.5) -> Spoken:
    return Spoken(number, USER, marks, terms, packed(pointing(angle)))


def test_of_few_all_are_judged_however_far() -> None:
    found = [spoken(number) for number in range(NEAR, 0, -1)]
    assert {*proposed(asked("Where do I live?", pointing(0.0)), found)} == {*range(1, NEAR + 1)}


def test_of_many_no_more_are_judged_than_of_few() -> None:
    for size in (100, MANY, 4 * MANY):
        found = [spoken(number, marks="changes") for number in range(size, 0, -1)]
        assert len(proposed(asked("Where do I live?", pointing(0.0)), found)) <= NEAR + CHANGED


def test_the_nearest_is_judged_though_it_is_the_oldest() -> None:
    found = [spoken(number) for number in range(MANY, 1, -1)] + [spoken(1, angle=0.3)]
    assert 1 in proposed(asked("Where do I live?", pointing(0.0)), found)


def test_each_question_has_its_nearest() -> None:
    found = [spoken(number, angle=0.8) for number in range(MANY, 2, -1)]
    found += [spoken(2, angle=0.1), spoken(1, angle=1.4)]
    both = asked("Where do I live?", pointing(0.0)) + asked("What do I eat?", pointing(1.5))
    assert {1, 2} <= {*proposed(both, found)}


def test_what_changed_last_is_judged_though_it_is_far() -> None:
    found = [spoken(number, marks="ended" if number in {7, 200} else "") for number in range(MANY, 0, -1)]
    assert {7, 200} <= {*proposed(asked("Where do I live?", pointing(0.0)), found)}


def test_without_vectors_those_are_judged_that_hold_the_words_of_the_question() -> None:
    [question] = asked("Where do I live?", None)
    told = " ".join(question.terms)
    found = [Spoken(number, USER, "", told if number == 3 else "tea", None) for number in range(MANY, 0, -1)]
    assert 3 in proposed([question], found)
