"""Ordinary life in short (`insula bench life` has all of it): what is said where nothing is needed, and what is found.

The questions are those that were looked at while building; the bounds leave room for a few other cases.
"""

import asyncio

import pytest

from insula_bench.life import Lived, ask_questions

LANGUAGES = ("en", "ja")


@pytest.fixture(scope="module")
def lived() -> list[Lived]:
    return [one for language in LANGUAGES for one in asyncio.run(ask_questions(language, "dev"))]


def test_of_ordinary_questions_hardly_any_gets_a_line_or_a_sentence_and_none_is_answered_for(
    lived: list[Lived],
) -> None:
    world = [one for one in lived if one.kind == "world"]
    assert len(world) == 52
    assert sum(bool(one.lines) for one in world) <= 4
    assert sum(one.untold for one in world) <= 1
    assert sum(bool(one.heard) for one in world) <= 1
    assert sum(bool(one.verdict) for one in world) <= 1
    assert not any(one.hedged or one.over for one in world)


def test_of_personal_questions_most_get_the_line_that_answers_and_hardly_any_is_sure_without_one(
    lived: list[Lived],
) -> None:
    personal = [one for one in lived if one.kind == "personal"]
    told = [one for one in personal if one.expected["told"]]
    assert sum(one.shown for one in told) >= 0.7 * len(told)
    assert not any(one.untold for one in told)
    assert sum(one.level == "high" for one in personal if not one.expected["told"]) <= 1


def test_what_is_stated_is_kept_and_most_preferences_are_heard(lived: list[Lived]) -> None:
    assert all(one.stored for one in lived if one.kind == "statement")
    preferences = [one for one in lived if one.kind == "preference"]
    assert sum(bool(one.heard) for one in preferences) >= 0.6 * len(preferences)
    assert not any(one.heard for one in lived if one.kind == "no_preference")
