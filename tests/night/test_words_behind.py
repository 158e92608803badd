"""A guideline rests on the user's words: where these stand by themselves it is not needed, and it falls with them."""

from collections.abc import Mapping
from typing import Any

import pytest

from insula import Metacognition
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.store import Store
from insula.night.curation import decide_piece, list_pieces
from insula.night.guidelines import read_soul_state
from insula.testing import FrozenClock, Reply, Request, ScriptedModel, answer_second_look, memory_store

pytestmark = pytest.mark.anyio

DAY = 86_400.0
Principle = Mapping[str, object]


def proposing(*principles: Principle) -> ScriptedModel:
    """A model that proposes principles, and stands by them."""

    def reply(request: Request) -> Reply:
        if again := answer_second_look(request):
            return again
        fields = (request.schema or {}).get("properties", {})
        if "principles" in fields:
            return {"explanation": [], "principles": list(principles), "procedures": [], "advice": []}
        if "statements" in fields:
            return {"statements": [], "ended": [], "preferences": []}
        return {"summary": "They talked of code.", "topics": ["code"]}

    return ScriptedModel(reply)


async def live(mind: Metacognition, clock: FrozenClock, session: str, *said: str) -> None:
    for message in said:
        clock.advance(60)
        async with mind.turn("ada", session, message) as turn:
            turn.finish("Here it is.")
    clock.advance(DAY)


def dropped(report: Any) -> dict[str, int]:
    (found,) = [phase.found for phase in report.phases if phase.name == "reflection"]
    return found["dropped"]


@pytest.mark.parametrize("text", ["Write code in Python, the user prefers it to Julia.", "Write code in Julia."])
async def test_a_note_on_a_preference_leaves_the_users_own_words_alone(text: str) -> None:
    words = "Code in Julia from now on please, no more Python."
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        await live(mind, clock, "day 1", "How do I read a file?", words, "And how do I plot it?")
        note = {"text": text, "section": "interaction", "sessions": [1], "quotes": [words]}
        report = await mind.sleep("ada", model=proposing(note), force=True)
        assert dropped(report) == {"the user's own words stand already": 1}


async def guidelines_of(store: Store) -> str:
    return (await read_soul_state(store, "ada", None)).text


async def test_a_guideline_falls_with_the_words_that_it_rests_on() -> None:
    words = "From now on, no lists, write whole sentences.", "That is a list again, I wanted whole sentences."
    text = "Explain as one would read it aloud to somebody."
    note = {"text": text, "section": "interaction", "sessions": [1, 2], "quotes": [*words]}
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        await live(mind, clock, "day 1", "How do I read a table?", words[0], "Thanks.")
        await live(mind, clock, "day 2", "How do I sort a table?", words[1], "Thanks.")
        await mind.sleep("ada", model=proposing(note), force=True)
        assert text in await guidelines_of(store)
        await live(mind, clock, "day 3", "You may use lists again.", "How do I read a sheet?", "Thanks.")
        await mind.sleep("ada", force=True)
        assert text not in await guidelines_of(store)
        (gone,) = [piece for piece in await list_pieces(store, "ada") if piece.kept.advice == text]
        assert gone.retired == "the user took back the words that it rests on"

        await decide_piece(store, "ada", None, gone.kept.name, "undo")
        await mind.sleep("ada", force=True)
        assert text in await guidelines_of(store)
