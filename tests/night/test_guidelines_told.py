"""Of SOUL.md a message is told the guidelines that can apply to it, and all that a person wrote there (R5)."""

from collections.abc import Sequence

import pytest

from insula.memory.retrieval.embedding import embed_text, embedded_all
from insula.memory.storage.changes import LessonChange, RevisionChange
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night import soul
from insula.night.view import AT_ONCE, read_guidelines

pytestmark = pytest.mark.anyio

RECIPES = "Check every recipe idea for walnuts."
INTERVIEWS = "Interview practice: one question, wait, one line of feedback."
SHORT = "Keep answers short."
OWN = "Say please."
DISEASES = "Sound less certain while more than one fits."


LINES = (("g1", RECIPES, ()), ("g2", INTERVIEWS, ()), ("g3", SHORT, ()), ("g4", DISEASES, ("tomatoes", "leaves")))


async def learn(store: Store, mind: Metacognition, lines: Sequence[tuple[str, str, tuple[str, ...]]] = LINES) -> None:
    async with mind.turn("ada", "first", "Hello.") as turn:
        turn.finish("Hello!")
    user = await store.nights.find_user_id("ada")
    assert user is not None
    document = soul.revise_document(
        soul.Document(), add=[("Interaction principles", name, text) for name, text, _ in lines]
    )
    text = f"{soul.render_document(document)}{OWN}\n"
    lessons = [
        LessonChange(name, text, topics, "Interaction principles", "derived", (1,)) for name, text, topics in lines
    ]
    await store.nights.record_phase(user, "d", "soul", {}, [*lessons, RevisionChange("soul", "night", text, {})])


async def told(mind: Metacognition, session: str, message: str) -> str:
    async with mind.turn("ada", session, message) as turn:
        turn.finish("All right.")
    return turn.instructions


async def test_a_message_is_told_what_applies_to_it_and_a_persons_own_lines(store: Store) -> None:
    mind = Metacognition(store, holdout=0.0, embed=embed_text)
    await learn(store, mind)
    soup = await told(mind, "soup", "Do you have a recipe for a soup?")
    assert RECIPES in soup
    assert INTERVIEWS not in soup
    plants = await told(mind, "plants", "The leaves of my tomatoes turn yellow.")
    assert DISEASES in plants, "it was learned in talks about tomatoes"
    for text in (soup, plants):
        assert SHORT in text, "it is about all answers"
        assert OWN in text


async def test_a_guideline_that_is_alone_is_told_where_it_applies_and_nowhere_else(store: Store) -> None:
    mind = Metacognition(store, holdout=0.0, embed=embed_text)
    await learn(store, mind, (("g1", RECIPES, ()),))
    assert RECIPES in await told(mind, "soup", "Do you have a recipe for a soup?")
    assert RECIPES not in await told(mind, "barbecue", "Who won the Tour de France in 1998?")


async def test_what_was_told_stays_while_the_session_goes_on(store: Store) -> None:
    mind = Metacognition(store, holdout=0.0, embed=embed_text)
    await learn(store, mind)
    assert INTERVIEWS in await told(mind, "practice", "Let us practise for my interview.")
    assert INTERVIEWS in await told(mind, "practice", "Sofia, in 2019.")
    assert INTERVIEWS not in await told(mind, "another", "Sofia, in 2019.")


def test_of_many_that_apply_a_message_is_told_the_nearest() -> None:
    many = [(f"g{number}", f"Check recipe {number} for walnuts.") for number in range(10)]
    document = soul.revise_document(soul.Document(), add=[("Known patterns", name, text) for name, text in many])
    known = read_guidelines(document, (), (), embed_text)
    (message,) = embedded_all(embed_text, ["Give me a recipe with walnuts."])
    assert len(known.choose_applying([message])) == AT_ONCE
    assert len(known.choose_applying(())) == AT_ONCE, "where no meaning is known the best supported are told"
