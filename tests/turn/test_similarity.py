"""Near duplicates, and texts that repeat themselves."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula.turn.similarity import NEAR_DUPLICATE, measure_specificity, near_duplicate, self_repetition

STORY = (
    "The harbour of Porto lies at the mouth of the river Douro. Boats used to carry wine from the valley to the "
    "cellars on the southern bank, where it ripened for years before it was shipped to England. Today the boats "
    "carry visitors, and the wine travels by truck."
)
OTHER = (
    "A compiler reads the source of a program and writes machine code. It first splits the text into tokens, then "
    "builds a tree of them, checks the types, and at last emits instructions that the processor understands."
)


def test_the_same_words_with_other_case_and_spacing_are_a_duplicate() -> None:
    assert near_duplicate(STORY.upper().replace(" ", "  "), [OTHER, STORY]) == 1.0


def test_a_few_changed_words_stay_a_duplicate() -> None:
    changed = STORY.replace("visitors", "tourists").replace("ripened", "matured")
    assert near_duplicate(changed, [STORY]) >= NEAR_DUPLICATE


def test_a_hedge_before_the_old_answer_makes_no_new_one() -> None:
    assert near_duplicate(STORY, ["I am not certain of this. " + STORY]) == 1.0


def test_different_texts_are_not_alike() -> None:
    assert near_duplicate(STORY, [OTHER]) == 0.0
    assert near_duplicate(STORY, []) == 0.0


def test_short_texts_are_compared_whole() -> None:
    assert near_duplicate("Yes, it is.", ["yes it is"]) == 1.0
    assert near_duplicate("Yes, it is.", ["No, thanks."]) == 0.0


def test_a_loop_repeats_itself_and_prose_does_not() -> None:
    assert self_repetition("I like to play games. I like to play games.") > 0.3
    assert self_repetition("the " * 100) > 0.9
    assert self_repetition(STORY) < 0.1
    assert self_repetition("| - | - |\n" * 30 + "one two three") < 0.5


def test_plain_prose_is_more_specific_than_small_talk() -> None:
    assert measure_specificity(OTHER) > measure_specificity("oh I do so too, it is ok by me")
    assert measure_specificity("4") == 1.0


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_scores_stay_between_nought_and_one(text: str, others: list[str]) -> None:
    assert 0.0 <= near_duplicate(text, others) <= 1.0
    assert 0.0 <= self_repetition(text) <= 1.0
    assert 0.0 <= measure_specificity(text) <= 1.0


@given(st.text(alphabet="abcdefghij ", min_size=1, max_size=200).filter(str.strip))
def test_every_text_is_a_duplicate_of_itself(text: str) -> None:
    assert near_duplicate(text, [text]) == 1.0


def nearness(text: str) -> float:
    return near_duplicate(text, [text] * 5)


@pytest.mark.parametrize("work", [nearness, self_repetition])
def test_a_long_text_costs_no_more_than_its_length(work: Callable[[str], float]) -> None:
    assert growth(work, lambda size: "ab " * size, 300_000) <= LINEAR
