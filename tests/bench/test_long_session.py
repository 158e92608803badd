"""A real talk as one long session: what its requests are like before and after working memory fills."""

import pytest

from insula_bench import talks
from insula_bench.session import exchanges, filled

pytestmark = pytest.mark.anyio


async def test_a_real_talk_fills_working_memory_and_its_requests_differ_from_then_on() -> None:
    """Seed 003's S5 and S6: fewer memories, a higher threshold."""
    talk = next(one for one in talks.with_assistant() if one.name == "moving-house")
    found = await filled(talk, 15)
    assert found.highest >= 0.85
    assert found.first
    assert found.first > 5
    assert found.high == found.turns - found.first + 1
    assert (found.items, found.threshold) == ((16, 12), (0.55, 0.6))


async def test_a_talk_that_has_just_begun_changes_nothing() -> None:
    found = await filled(talks.with_assistant()[0], 6)
    assert (found.first, found.items) == (None, (16, 16))


def test_what_one_says_in_a_row_is_one_message() -> None:
    (talk, *_) = talks.with_assistant()
    said = list(exchanges(talk))
    assert all(message and answer for message, answer in said)
    assert sum(len(message) + len(answer) for message, answer in said) <= sum(len(one.text) + 1 for one in talk.lines)
