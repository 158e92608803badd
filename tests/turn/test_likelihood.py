"""What log-probabilities say of a response."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.text.analysis import analyse_text
from insula.turn.likelihood import UNSURE, least_likely, response_likelihood, weigh_likelihood
from insula.turn.monitor import assess
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD

QUESTION, ANSWER = "What is the capital of Mongolia?", "The capital of Mongolia is Khantakal."
SURE = [("The", -0.1), (" capital", -0.01), (" is", -0.1), (" Ul", -0.2), ("aan", -0.01), (".", -0.1)]
INVENTED = [
    ("The", -0.9),
    (" capital", -0.01),
    (" is", -0.1),
    (" Kh", -1.7),
    ("ant", -1.6),
    ("akal", -2.5),
    (".", -0.5),
]


ASKED = analyse_text(QUESTION)


def test_a_word_is_as_likely_as_all_its_tokens_together() -> None:
    claim = least_likely([(" Kh", -1.0), ("an", -2.0), (".", -0.5), (" so", -0.5)], ASKED)
    assert claim is not None
    assert (claim.text, claim.value) == ("Khan", pytest.approx(-3.5))


def test_one_doubtful_name_is_not_made_up_for_by_many_sure_words() -> None:
    said = [
        ("It", -0.1),
        (" lies", -0.1),
        (" by", -0.1),
        (" Lake", -0.2),
        (" Vor", -4.0),
        ("anko", -2.0),
        (" far", -0.1),
    ]
    claim = least_likely(said, ASKED)
    assert claim is not None
    assert (claim.text, claim.value) == ("Lake Voranko", pytest.approx(-6.0))


def test_a_number_is_a_claim_and_a_vague_word_beside_it_is_none() -> None:
    said = [("Roughly", -0.1), (" perhaps", -7.0), (" 1", -0.5), ("4", -2.0), (" kilometres", -0.3)]
    claim = least_likely(said, analyse_text("How far is it?"))
    assert claim is not None
    assert (claim.text, claim.value) == ("14", pytest.approx(-2.5))


def test_the_words_of_the_question_and_function_words_carry_no_answer() -> None:
    framed = [("The", -4.0), (" Capital", -3.0), (" is", -5.0), (" Paris", -0.25)]
    claim = least_likely(framed, ASKED)
    assert claim is not None and (claim.text, claim.value) == ("Paris", pytest.approx(-0.25))
    claim = least_likely(framed[:3], ASKED)
    assert claim is not None and claim.value == pytest.approx(-5.0)


def test_where_words_are_not_spaced_each_token_is_one() -> None:
    claim = least_likely([("北京", -1.0), ("南京", -2.0)], analyse_text("中国的首都是哪里？"))
    assert claim is not None and claim.value == pytest.approx(-2.0)


def test_what_is_made_up_is_unlikely_and_what_is_known_is_not() -> None:
    sure, invented = response_likelihood(SURE, ASKED), response_likelihood(INVENTED, ASKED)
    assert sure is not None and invented is not None
    assert invented < UNSURE < 0.5 < sure


@pytest.mark.parametrize("none", [None, [], [("", -0.3)], [("a", math.nan)], [("a", -math.inf)]])
def test_without_usable_figures_there_is_no_likelihood(none: list[tuple[str, float]] | None) -> None:
    assert response_likelihood(none, ASKED) is None
    assert weigh_likelihood(assess(QUESTION, ANSWER), ASKED, none) == assess(QUESTION, ANSWER)


def test_an_unsure_answer_is_hedged_and_not_reported() -> None:
    before = assess(QUESTION, ANSWER)
    after = weigh_likelihood(before, ASKED, INVENTED)
    assert before.passed
    assert HEDGE_THRESHOLD <= after.score < PASS_THRESHOLD
    assert after.flags == (*before.flags, "unsure")
    assert [fault.about for fault in after.faults if fault.flag == "unsure"] == ["Khantakal"]
    assert after.parts.likelihood == pytest.approx(response_likelihood(INVENTED, ASKED), abs=1e-4)


def test_a_sure_answer_passes_as_before_and_is_placed_by_how_sure_it_is() -> None:
    before = assess(QUESTION, ANSWER)
    after = weigh_likelihood(before, ASKED, SURE)
    surer = weigh_likelihood(before, ASKED, [(token, value / 4) for token, value in SURE])
    assert after.flags == before.flags
    assert PASS_THRESHOLD <= after.score <= surer.score <= before.score
    assert after.parts.likelihood == pytest.approx(response_likelihood(SURE, ASKED), abs=1e-4)


def test_a_bad_answer_gets_no_better_by_being_unsure() -> None:
    bad = assess(QUESTION, "La ciudad es muy bonita y tiene muchos habitantes que viven en ella desde hace siglos.")
    assert bad.score < HEDGE_THRESHOLD
    assert weigh_likelihood(bad, ASKED, INVENTED).score == bad.score


@pytest.mark.parametrize("message", ["Thanks!", "My sister lives in Lisbon.", "Write a poem about the sea.", "Hello"])
def test_where_nothing_can_be_right_or_wrong_the_likelihood_says_nothing(message: str) -> None:
    before = assess(message, "The waves went out, and grey birds wheeled above the lonely shore.")
    assert weigh_likelihood(before, analyse_text(message), INVENTED) == before


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(allow_nan=True)), max_size=30))
def test_whatever_a_server_sends_gives_a_probability_or_none(logprobs: list[tuple[str, float]]) -> None:
    likely = response_likelihood(logprobs, ASKED)
    assert likely is None or 0.0 <= likely <= 1.0
