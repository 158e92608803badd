"""Ordinary life in short (`insula bench life` has all of it): what is said where nothing is needed, and what is found.

The questions are those that were looked at while building; the bounds leave room for a few other cases.
"""

import asyncio

from insula_bench.life import ask_questions

LANGUAGES = ("en", "ja")


def test_where_nothing_is_needed_nothing_is_said_and_what_is_told_is_found_and_kept() -> None:
    """One test, as the questions are asked once."""
    lived = [one for language in LANGUAGES for one in asyncio.run(ask_questions(language, "dev"))]
    world = [one for one in lived if one.kind == "world"]
    assert len(world) == 52
    assert sum(bool(one.lines) for one in world) <= 4
    assert sum(one.untold for one in world) <= 1
    assert sum(bool(one.heard) for one in world) <= 1
    assert sum(bool(one.verdict) for one in world) <= 1
    assert not any(one.hedged or one.over for one in world)
    personal = [one for one in lived if one.kind == "personal"]
    told = [one for one in personal if one.expected["told"]]
    assert sum(one.shown for one in told) >= 0.7 * len(told)
    assert not any(one.untold for one in told)
    assert sum(one.level == "high" for one in personal if not one.expected["told"]) <= 1
    assert all(one.stored for one in lived if one.kind == "statement")
    preferences = [one for one in lived if one.kind == "preference"]
    assert sum(bool(one.heard) for one in preferences) >= 0.6 * len(preferences)
    assert not any(one.heard for one in lived if one.kind == "no_preference")
