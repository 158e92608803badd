"""Confidence: before a response, by log-probabilities after it, and as a model that is fitted and refitted."""

import json
import math
import random
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from insula import Identity, Memory, Recalled, assess
from insula.calibration import (
    CURVE,
    FURTHEST,
    PRIOR_OUTCOMES,
    SPREAD,
    AnswerOutcome,
    adjust_probability,
    apply_own,
    load_shipped,
    log_odds,
    raw_probability,
    refit_user,
)
from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.query import Statistics, build_cue
from insula.memory.retrieval.scoring import SubjectSides
from insula.memory.storage.statements import utc_moment
from insula.memory.storage.store import Recollection
from insula.text.analysis import analyse_text
from insula.turn.confidence import estimate_chance, estimate_confidence
from insula.turn.monitor import UNSURE, least_likely, weigh_likelihood
from insula.types import HEDGE_THRESHOLD, PASS_THRESHOLD, Calibration, MemoryKind, Provenance
from insula_bench.confidence_fit import Case, fit_calibration

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


def test_guidance_of_the_identity_counts_as_knowledge() -> None:
    with_guidance = Identity(guidance={"living": "Ask since when."})
    assert estimate_confidence(ASKED, found(), identity=with_guidance).score > estimate_confidence(ASKED, found()).score


def test_no_shipped_weight_is_negative_and_the_file_says_what_it_was_fitted_on() -> None:
    raw = json.loads((files("insula") / "calibration.json").read_text("utf-8"))
    assert all(weight >= 0 for weight in load_shipped().weights.values())
    assert raw["fitted_on"]


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


@given(st.floats(-9, 9), st.floats(-9, 9), UNIT)
def test_the_likelier_a_line_answers_the_surer_memory_holds_it(one: float, other: float, stored: float) -> None:
    less, more = (
        estimate_chance(stored, [replace(recalled(0.7), odds=odds)], load_shipped()) for odds in sorted((one, other))
    )
    assert 0.0 <= less <= more <= 1.0


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


MONGOLIA = analyse_text(QUESTION)


def test_a_word_is_as_likely_as_all_its_tokens_together() -> None:
    claim = least_likely([(" Kh", -1.0), ("an", -2.0), (".", -0.5), (" so", -0.5)], MONGOLIA)
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
    claim = least_likely(said, MONGOLIA)
    assert claim is not None
    assert (claim.text, claim.value) == ("Lake Voranko", pytest.approx(-6.0))


def test_what_is_made_up_is_unlikely_and_what_is_known_is_not() -> None:
    before = assess(QUESTION, ANSWER)
    sure, invented = (weigh_likelihood(before, MONGOLIA, said).parts.likelihood for said in (SURE, INVENTED))
    assert sure is not None and invented is not None
    assert invented < UNSURE < 0.5 < sure


@pytest.mark.parametrize("none", [None, [], [("", -0.3)], [("a", math.nan)], [("a", -math.inf)]])
def test_without_usable_figures_there_is_no_likelihood(none: list[tuple[str, float]] | None) -> None:
    assert weigh_likelihood(assess(QUESTION, ANSWER), MONGOLIA, none) == assess(QUESTION, ANSWER)


def test_an_unsure_answer_is_hedged_and_not_reported() -> None:
    before = assess(QUESTION, ANSWER)
    after = weigh_likelihood(before, MONGOLIA, INVENTED)
    assert before.passed
    assert HEDGE_THRESHOLD <= after.score < PASS_THRESHOLD
    assert after.flags == (*before.flags, "unsure")
    assert [fault.about for fault in after.faults if fault.flag == "unsure"] == ["Khantakal"]


@pytest.mark.parametrize("message", ["Thanks!", "My sister lives in Lisbon.", "Write a poem about the sea.", "Hello"])
def test_where_nothing_can_be_right_or_wrong_the_likelihood_says_nothing(message: str) -> None:
    before = assess(message, "The waves went out, and grey birds wheeled above the lonely shore.")
    assert weigh_likelihood(before, analyse_text(message), INVENTED) == before


@given(st.lists(st.tuples(st.text(max_size=4), st.floats(allow_nan=True)), max_size=30))
def test_whatever_a_server_sends_gives_a_probability_or_none(logprobs: list[tuple[str, float]]) -> None:
    likely = weigh_likelihood(assess(QUESTION, ANSWER), MONGOLIA, logprobs).parts.likelihood
    assert likely is None or 0.0 <= likely <= 1.0


# confidence calibration


NINE = log_odds(0.9)
MOST_BY_ONE = math.sqrt((1 + NINE**2 / SPREAD) * (1 + FURTHEST**2 / SPREAD)) / (PRIOR_OUTCOMES * CURVE)
"""What one outcome can move the log-odds of 0.9 by, whatever came before it (Cauchy and Schwarz)."""
START = Calibration(intercept=0.0, weights={"a": 1.0, "b": 1.0}, whose_intercept=0.0, whose_weights={"w": 1.0})


def made(n: int = 600) -> list[Case]:
    """Known where `a` is high and, of those about a person, `w` is; `b` is against it, as no feature should be."""
    chance = random.Random(1)
    cases: list[Case] = []
    for _ in range(n):
        a, w, person = chance.random(), chance.random(), chance.random() < 0.5
        known = a + chance.gauss(0, 0.2) > 0.5 and (not person or w + chance.gauss(0, 0.2) > 0.5)
        cases.append(Case({"a": a, "b": 1 - a}, {"w": w} if person else {}, known))
    return cases


def test_a_fit_finds_what_tells_and_gives_no_negative_weight() -> None:
    found = fit_calibration(made(), START)
    assert found.weights["a"] > 3.0
    assert found.weights["b"] == 0.0
    assert found.whose_weights["w"] > 3.0


def test_a_fit_is_calibrated_where_its_form_is_right() -> None:
    cases = made(2_000)
    found = fit_calibration(cases, START)
    middle = [(p, one.known) for one in cases if 0.4 < (p := raw_probability(found, one.values, one.whose)) < 0.7]
    assert len(middle) > 100
    assert abs(sum(p for p, _ in middle) - sum(known for _, known in middle)) / len(middle) < 0.1


@given(UNIT, UNIT, UNIT)
def test_more_of_a_feature_never_lowers_the_chance(low: float, high: float, other: float) -> None:
    low, high = sorted((low, high))
    assert raw_probability(START, {"a": low, "b": other}, {"w": other}) <= raw_probability(
        START, {"a": high, "b": other}, {"w": other}
    )
    assert raw_probability(START, {"a": other}, {"w": low}) <= raw_probability(START, {"a": other}, {"w": high})


def test_outcomes_move_a_user_s_calibration_and_few_of_them_little() -> None:
    corrected = [AnswerOutcome(0.9, held=False)]
    once, often = refit_user(START, corrected), refit_user(START, corrected * 200)
    moved = [one.shift + one.slope * log_odds(0.9) for one in (START, once, often)]
    assert moved[0] > moved[1] > moved[2]
    assert moved[0] - moved[1] < 0.3
    assert moved[2] < 0.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.builds(AnswerOutcome, st.floats(0.02, 0.98), st.booleans()), min_size=1, max_size=200))
def test_a_refit_is_never_worse_than_what_it_began_with(outcomes: list[AnswerOutcome]) -> None:
    found = refit_user(START, outcomes)
    assert penalised(found, outcomes) <= penalised(START, outcomes) + 1e-9
    for moved in (replace(found, shift=found.shift + 0.01), replace(found, shift=found.shift - 0.01)):
        assert penalised(moved, outcomes) >= penalised(found, outcomes) - 1e-9


def penalised(calibration: Calibration, outcomes: list[AnswerOutcome]) -> float:
    """What `refit` minimises: the log loss, and how far it is from where it began."""
    drawn = PRIOR_OUTCOMES * CURVE * (calibration.shift**2 + SPREAD * (calibration.slope - 1) ** 2) / 2
    odds = (calibration.shift + calibration.slope * log_odds(one.score) for one in outcomes)
    lost = (math.log1p(math.exp(-abs(z))) + max(z, 0.0) - z * one.held for z, one in zip(odds, outcomes, strict=True))
    return drawn + sum(lost)


OUTCOMES = st.lists(st.builds(AnswerOutcome, UNIT, st.booleans()), max_size=60)


@settings(max_examples=60, deadline=None)
@given(OUTCOMES, UNIT, UNIT)
def test_whatever_the_outcomes_a_refit_is_finite_and_more_confidence_never_means_less(
    outcomes: list[AnswerOutcome], low: float, high: float
) -> None:
    found = refit_user(START, outcomes)
    assert math.isfinite(found.shift)
    assert math.isfinite(found.slope)
    low, high = sorted((low, high))
    assert adjust_probability(found, low) <= adjust_probability(found, high) + 1e-12


@settings(max_examples=50, deadline=None)
@given(OUTCOMES, UNIT, st.booleans())
@example(outcomes=[], score=0.0, held=True)
@example(outcomes=[], score=1.0, held=False)
def test_no_single_outcome_moves_a_confidence_of_nine_in_ten_far(
    outcomes: list[AnswerOutcome], score: float, held: bool
) -> None:
    before, after = (refit_user(START, known) for known in (outcomes, [*outcomes, AnswerOutcome(score, held)]))
    moved = [one.shift + one.slope * NINE for one in (before, after)]
    # The penalty curves by D = PRIOR_OUTCOMES * CURVE * diag(1, SPREAD), and one loss pulls by at most (1, FURTHEST):
    # so the least point moves by no more than that over D, which is seen from (1, NINE).
    assert abs(moved[1] - moved[0]) <= MOST_BY_ONE + 1e-6 < 0.42
    if not outcomes:
        assert abs(adjust_probability(after, 0.9) - 0.9) < 0.05


@pytest.mark.parametrize("share", [0.9, 0.7, 0.5])
def test_many_wrong_answers_never_make_sure(share: float) -> None:
    chance = random.Random(6)
    outcomes = [AnswerOutcome(chance.uniform(0.85, 0.97), chance.random() > share) for _ in range(200)]
    assert adjust_probability(refit_user(START, outcomes), 0.9) < 0.75 - share / 4


@pytest.mark.parametrize(
    "text", ["{broken", "[]", "null", '{"high": null}', '{"high": "x"}', '{"high": NaN, "slope": -1}']
)
def test_what_somebody_broke_of_a_user_s_own_calibration_is_left_out(text: str) -> None:
    assert apply_own(START, text) == START
