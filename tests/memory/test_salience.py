import pytest

from insula.language.owner import ASSISTANT, USER
from insula.memory.item import estimate_novelty, measure_personal, new_item
from insula.memory.retrieval.encoding import encode_claims
from insula.memory.storage.statements import utc_moment
from insula.text.analysis import analyse_text
from insula.types import Controls, Memory, MemoryKind, Recalled

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


@pytest.mark.parametrize("text", ["I see.", "I think so.", "I love it!", "Ok, thanks a lot.", "Do I have daughters?"])
def test_small_talk_in_the_first_person_is_not_kept(text: str) -> None:
    assert not kept(text)


def test_a_statement_about_the_world_is_not_personal() -> None:
    assert measure_personal(analyse_text("The ferry leaves from the old harbour.")) == 0.0
    assert measure_personal(analyse_text("Do I have a daughter?")) == 0.0
