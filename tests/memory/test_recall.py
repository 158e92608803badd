import json

from hypothesis import given
from hypothesis import strategies as st

from insula.language.owner import ASSISTANT, USER
from insula.memory.retrieval.encoding import encode_claims
from insula.memory.retrieval.query import Cue, Statistics, build_cue, content_weights, weigh_terms
from insula.memory.retrieval.scoring import NO_MATCH, Item, Scene, match_claims, rank_items, score_item
from insula.text.analysis import analyse_text

NOW = 1_800_000_000.0
SCENE = Scene(8.0)
NAMES = ["ana", "lisbon", "moved", "sister", "train", "guitar", "piano", "rome", "school", "cat"]
WORDS = st.lists(st.sampled_from(NAMES), max_size=6)


def asked(text: str) -> Cue:
    return build_cue(analyse_text(text), USER, ASSISTANT)


def item(text: str, question: Cue, statistics: Statistics, *, speaker: str = USER, before: str = "") -> Item:
    shares = content_weights(question, statistics)
    analysis = analyse_text(text)
    encoding = encode_claims(analysis, speaker, ASSISTANT)
    around = encode_claims(analyse_text(before), ASSISTANT, speaker).dump_claims()
    return Item(
        id=1,
        provenance="user",
        kind=encoding.kind,
        speaker=speaker,
        language=analysis.language,
        content=text,
        match=match_claims(question, shares, encoding.dump_claims()),
        before=match_claims(question, shares, around) if before else NO_MATCH,
        after=NO_MATCH,
        said_at=NOW - 3600,
        uses=1,
        used_at=json.dumps([NOW - 3600]),
    )


def value(text: str, question: str, *, speaker: str = USER, before: str = "") -> float:
    given_cue, statistics = asked(question), Statistics()
    one = item(text, given_cue, statistics, speaker=speaker, before=before)
    return score_item(given_cue, weigh_terms(given_cue, statistics), one, SCENE, NOW).score


@given(WORDS, WORDS, st.floats(-1, 1), st.integers(1, 50))
def test_scores_and_parts_stand_on_one_scale(memory: list[str], question: list[str], cosine: float, uses: int) -> None:
    given_cue, statistics = asked(" ".join(question)), Statistics()
    one = item(" ".join(memory), given_cue, statistics)._replace(cosine=cosine, uses=uses)
    found = score_item(given_cue, weigh_terms(given_cue, statistics), one, SCENE, NOW)
    assert 0.0 <= found.score <= 1.0
    assert all(0.0 <= part <= 1.0 for part in found.parts.values())


@given(WORDS.filter(bool), st.integers(0, 5))
def test_a_memory_that_holds_more_of_the_question_never_scores_less(question: list[str], kept: int) -> None:
    text = " ".join(question)
    given_cue, statistics = asked(text), Statistics()
    shares = weigh_terms(given_cue, statistics)
    whole = item(text, given_cue, statistics)
    held = dict(list(whole.match.frequencies.items())[:kept])
    part = whole._replace(match=whole.match._replace(frequencies=held))
    assert (
        score_item(given_cue, shares, whole, SCENE, NOW).score >= score_item(given_cue, shares, part, SCENE, NOW).score
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_closer_embedding_never_scores_less(one: float, other: float) -> None:
    given_cue, statistics = asked("Where does Ana live?"), Statistics()
    memory = item("My sister Ana moved to Lisbon.", given_cue, statistics)
    low, high = (
        score_item(given_cue, weigh_terms(given_cue, statistics), memory._replace(cosine=cosine), SCENE, NOW).score
        for cosine in sorted((one, other))
    )
    assert high >= low


def test_the_answer_to_a_question_is_found_though_it_shares_no_word_with_it() -> None:
    question = "Where did I go on holiday?"
    assert value("Lisbon.", question, before="Where did you go on holiday?") > value("Lisbon.", question) == 0.0


def test_a_sentence_about_the_person_asked_beats_one_that_only_mentions_the_same_things() -> None:
    question = "Where does Ana live?"
    assert value("Ana lives in Lisbon.", question) > value("I live in Lisbon with a cat.", question)


def test_what_the_user_said_of_themselves_beats_what_they_said_of_another() -> None:
    question = "Where do I work?"
    assert value("I work in a bakery.", question) > value("Tom works in a bakery.", question)


def test_a_statement_beats_the_same_question_asked_before() -> None:
    question = "Where does Ana live?"
    assert value("Ana lives in Lisbon.", question) > value("Where does Ana live?", question)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    statistics = Statistics(memories=1000, containing={"lisbon": 2, "day": 400})
    shares = weigh_terms(asked("a day at lisbon"), statistics)
    assert shares["lisbon"] > shares["day"]


def test_a_memory_without_anything_in_common_is_not_recalled() -> None:
    given_cue, statistics = asked("What is the capital of Mongolia?"), Statistics()
    assert rank_items(given_cue, [item("I like tea.", given_cue, statistics)], statistics, NOW, 5) == []


def test_a_word_is_found_though_the_question_is_in_another_language() -> None:
    english = build_cue(analyse_text("connections"), USER, ASSISTANT)
    german = analyse_text("Was weißt du noch über connections, die ich gestern Abend erwähnt habe?")
    assert german.language == "de"
    assert not set(build_cue(german, USER, ASSISTANT).forms) & set(english.terms)
    assert set(build_cue(german, USER, ASSISTANT, frozenset({"en"})).forms) & set(english.terms)
