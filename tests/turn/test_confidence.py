"""Confidence before a response, and what log-probabilities say after it."""

import json
import math
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula import Identity, Memory, Recalled, assess
from insula.calibration import load_shipped
from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.query import Statistics, build_cue
from insula.memory.retrieval.scoring import SubjectSides
from insula.memory.storage.statements import utc_moment
from insula.memory.storage.store import Recollection
from insula.text.analysis import analyse_text
from insula.turn.confidence import estimate_chance, estimate_confidence
from insula.turn.likelihood import UNSURE, least_likely, response_likelihood, weigh_likelihood
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Calibration, MemoryKind, Provenance

UNIT = st.floats(0, 1)
ASKED = build_cue(analyse_text("Where does Ana live?"), USER, ASSISTANT)


def recalled(score: float, kind: MemoryKind = "semantic", provenance: Provenance = "user") -> Recalled:
    memory = Memory(
        id=1,
        kind=kind,
        provenance=provenance,
        speaker="user",
        content="My sister Ana moved to Lisbon.",
        said_at=utc_moment(0.0),
        session="s",
        importance=1.0,
        confidence=1.0,
        line="My sister Ana moved to Lisbon.",
    )
    parts = {"owner": score, "answer": 1.0}
    return Recalled(memory=memory, score=score, parts=parts, terms=frozenset({"sister", "ana", "move", "lisbon"}))


def found(*memories: Recalled, near: float = 0.75) -> Recollection:
    return Recollection(memories, Statistics(memories=len(memories)), SubjectSides(mentions=near, near=near, told=True))


@given(UNIT, UNIT)
def test_confidence_is_a_probability(score: float, near: float) -> None:
    assert 0.0 <= estimate_confidence(ASKED, found(recalled(score), near=near)).score <= 1.0


@given(UNIT, UNIT)
def test_a_better_memory_never_lowers_confidence(one: float, other: float) -> None:
    low, high = (estimate_confidence(ASKED, found(recalled(score))).score for score in sorted((one, other)))
    assert high >= low


@given(UNIT, UNIT)
def test_more_said_of_somebody_else_never_raises_confidence(one: float, other: float) -> None:
    theirs, mine = (estimate_confidence(ASKED, found(recalled(0.7), near=near)).score for near in sorted((one, other)))
    assert mine >= theirs


@given(UNIT)
def test_what_the_assistant_said_what_was_derived_and_what_was_only_asked_count_for_nothing(score: float) -> None:
    nothing = estimate_confidence(ASKED, found()).score
    for memory in (
        recalled(score, provenance="assistant"),
        recalled(score, provenance="derived"),
        recalled(score, kind="episodic"),
    ):
        assert estimate_confidence(ASKED, found(memory)).score == nothing


def test_the_levels_follow_the_thresholds_of_the_calibration() -> None:
    always, something = Calibration(intercept=0.0, weights={}), found(recalled(0.5))
    assert estimate_confidence(ASKED, something, calibration=always).level == "medium"
    assert estimate_confidence(ASKED, something, calibration=replace(always, intercept=5.0)).level == "high"
    assert estimate_confidence(ASKED, something, calibration=replace(always, intercept=-5.0)).level == "low"


def test_where_nothing_came_up_nothing_is_known() -> None:
    assert estimate_confidence(ASKED, found()).score == 0.0


def test_guidance_of_the_identity_counts_as_knowledge() -> None:
    with_guidance = Identity(guidance={"living": "Ask since when."})
    assert estimate_confidence(ASKED, found(), identity=with_guidance).score > estimate_confidence(ASKED, found()).score


def test_no_shipped_weight_is_negative_and_the_file_says_what_it_was_fitted_on() -> None:
    raw = json.loads((files("insula") / "calibration.json").read_text("utf-8"))
    assert all(weight >= 0 for weight in load_shipped().weights.values())
    assert raw["fitted_on"]


def test_the_kind_of_thing_is_named_only_where_it_can_be_told() -> None:
    told = "it holds the kind of thing asked for"
    assert told in estimate_confidence(ASKED, found(recalled(0.9))).reasons
    asked = build_cue(analyse_text("What is the favourite colour of Ana?"), USER, ASSISTANT)
    assert told not in estimate_confidence(asked, found(recalled(0.9))).reasons


def test_the_reasons_name_what_was_found_and_what_was_not() -> None:
    reasons = estimate_confidence(ASKED, found(recalled(0.8))).reasons
    assert reasons[0] == '"My sister Ana moved to Lisbon." bears on this'
    assert reasons[1] == "your words found in memory: 1 of 2 (missing: live)"
    assert estimate_confidence(ASKED, Recollection((), Statistics(), SubjectSides())).reasons == (
        "nothing is stored yet",
    )


def test_documents_are_judged_by_what_was_fitted_on_documents() -> None:
    sure, unsure = Calibration(intercept=4.0, weights={"best": 1.0}), Calibration(intercept=-4.0, weights={"best": 1.0})
    calibration = replace(unsure, documents=sure)
    page, said = recalled(0.7, provenance="tool"), recalled(0.7)
    scores = [
        estimate_confidence(ASKED, found(*each), calibration=calibration).score
        for each in ([page], [said], [page, said])
    ]
    assert scores[0] > 0.9
    assert max(scores[1:]) < 0.1
    assert estimate_confidence(ASKED, found(page), calibration=unsure).score < 0.1


def test_both_sets_of_coefficients_are_shipped_each_fitted_on_its_own_kind() -> None:
    people, pages = load_shipped(), load_shipped().documents
    assert pages is not None
    assert pages.weights.keys() <= people.weights.keys()
    assert all(weight >= 0 for weight in pages.weights.values())
    assert people.whose_weights
    assert not pages.whose_weights
    assert "MTRAG" in pages.fitted_on
    assert "talks" not in pages.fitted_on
    assert "MTRAG" not in people.fitted_on


def test_guidance_counts_where_documents_are_asked_too() -> None:
    page, with_guidance = recalled(0.7, provenance="tool"), Identity(guidance={"living": "Ask since when."})
    assert (
        estimate_confidence(ASKED, found(page), identity=with_guidance).score
        > estimate_confidence(ASKED, found(page)).score
    )


@given(st.floats(-9, 9), st.floats(-9, 9), UNIT)
def test_the_likelier_a_line_answers_the_surer_memory_holds_it(one: float, other: float, stored: float) -> None:
    less, more = (
        estimate_chance(stored, [replace(recalled(0.7), odds=odds)], load_shipped()) for odds in sorted((one, other))
    )
    assert 0.0 <= less <= more <= 1.0


def test_of_others_talk_what_is_not_likelier_than_not_is_low() -> None:
    assert estimate_chance(0.4, [recalled(0.7)], load_shipped()) < load_shipped().medium
    assert estimate_chance(0.6, [recalled(0.7)], load_shipped()) == 0.6


# What log-probabilities say of a response


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


ASKED_OF_LIKELIHOOD = analyse_text(QUESTION)


def test_a_word_is_as_likely_as_all_its_tokens_together() -> None:
    claim = least_likely([(" Kh", -1.0), ("an", -2.0), (".", -0.5), (" so", -0.5)], ASKED_OF_LIKELIHOOD)
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
    claim = least_likely(said, ASKED_OF_LIKELIHOOD)
    assert claim is not None
    assert (claim.text, claim.value) == ("Lake Voranko", pytest.approx(-6.0))


def test_a_number_is_a_claim_and_a_vague_word_beside_it_is_none() -> None:
    said = [("Roughly", -0.1), (" perhaps", -7.0), (" 1", -0.5), ("4", -2.0), (" kilometres", -0.3)]
    claim = least_likely(said, analyse_text("How far is it?"))
    assert claim is not None
    assert (claim.text, claim.value) == ("14", pytest.approx(-2.5))


def test_the_words_of_the_question_and_function_words_carry_no_answer() -> None:
    framed = [("The", -4.0), (" Capital", -3.0), (" is", -5.0), (" Paris", -0.25)]
    claim = least_likely(framed, ASKED_OF_LIKELIHOOD)
    assert claim is not None and (claim.text, claim.value) == ("Paris", pytest.approx(-0.25))
    claim = least_likely(framed[:3], ASKED_OF_LIKELIHOOD)
    assert claim is not None and claim.value == pytest.approx(-5.0)


def test_where_words_are_not_spaced_each_token_is_one() -> None:
    claim = least_likely([("北京", -1.0), ("南京", -2.0)], analyse_text("中国的首都是哪里？"))
    assert claim is not None and claim.value == pytest.approx(-2.0)


def test_what_is_made_up_is_unlikely_and_what_is_known_is_not() -> None:
    sure, invented = response_likelihood(SURE, ASKED_OF_LIKELIHOOD), response_likelihood(INVENTED, ASKED_OF_LIKELIHOOD)
    assert sure is not None and invented is not None
    assert invented < UNSURE < 0.5 < sure


@pytest.mark.parametrize("none", [None, [], [("", -0.3)], [("a", math.nan)], [("a", -math.inf)]])
def test_without_usable_figures_there_is_no_likelihood(none: list[tuple[str, float]] | None) -> None:
    assert response_likelihood(none, ASKED_OF_LIKELIHOOD) is None
    assert weigh_likelihood(assess(QUESTION, ANSWER), ASKED_OF_LIKELIHOOD, none) == assess(QUESTION, ANSWER)


def test_an_unsure_answer_is_hedged_and_not_reported() -> None:
    before = assess(QUESTION, ANSWER)
    after = weigh_likelihood(before, ASKED_OF_LIKELIHOOD, INVENTED)
    assert before.passed
    assert HEDGE_THRESHOLD <= after.score < PASS_THRESHOLD
    assert after.flags == (*before.flags, "unsure")
    assert [fault.about for fault in after.faults if fault.flag == "unsure"] == ["Khantakal"]
    assert after.parts.likelihood == pytest.approx(response_likelihood(INVENTED, ASKED_OF_LIKELIHOOD), abs=1e-4)


def test_a_sure_answer_passes_as_before_and_is_placed_by_how_sure_it_is() -> None:
    before = assess(QUESTION, ANSWER)
    after = weigh_likelihood(before, ASKED_OF_LIKELIHOOD, SURE)
    surer = weigh_likelihood(before, ASKED_OF_LIKELIHOOD, [(token, value / 4) for token, value in SURE])
    assert after.flags == before.flags
    assert PASS_THRESHOLD <= after.score <= surer.score <= before.score
    assert after.parts.likelihood == pytest.approx(response_likelihood(SURE, ASKED_OF_LIKELIHOOD), abs=1e-4)


def test_a_bad_answer_gets_no_better_by_being_unsure() -> None:
    bad = assess(QUESTION, "La ciudad es muy bonita y tiene muchos habitantes que viven en ella desde hace siglos.")
    assert bad.score < HEDGE_THRESHOLD
    assert weigh_likelihood(bad, ASKED_OF_LIKELIHOOD, INVENTED).score == bad.score


@pytest.mark.parametrize("message", ["Thanks!", "My sister lives in Lisbon.", "Write a poem about the sea.", "Hello"])
def test_where_nothing_can_be_right_or_wrong_the_likelihood_says_nothing(message: str) -> None:
    before = assess(message, "The waves went out, and grey birds wheeled above the lonely shore.")
    assert weigh_likelihood(before, analyse_text(message), INVENTED) == before


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(allow_nan=True)), max_size=30))
def test_whatever_a_server_sends_gives_a_probability_or_none(logprobs: list[tuple[str, float]]) -> None:
    likely = response_likelihood(logprobs, ASKED_OF_LIKELIHOOD)
    assert likely is None or 0.0 <= likely <= 1.0
