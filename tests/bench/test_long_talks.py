"""A long talk in one session fills working memory, and the requests before and after differ as S3 to S6 say."""

import pytest

from insula.agent.chat import Chat, Reply
from insula.memory.encoding import USER
from insula.metacognition import Metacognition
from insula.testing import ScriptedModel, memory_store
from insula_bench import talks

pytestmark = pytest.mark.anyio

SECONDS = 60.0
"""Between two messages of the talk, as one session."""


class Clock:
    def __init__(self) -> None:
        self.at = 1_767_225_600.0

    def __call__(self) -> float:
        return self.at


async def lived_through(name: str) -> list[tuple[Reply, str]]:
    """Each reply of a talk, with the system prompt of its request."""
    talk = next(one for one in talks.with_assistant() if one.name == name)
    said = [line.text for line in talk.lines if line.speaker == USER]
    answers = iter([line.text for line in talk.lines if line.speaker != USER])
    clock, model = Clock(), ScriptedModel(lambda _: next(answers, "Noted."))
    seen: list[tuple[Reply, str]] = []
    async with memory_store(clock) as store:
        chat = Chat(Metacognition(store), model)
        for message in said:
            clock.at += SECONDS
            seen.append((await chat.reply("ana", "one long session", message), model.requests[-1].instructions))
    return seen


async def test_a_long_talk_is_felt_and_acted_on_its_first_turns_are_not_and_the_model_is_told_nothing_of_it() -> None:
    seen = await lived_through("guitar-and-garden")
    full = [number for number, (reply, _) in enumerate(seen) if reply.controls.max_context_items == 12]
    assert full
    assert full[0] > 5
    for number, (reply, text) in enumerate(seen):
        assert reply.controls.max_context_items in {12, 16}
        assert reply.controls.consolidation_threshold == pytest.approx(0.6 if number in full else 0.55)
        assert "session" not in text.lower()
