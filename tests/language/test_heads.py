"""What heads read and tell, and that fitting them again from the same data gives the same."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.language.heads import (
    DIMENSIONS,
    REQUEST,
    Vector,
    answer_affinities,
    answering_direction,
    change_odds,
    limit_direction,
    limit_odds,
    load_cards,
    predict_chance,
    read_request,
)
from insula.language.spelling import LONGEST, PLACES, hash_ngrams
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.vectors import embed_normalised
from insula_bench import network
from insula_bench import spelled as spelling

ASKED = {
    "en": ("What's my dog's name?", "How long do dogs live?"),
    "de": ("Wie heißt mein Hund?", "Wie alt werden Hunde?"),
    "ja": ("私の犬の名前は何ですか？", "犬は何年生きますか？"),
}


@pytest.mark.parametrize(("own", "world"), ASKED.values(), ids=ASKED)
def test_what_only_the_user_can_have_told_is_told_from_what_anybody_knows(own: str, world: str) -> None:
    mine, anybody = (predict_chance("personal", text, embed_text(text)) for text in (own, world))
    assert mine is not None
    assert anybody is not None
    assert mine > max(anybody, 0.5)


directions = st.integers(0, 10_000).map(
    lambda seed: embed_normalised(lambda _: np.random.default_rng(seed).normal(size=DIMENSIONS), "")
)

LIMITS = {
    "en": ("I'm allergic to hazelnuts.", "Suggest a cake for my party.", "How do vaccines work?"),
    "de": ("Ich bin gegen Haselnüsse allergisch.", "Schlag einen Kuchen für meine Feier vor.", "Wie wirken Impfungen?"),
    "ja": ("ヘーゼルナッツのアレルギーがある。", "パーティーのケーキを提案して。", "ワクチンの仕組みは？"),
}


@pytest.mark.parametrize(("fact", "request_", "other"), LIMITS.values(), ids=LIMITS)
def test_an_allergy_limits_a_cake_and_no_question_of_the_world(fact: str, request_: str, other: str) -> None:
    told = embed_normalised(embed_text, fact)[None, :]
    asked, world = (read_request(text, embed_normalised(embed_text, text))[None, :] for text in (request_, other))
    assert limit_odds(asked, told)[0, 0] >= load_cards()["limits"]["points"]["show"] > limit_odds(world, told)[0, 0]
    assert limit_direction(asked[0]) @ told[0] > limit_direction(asked[0]) @ world[0][:DIMENSIONS]


@given(question=directions, line=directions)
def test_the_direction_of_answers_orders_lines_as_their_chance_to_answer_does(question: Vector, line: Vector) -> None:
    other = line[::-1].copy()
    lines = np.array([line, other])
    read = np.concatenate([question, np.resize(question, REQUEST - DIMENSIONS)])
    worth = (lines @ question) + answer_affinities(read[None, :], lines)[0]
    near = lines @ answering_direction(read)
    assert (worth[0] - worth[1]) * (near[0] - near[1]) >= -1e-5


@pytest.mark.parametrize("size", [0, 1, DIMENSIONS - 1, DIMENSIONS + 1])
def test_of_another_embedding_a_head_tells_nothing(size: int) -> None:
    assert predict_chance("personal", "What's my dog's name?", np.ones(size, np.float32)) is None
    assert predict_chance("fact", "I live in Porto.", None) is None
    assert (
        limit_odds(np.ones((1, size), np.float32), np.ones((1, size), np.float32)).max()
        < load_cards()["limits"]["points"]["show"]
    )


def test_each_head_has_a_card_with_its_operating_points() -> None:
    for head in ("personal", "fact"):
        card = load_cards()[head]
        assert card["decides"]
        assert all(0 < point < 1 for point in card["points"].values())


@given(st.text())
def test_any_text_is_spelled_by_places_of_the_table_and_shares_that_are_bounded(text: str) -> None:
    read = hash_ngrams(text)
    assert len(read.places) == len(read.shares)
    assert all(0 <= place < PLACES for place in read.places)
    assert math.isfinite(read.log_odds(np.ones(PLACES + 1, np.float32)))
    assert (hash_ngrams(text.upper()).places == hash_ngrams(text.upper()[:LONGEST]).places).all()


def test_the_little_words_of_a_sentence_count() -> None:
    mine, yours = hash_ngrams("what is my name"), hash_ngrams("what is a name")
    assert set(mine.places.tolist()) != set(yours.places.tolist())


def test_both_parts_of_a_head_learn_what_can_be_learned_and_the_same_each_time() -> None:
    dice = np.random.default_rng(1)
    labels = np.arange(400) % 2 == 0
    rows = (dice.normal(size=(400, 64)) + np.where(labels, 1, -1)[:, None]).astype(np.float32)
    texts = [f"{'my' if label else 'the'} thing {number % 17}" for number, label in enumerate(labels)]
    one, again = (network.fit(rows, labels, 20) for _ in range(2))
    assert ((one.odds(rows) > 0) == labels).mean() > 0.97
    assert (one.hidden == again.hidden).all()
    read = [hash_ngrams(text) for text in texts]
    weights, same = (spelling.fit(read, labels) for _ in range(2))
    told = np.array([each.log_odds(weights) + weights[-1] for each in read])
    assert told[labels].min() > told[~labels].max()
    assert (weights == same).all()


@pytest.mark.parametrize(
    ("changes", "none"),
    [
        ("We sold the Corsa and got a Yaris.", "Our Corsa has a green roof box."),
        ("I quit my job at the bakery.", "I like the smell of a bakery."),
        ("Wir haben den Hund abgegeben.", "Ich habe zwei Katzen."),
        ("J'ai changé de boulot, je suis chez Michelin maintenant.", "J'aime les pommes."),
    ],
)
def test_a_line_that_tells_a_change_is_told_from_one_that_tells_none(changes: str, none: str) -> None:
    assert change_odds(embed_text(changes)) > change_odds(embed_text(none)) + 0.5


def test_of_another_embedding_no_change_can_be_told() -> None:
    assert change_odds(np.ones(3, np.float32)) == 0.0
