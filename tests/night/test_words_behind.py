"""A guideline rests on the user's words: where these stand by themselves it is not needed, and it falls with them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from harness import Agent, agent, run_insula

from insula.testing import Reply, Request, ScriptedModel, answer_second_look

pytestmark = pytest.mark.anyio

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


async def live(ana: Agent, *said: str) -> None:
    for message in said:
        await ana.say(message)
    ana.next_day()


@pytest.mark.parametrize("text", ["Write code in Python, the user prefers it to Julia.", "Write code in Julia."])
async def test_a_note_on_a_preference_leaves_the_users_own_words_alone(text: str) -> None:
    words = "Code in Julia from now on please, no more Python."
    note = {"text": text, "section": "interaction", "sessions": [1], "quotes": [words]}
    async with agent() as ana:
        await live(ana, "How do I read a file?", words, "And how do I plot it?")
        report = await ana.sleep(model=proposing(note))
    (found,) = (phase.found for phase in report.phases if phase.name == "reflection")
    assert found["dropped"] == {"the user's own words stand already": 1}


async def pieces(*words: str) -> Any:
    """What was learned, as the command lists it."""
    return (await asyncio.to_thread(run_insula, "lessons", *words, "--user", "ana", "--json")).json


async def test_a_guideline_falls_with_the_words_that_it_rests_on(home: Path) -> None:
    words = "From now on, no lists, write whole sentences.", "That is a list again, I wanted whole sentences."
    text = "Explain as one would read it aloud to somebody."
    note = {"text": text, "section": "interaction", "sessions": [1, 2], "quotes": [*words]}
    soul = home / "users" / "ana" / "SOUL.md"
    async with agent(place=home / "insula.db") as ana:
        await live(ana, "How do I read a table?", words[0], "Thanks.")
        await live(ana, "How do I sort a table?", words[1], "Thanks.")
        await ana.sleep(model=proposing(note), soul=soul)
        assert text in soul.read_text()
        await live(ana, "You may use lists again.", "How do I read a sheet?", "Thanks.")
        await ana.sleep(soul=soul)
        assert text not in soul.read_text()
        (gone,) = (piece for piece in await pieces("--all") if piece["advice"] == text)
        assert "you took back the words that it rests on" in gone["state"]
        await pieces("undo", gone["id"])
        await ana.sleep(soul=soul)
        assert text in soul.read_text()
