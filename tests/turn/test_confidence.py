import json
from dataclasses import replace
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from insula.calibration import load_shipped
from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.query import Statistics, build_cue
from insula.memory.retrieval.scoring import SubjectSides
from insula.memory.storage.statements import utc_moment
from insula.memory.storage.store import Recollection
from insula.text.analysis import analyse_text
from insula.turn.confidence import estimate_chance, estimate_confidence
from insula.types import Calibration, Identity, Memory, MemoryKind, Provenance, Recalled

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
