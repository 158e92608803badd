"""The newcomer's conversation, and how real talk is replayed."""

import pytest

from insula_bench.locomo import Conversation, Line
from insula_bench.monitor_talks import exchanges, replayed
from insula_bench.newcomer import Answered, Said, conversation, measure


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


def test_what_one_says_in_several_lines_is_one_message() -> None:
    first = next(exchanges(talk()))
    assert first[1].splitlines() == ["Hello Bo.", "What is the capital of Kenya, and how many people live there?"]
    assert first[2] == "The capital of Kenya is Nairobi."


@pytest.mark.anyio
async def test_a_turn_after_an_omission_is_counted_as_told() -> None:
    figures = await replayed([talk()], 10)
    assert (figures["turns"], figures["told"]) == (2, 1)
    assert figures["tokens_a_turn"] > 0
