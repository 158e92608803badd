"""Consolidation: what is the same becomes one, what is only alike stays two, and nothing vanishes without a record."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula.memory.storage.rows import RememberedItem
from insula.night.phases.consolidation import find_forgettable, merge_duplicates, split_words

DAY = 86_400.0
NOW = 1_000 * DAY


def held(
    number: int, content: str, *, days: float = 1, importance: float = 0.5, uses: int = 1, speaker: str = "user"
) -> RememberedItem:
    at = NOW - days * DAY
    return RememberedItem(
        number, 1, "semantic", "user", speaker, "en", content, importance, frozenset(), at, uses, (at,)
    )


def test_what_is_said_twice_becomes_one_and_the_most_used_stays() -> None:
    items = [held(1, "I live in Lisbon."), held(2, "i live in lisbon!", uses=4), held(3, "I  live in Lisbon")]
    (merge,) = merge_duplicates(items)
    assert (merge.kept, merge.others) == (2, (1, 3))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "I don't like tea."),
        ("I like tea.", "I dislike tea."),
        ("My budget is 500 euro.", "My budget is 900 euro."),
        ("My sister lives in Lisbon.", "My mister lives in Lisbon."),
        ("The meeting is in June.", "The meeting is in July."),
        ("Ana beat Ben.", "Ben beat Ana."),
        ("I can swim.", "I can't swim."),
        ("Es ist möglich.", "Es ist unmöglich."),
        ("She is married.", "She is harried."),
        ("He was hired on Monday.", "He was fired on Monday."),
        ("我喜欢茶", "我不喜欢茶"),
    ],
)
def test_what_is_only_alike_stays_two(one: str, other: str) -> None:
    assert not list(merge_duplicates([held(1, one), held(2, other)]))


def test_a_slip_of_the_pen_is_no_other_memory() -> None:
    assert list(merge_duplicates([held(1, "We moved to Barcelona in May."), held(2, "We moved to Barcelnoa in May.")]))


def test_what_two_people_said_stays_two() -> None:
    assert not list(merge_duplicates([held(1, "I live in Lisbon."), held(2, "I live in Lisbon.", speaker="Ben")]))


def test_what_nobody_came_back_to_is_let_go_and_the_important_stays() -> None:
    old = [held(1, "hi there", days=200, importance=0.1), held(2, "I am allergic to nuts", days=200, importance=0.9)]
    assert [item.memory_id for item in find_forgettable(old, NOW)] == [1]


def test_nothing_young_is_forgotten() -> None:
    assert not list(find_forgettable([held(1, "hi", days=29, importance=0.0)], NOW))


def test_a_clock_that_goes_back_forgets_nothing() -> None:
    assert not list(find_forgettable([held(1, "hi", days=-500, importance=0.0)], NOW))


@settings(max_examples=40)
@given(st.lists(st.text(max_size=30), max_size=30))
def test_each_memory_is_in_one_group_at_most(texts: list[str]) -> None:
    merges = list(merge_duplicates([held(number, text) for number, text in enumerate(texts)]))
    ids = [each for merge in merges for each in (merge.kept, *merge.others)]
    assert len(ids) == len(set(ids))
    for merge in merges:
        assert all(split_words(texts[other]) for other in merge.others)
