"""What a line has to do with what is asked, and which lines are worth keeping."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula import Controls, Memory, Recalled
from insula.language.heads import DIMENSIONS, REQUEST, answer_affinities, read_request
from insula.language.owner import ASSISTANT, USER
from insula.language.statements import MessageQuestion, extract_question, extract_statements
from insula.memory.item import estimate_novelty, measure_personal, new_item
from insula.memory.relevance import (
    ANSWERS,
    NEVER,
    PIECE,
    Relevance,
    answer_odds,
    find_nearness,
    judge_relevance,
)
from insula.memory.retrieval.embedding import embed_text
from insula.memory.retrieval.query import encode_claims
from insula.memory.storage.rows import StoredStatement
from insula.memory.storage.statements import utc_moment
from insula.memory.storage.vectors import embed_normalised
from insula.text.analysis import analyse_text
from insula.types import MemoryKind


def judge(ask: str, *lines: str, language: str = "en") -> list[Relevance]:
    """How likely each line answers, the lines numbered from one."""
    asked = [_with_vector(one) for one in extract_question(ask, language, USER, ASSISTANT)]
    told = [
        StoredStatement(number, float(number), one._replace(vector=embed_normalised(embed_text, one.text)))
        for number, line in enumerate(lines, 1)
        for one in extract_statements(analyse_text(line, default=language), USER, ASSISTANT)
    ]
    vectors = [(one.memory, one.statement.vector) for one in told if one.statement.vector is not None]
    near = find_nearness([read_request(ask, embed_normalised(embed_text, ask))], vectors)
    found = judge_relevance(asked, {number: near[number] for number, _ in enumerate(lines, 1)}, told, is_meant=True)
    return [found[number] for number, _ in enumerate(lines, 1)]


@given(st.integers(1, 3), st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 9))
def test_a_memory_is_as_near_as_the_nearest_of_its_vectors(asked: int, memories: list[int], seed: int) -> None:
    dice = np.random.default_rng(seed)
    sought = [one.astype(np.float32) for one in dice.normal(size=(asked, REQUEST)) / 22]
    vectors = [
        (memory, one.astype(np.float32))
        for memory, one in zip(memories, dice.normal(size=(len(memories), 512)) / 22, strict=True)
    ]
    found = find_nearness(sought, [*vectors, (9, np.ones(3, np.float32))])
    assert found.keys() == set(memories)
    for memory, near in found.items():
        each = [
            (float(q[:DIMENSIONS] @ v) - PIECE * bool(at), float(answer_affinities(q[None], v[None])[0, 0]))
            for at, q in enumerate(sought)
            for of, v in vectors
            if of == memory
        ]
        best = max(each, key=sum)
        assert (near["near"], near["near_affinity"]) == pytest.approx(best, abs=1e-4)


def _with_vector(one: MessageQuestion) -> MessageQuestion:
    return one._replace(request=read_request(one.text, embed_normalised(embed_text, one.text)))


@pytest.mark.parametrize(
    ("ask", "line", "language"),
    [
        ("When does Sandro graduate?", "My brother Sandro graduates on 14 July in Bologna.", "en"),
        ("Quando si laurea Sandro?", "Mio fratello Sandro si laurea il 14 luglio a Bologna.", "it"),
        ("wie oft kriegt Knut seine Medizin?", "Unser Hund Knut kriegt zweimal am Tag seine Medizin.", "de"),
        ("My aunt asks when Dad's party is, what do I tell her?", "My father's party is on 14 March.", "en"),
    ],
)
def test_a_line_about_ones_people_may_answer_who_does_not_say_whose_they_are(
    ask: str, line: str, language: str
) -> None:
    (found,) = judge(ask, line, language=language)
    assert found.odds > NEVER


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        ("Where do I live?", "I live in Porto.", "I moved to Madrid."),
        ("How much is our rent?", "Our rent is 900 euros a month.", "Rent's 950 from May."),
        ("Where does my sister live?", "My sister lives in Rome.", "My sister moved to Turin."),
    ],
)
def test_a_newer_line_of_the_same_matter_counts_as_much_as_the_line_that_answers(ask: str, old: str, new: str) -> None:
    before, after = judge(ask, old, new)
    assert after.odds >= before.odds


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        ("When is Arlo's birthday?", "Arlo's birthday is 9 October.", "Arlo doesn't like thunder any more."),
        ("Where do I live?", "I live in Porto.", "I don't drink coffee any more."),
        ("Where does my sister live?", "My sister lives in Rome.", "My sister no longer plays the violin."),
    ],
)
def test_a_change_of_another_matter_leaves_the_line_that_answers_first(ask: str, old: str, new: str) -> None:
    before, after = judge(ask, old, new)
    assert before.odds > after.odds + 1


def test_without_vectors_a_line_needs_nearly_all_words_of_the_question() -> None:
    few, most = (answer_odds({"overlap": share}, is_meant=False) for share in (0.2, 0.9))
    assert few < 2 * ANSWERS < 0 < most


def test_of_another_embedding_the_head_says_nothing() -> None:
    assert not answer_affinities(np.ones((2, 3), np.float32), np.ones((4, 3), np.float32)).any()


# salience


THRESHOLD = Controls().consolidation_threshold


def near(text: str, kind: MemoryKind, overlap: float) -> Recalled:
    memory = Memory(
        id=1,
        kind=kind,
        provenance="user",
        speaker=USER,
        content=text,
        said_at=utc_moment(0.0),
        session="s",
        importance=1.0,
        confidence=1.0,
        line=text,
    )
    return Recalled(memory=memory, score=0.5, parts={"overlap": overlap}, terms=frozenset(analyse_text(text).terms))


def kept(text: str, *recalled: Recalled, language: str = "en") -> bool:
    analysis = analyse_text(text, default=language)
    encoding = encode_claims(analysis, USER, ASSISTANT)
    return new_item(analysis, encoding, "user", USER, recalled, ()).salience >= THRESHOLD


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I have two daughters."),
        ("de", "Ich habe zwei Töchter."),
        ("de", "Mein Hund heißt Bello."),
        ("es", "Tengo dos hijas."),
        ("pt", "Tenho duas filhas."),
        ("it", "Ho due figlie."),
        ("fr", "J'ai deux filles."),
        ("zh", "我有一只狗叫豆豆。"),
    ],
)
def test_a_short_fact_in_the_first_person_is_kept(language: str, text: str) -> None:
    assert measure_personal(analyse_text(text, default=language)) == 1.0
    assert kept(text, language=language)


def test_a_fact_is_as_new_as_if_it_had_not_been_asked_about() -> None:
    asked = near("Was machen meine Töchter bei Regen?", "episodic", 1.0)
    answered = near("Das weiß ich darüber.", "semantic", 0.6)  # its overlap is that of the question before it
    assert kept("Ich habe zwei Töchter.", asked, answered, language="de")


def test_what_is_said_again_is_not_new() -> None:
    text = "I have two daughters."
    encoding = encode_claims(analyse_text(text), USER, ASSISTANT)
    assert estimate_novelty(encoding, [near(text, "semantic", 0.7)]) == 0.0
    assert not kept(text, near(text, "semantic", 0.7))
