"""What tells a good response from a dull one, and that it fails none."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula import assess
from insula.text.manner import count_breaks
from insula.turn.monitor import score_parts
from insula.turn.similarity import NEAR_DUPLICATE, measure_specificity, near_duplicate, self_repetition
from insula.turn.substance import measure_substance
from insula.types import PASS_THRESHOLD, Parts

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


# Near duplicates, and texts that repeat themselves


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


unit = st.floats(0.0, 1.0)


@given(unit, unit, unit, st.booleans(), st.booleans(), unit)
def test_the_score_never_falls_as_a_part_rises(
    responsiveness: float, completeness: float, consistency: float, length_ok: bool, repetition: bool, more: float
) -> None:
    def scored(r: float = responsiveness, c: float = completeness, k: float = consistency) -> float:
        return score_parts(
            Parts(responsiveness=r, completeness=c, consistency=k, length_ok=length_ok, repetition=repetition)
        )

    base = scored()
    assert 0.0 <= base <= 1.0
    assert scored(r=max(responsiveness, more)) >= base
    assert scored(c=max(completeness, more)) >= base
    assert scored(k=max(consistency, more)) >= base


@given(unit, unit, unit)
def test_length_and_repetition_only_take_away(responsiveness: float, completeness: float, consistency: float) -> None:
    def scored(length_ok: bool, repetition: bool) -> float:
        return score_parts(
            Parts(
                responsiveness=responsiveness,
                completeness=completeness,
                consistency=consistency,
                length_ok=length_ok,
                repetition=repetition,
            )
        )

    assert scored(True, False) >= max(scored(False, False), scored(True, True))
    assert min(scored(False, False), scored(True, True)) >= scored(False, True)


@given(unit, unit)
def test_an_omission_never_passes(responsiveness: float, completeness: float) -> None:
    parts = Parts(
        responsiveness=responsiveness, completeness=completeness, consistency=1.0, length_ok=True, repetition=False
    )
    assert completeness == 1.0 or score_parts(parts) < PASS_THRESHOLD
