"""What of a session is sent along with a message."""

from collections.abc import Sequence

import pytest

from insula import Chat, Metacognition
from insula.testing import ScriptedModel, memory_store

pytestmark = pytest.mark.anyio


async def sent(replies: Sequence[str | Exception], *said: str, forgotten: str = "") -> list[tuple[str, str]]:
    """What stands before the last message."""
    model = ScriptedModel([*replies, "Fine."])
    async with memory_store() as store:
        mind = Metacognition(store, embed=None, holdout=0.0)
        chat = Chat(mind, model)
        for message in said[:-1]:
            await chat.reply("ana", "s", message)
        for memory in (await mind.list("ana")).memories:
            if forgotten and forgotten in memory.content:
                await mind.delete("ana", memory.id)
        await chat.reply("ana", "s", said[-1])
        assert model.requests[-1].prompt.startswith(said[-1])
        return [(role, text) for role, text in model.requests[-1].history]


async def test_a_turn_whose_message_was_erased_is_left_out() -> None:
    before = await sent(["Nice name.", "It is sunny."], "My cat is Tom.", "How is it outside?", "Ok.", forgotten="Tom")
    assert before == [("user", "How is it outside?"), ("assistant", "It is sunny.")]


async def test_a_message_that_was_never_answered_is_sent_once() -> None:
    down = RuntimeError("down")
    said = "Where is Lisbon?"
    assert await sent(["Hello.", down, down, down], "Hi!", said, said, said, said) == [
        ("user", "Hi!"),
        ("assistant", "Hello."),
    ]
    assert await sent(["Hello.", down, down, "In Portugal."], "Hi!", said, said, said, "And Porto?") == [
        ("user", "Hi!"),
        ("assistant", "Hello."),
        ("user", said),
        ("assistant", "In Portugal."),
    ]
    assert await sent(["Hi!"], "Hi!", said) == [("user", "Hi!"), ("assistant", "Hi!")]
    assert await sent(["In Portugal."], said, said) == [("user", said), ("assistant", "In Portugal.")]
