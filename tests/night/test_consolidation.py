"""Two phases of a night: what is the same becomes one, and a trend is told where it can be told from chance."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula.memory.storage.rows import RememberedItem, StoredSignal
from insula.night.phases.consolidation import find_forgettable, merge_duplicates, split_words
from insula.night.phases.trends import NO_TREND, fit_trend, list_scores
from insula.stats import slope

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


@settings(max_examples=40)
@given(st.lists(st.text(max_size=30), max_size=30))
def test_each_memory_is_in_one_group_at_most(texts: list[str]) -> None:
    merges = list(merge_duplicates([held(number, text) for number, text in enumerate(texts)]))
    ids = [each for merge in merges for each in (merge.kept, *merge.others)]
    assert len(ids) == len(set(ids))
    for merge in merges:
        assert all(split_words(texts[other]) for other in merge.others)


# The trend of quality: told only where it can be told from chance


def test_a_rise_is_a_rise_though_some_days_are_far_off() -> None:
    scores = [(float(day), 0.5 + 0.005 * day + (0.4 if day % 17 == 0 else 0.0)) for day in range(60)]
    report = fit_trend(scores)
    assert report.verdict == "rising"
    assert report.change == pytest.approx(0.15, abs=0.01)


def test_noise_is_no_trend() -> None:
    chance = random.Random(3)
    quiet = [fit_trend([(float(day), chance.random()) for day in range(60)]).verdict for _ in range(200)]
    assert sum(verdict != NO_TREND for verdict in quiet) <= 20  # 5 % of 200, and room


def test_the_interval_holds_the_slope_as_often_as_it_says() -> None:
    chance = random.Random(5)
    hits = 0
    for _ in range(400):
        x = sorted(chance.random() * 50 for _ in range(40))
        y = [0.02 * each + chance.gauss(0, 0.3) for each in x]
        _, low, high = slope(x, y)
        hits += low <= 0.02 <= high
    assert 0.92 <= hits / 400 <= 0.98


@pytest.mark.parametrize("points", [[], [(1.0, 1.0)], [(1.0, 1.0)] * 30, [(1.0, 0.1), (2.0, 0.9)]])
def test_too_little_says_nothing(points: list[tuple[float, float]]) -> None:
    assert fit_trend(points).verdict == NO_TREND


def test_while_answers_pass_no_rise_or_fall_of_their_scores_is_news() -> None:
    falling = fit_trend([(float(day), 1.0 - 0.003 * day) for day in range(60)])
    assert (falling.verdict, falling.is_news) == ("falling", False)


@pytest.mark.parametrize(("first", "last", "verdict"), [(0.95, 0.45, "falling"), (0.45, 0.95, "rising")])
def test_a_fall_below_what_passes_is_news_and_so_is_the_way_back(first: float, last: float, verdict: str) -> None:
    found = fit_trend([(float(day), first + (last - first) * day / 59) for day in range(60)])
    assert (found.verdict, found.is_news) == (verdict, True)
    earlier, later = found.short
    assert (later > earlier == 0) if verdict == "falling" else (earlier > later == 0)


def test_one_poor_answer_among_many_makes_no_news() -> None:
    scores = [(float(day), 1.0 - 0.003 * day) for day in range(60)]
    assert not fit_trend([*scores, (60.0, 0.1)]).is_news


def test_a_few_poor_answers_more_than_later_are_no_news_though_the_scores_rise() -> None:
    scores = [(float(day), 0.8 + 0.002 * day) for day in range(75)]
    early = [(day, 0.5 if day in (3.0, 9.0, 15.0, 30.0) else score) for day, score in scores]
    found = fit_trend(early)
    assert (found.verdict, found.short, found.is_news) == ("rising", (4, 0), False)


def test_no_score_that_is_no_number_makes_a_trend() -> None:
    scores = [float("nan"), float("inf"), True, "0.5", None, 0.5]
    turns = [StoredSignal(1, 1, "meta:turn", {"assessment": {"score": score}}, 86_400.0) for score in scores]
    assert list_scores([*turns, StoredSignal(1, 1, "meta:turn", {"assessment": None}, 86_400.0)]) == [(1.0, 0.5)]
