"""Talks that are replayed: a newcomer's, and a real one as one long session."""

import pytest

from insula_bench import talks
from insula_bench.locomo import Conversation, Line
from insula_bench.monitor_talks import replayed
from insula_bench.newcomer import Answered, Said, conversation, measure
from insula_bench.session import filled

pytestmark = pytest.mark.anyio


# The newcomer's conversation, and how real talk is replayed.


def test_the_conversation_has_61_turns_and_asks_for_what_was_told_before() -> None:
    said = conversation()
    assert len(said) == 61
    facts = [i for i, one in enumerate(said) if one.kind == "fact"]
    assert len(facts) >= 20
    assert all(any(one.kind == "told" for one in said[:i]) for i in facts)


def test_a_wrong_answer_that_is_not_said_to_be_is_counted() -> None:
    asked = Said("s", "Where do I live?", "fact", "porto")
    answered = [
        Answered(asked, "high", "Porto.", right=True, doubted=False, verdict=""),
        Answered(asked, "high", "You're welcome!", right=False, doubted=False, verdict=""),
        Answered(asked, "high", "Rome.", right=False, doubted=True, verdict=""),
        Answered(asked, "low", "Rome.", right=False, doubted=False, verdict=""),
    ]
    figures = measure(answered)
    assert (figures["right"], figures["wrong_and_said_to_be"], figures["wrong_and_not_said_to_be"]) == (1, 1, 1)


def talk() -> Conversation:
    said = [
        ("Bo", "Hi!"),
        ("Ana", "Hello Bo."),
        ("Ana", "What is the capital of Kenya, and how many people live there?"),
        ("Bo", "The capital of Kenya is Nairobi."),
        ("Ana", "Nice."),
        ("Bo", "It is."),
    ]
    lines = tuple(Line(f"D1:{i}", "session 1", who, text, float(i)) for i, (who, text) in enumerate(said))
    return Conversation("talk", ("Ana", "Bo"), lines, ())


@pytest.mark.anyio
async def test_a_turn_after_an_omission_is_counted_as_told() -> None:
    figures = await replayed([talk()], 10)
    assert (figures["turns"], figures["told"]) == (2, 1)
    assert figures["tokens_a_turn"] > 0


# A real talk as one long session: what its requests are like before and after working memory fills.


async def test_a_real_talk_fills_working_memory_and_its_requests_differ_from_then_on() -> None:
    """Seed 003's S5 and S6: fewer memories, a higher threshold."""
    talk = next(one for one in talks.with_assistant() if one.name == "moving-house")
    found = await filled(talk, 15)
    assert found.highest >= 0.85
    assert found.first
    assert found.first > 5
    assert found.high == found.turns - found.first + 1
    assert (found.items, found.threshold) == ((16, 12), (0.55, 0.6))
