"""What tells a good response from a dull one, and that it fails none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.text.manner import count_breaks
from insula.turn.monitor import assess
from insula.turn.substance import measure_substance
from insula.types import PASS_THRESHOLD

DOG = "I just adopted a dog from the shelter and I am looking for a name."
BETTER = "Congratulations! Which breed is your dog, and what is the shelter's own name for him?"


@pytest.mark.parametrize(
    "worse",
    [
        "I do not know what to say to that so I say no.",
        "That is nice nice. That is nice nice. That is nice.",
        "Congratulations on the the and I like your .",
        "Congratulations, <unk> is a <unk> name for <unk>.",
    ],
    ids=["vague", "circling", "broken off", "full of holes"],
)
def test_a_dull_or_broken_reply_passes_and_scores_less_than_a_better_one(worse: str) -> None:
    assert PASS_THRESHOLD <= assess(DOG, worse).score < assess(DOG, BETTER).score


def test_taking_up_what_was_said_before_counts() -> None:
    reply = "Then the trumpet lesson has to wait."
    assert (
        measure_substance(reply, "en", 2).connected
        > measure_substance(reply, "en", 1).connected
        > measure_substance(reply, "en", 0).connected
    )
    before = ["Your trumpet lesson is on Tuesday."]
    assert assess("I am ill.", reply, before).score > assess("I am ill.", reply).score


@pytest.mark.parametrize(
    ("text", "language", "times"),
    [
        ("I like the, and the the cat.", "en", 2),
        ("He gave it to my and left.", "en", 1),
        ("The [UNK] of France is Paris.", "en", 1),
        ("Ce que que tu veux.", "fr", 1),
        ("Ich habe eine eine Katze.", "de", 1),
        ("Paris is the capital of France.", "en", 0),
        ("I had had enough, and that that was so is very very sad.", "en", 0),
        ("Die, die das sagten, und nous nous levons.", "de", 0),
        ("Nous nous levons tôt.", "fr", 0),
        ("これは猫です。", "ja", 0),
        ("Ὁ \ufffd\ufffd", "el", 2),
    ],
)
def test_what_is_broken_off_is_counted(text: str, language: str, times: int) -> None:
    assert count_breaks(text, language) == times


@given(st.text(max_size=300), st.integers(0, 50))
def test_every_sign_stays_within_its_range(text: str, shared: int) -> None:
    found = measure_substance(text, "en", shared)
    assert all(0.0 <= sign <= 1.0 for sign in (*found, found.worth))
