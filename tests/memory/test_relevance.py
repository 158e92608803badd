"""What a line has to do with what is asked: one score, and the few rules that a sentence states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.language.heads import answer_affinities
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import MessageQuestion, extract_question, extract_statements
from insula.memory.relevance import (
    ANSWERS,
    NEVER,
    Relevance,
    StoredStatement,
    answer_odds,
    find_nearness,
    holding_chance,
    judge_relevance,
)
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.vectors import embed_normalised
from insula.text.analysis import analyse_text


def judge(ask: str, *lines: str, language: str = "en") -> list[Relevance]:
    """How likely each line answers, the lines numbered from one."""
    asked = [_with_vector(one) for one in extract_question(ask, language, USER, ASSISTANT)]
    told = [
        StoredStatement(number, float(number), one._replace(vector=embed_normalised(embed_text, one.text)))
        for number, line in enumerate(lines, 1)
        for one in extract_statements(analyse_text(line, default=language), USER, ASSISTANT)
    ]
    vectors = [(one.memory, one.statement.vector) for one in told if one.statement.vector is not None]
    near = find_nearness([embed_normalised(embed_text, ask)], vectors)
    found = judge_relevance(asked, {number: near[number] for number, _ in enumerate(lines, 1)}, told, is_meant=True)
    return [found[number] for number, _ in enumerate(lines, 1)]


@given(st.integers(1, 3), st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 9))
def test_a_memory_is_as_near_as_the_nearest_of_its_vectors(asked: int, memories: list[int], seed: int) -> None:
    dice = np.random.default_rng(seed)
    sought = [one.astype(np.float32) for one in dice.normal(size=(asked, 512)) / 22]
    vectors = [
        (memory, one.astype(np.float32))
        for memory, one in zip(memories, dice.normal(size=(len(memories), 512)) / 22, strict=True)
    ]
    found = find_nearness(sought, [*vectors, (9, np.ones(3, np.float32))])
    assert found.keys() == set(memories)
    for memory, near in found.items():
        each = [
            (float(q @ v), float(answer_affinities(q[None], v[None])[0, 0]))
            for q in sought
            for of, v in vectors
            if of == memory
        ]
        best = max(each, key=sum)
        assert (near["near"], near["near_affinity"]) == pytest.approx(best, abs=1e-4)


def _with_vector(one: MessageQuestion) -> MessageQuestion:
    return one._replace(vector=embed_normalised(embed_text, one.text))


@pytest.mark.parametrize(
    ("ask", "right", "wrong", "language"),
    [
        ("What do I do for a living?", "I'm a nurse on a night ward.", "I painted the shed green.", "en"),
        ("Wie heißt mein Hund?", "Unser Dackel hört auf Bello.", "Ich fahre seit März einen Golf.", "de"),
        ("¿Dónde vivo?", "Me mudé a Sevilla hace un año.", "Mi cumpleaños es en abril.", "es"),
    ],
)
def test_a_line_that_answers_in_other_words_is_likelier_than_one_that_does_not(
    ask: str, right: str, wrong: str, language: str
) -> None:
    first, second = judge(ask, right, wrong, language=language)
    assert first.odds > second.odds


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        ("Where was I born?", "My husband was born in Graz."),
        ("Where does my uncle live?", "My sister lives in Rome."),
        ("Where was I born?", "Let's play: pretend I was born in Oslo."),
    ],
)
def test_what_is_only_about_another_or_said_in_a_game_never_answers(ask: str, line: str) -> None:
    (found,) = judge(ask, line)
    assert found.odds == NEVER
    assert found.bearing == "other"


def test_a_newer_line_that_tells_of_a_change_stands_beside_the_one_that_answers() -> None:
    before, after, else_ = judge(
        "What's our band called?", "Our band is called The Wet Badgers.", "We've renamed our band.", "I had soup."
    )
    assert after.odds >= before.odds > else_.odds


def test_what_newer_words_ended_is_history_and_its_end_as_near() -> None:
    before, after = judge("Where do I live?", "I live in Porto.", "I no longer live in Porto.")
    assert before.until == 2.0
    assert (before.ended_by, after.ended) == (2, (1,))
    assert after.odds >= before.odds


def test_without_vectors_a_line_needs_nearly_all_words_of_the_question() -> None:
    few, most = (answer_odds({"overlap": share}, is_meant=False) for share in (0.2, 0.9))
    assert few < 2 * ANSWERS < 0 < most


def test_the_likelier_the_best_line_the_likelier_memory_holds_it() -> None:
    chances = [holding_chance(odds) for odds in (-9.0, -3.0, 0.0, 3.0)]
    assert chances == sorted(chances)
    assert chances[0] < 0.01
    assert chances[-1] > 0.95


def test_of_another_embedding_the_head_says_nothing() -> None:
    assert not answer_affinities(np.ones((2, 3), np.float32), np.ones((4, 3), np.float32)).any()
