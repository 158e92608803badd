"""A very small model is led to replies that make sense."""

from pathlib import Path

import pytest

from insula import Chat, Metacognition
from insula.testing import Request, ScriptedModel

pytestmark = pytest.mark.anyio

TALK = (
    ("Hi", "Hello! Tell me something about yourself, and ask me about it later."),
    ("¿Qué sabes de mí?", "Todavía no me has contado nada de ti. Si me lo dices, lo recordaré."),
    ("My brother Pablo works in Seville.", "Noted: “My brother Pablo works in Seville.”"),
    ("Where does my brother Pablo work?", "You told me: “My brother Pablo works in Seville.”"),
    ("What is my blood type?", "I find nothing about that in what you have told me. Tell me, and I will remember it."),
    ("What is the capital of France?", "I don't know this for certain. Words of the model."),
    ("My locker code is 4711.", "Passwords and codes I do not keep."),
    ("The bus is ten minutes late again.", "All right."),
    (
        "What do you know about my sister?",
        "I find nothing about that in what you have told me. Tell me, and I will remember it.",
    ),
    (
        "What do you know about me?",
        "This is what you have told me, the latest first:\n- My brother Pablo works in Seville.",
    ),
    (
        "Wer bist du?",
        "Ich bin Insula. Ich merke mir, was du mir sagst, und zitiere es, wenn du fragst. Ich laufe mit einem winzigen "
        "Modell, das nichts von der Welt weiß.",
    ),
    (
        "Remind me tomorrow at 9 to call my brother.",
        "I can only remember what you tell me and quote it. For this, take a larger model.",
    ),
    ("Forget my shoe size.", "OK."),
    (
        "Mein Passwort lautet xK9#vQ2!pL7z.",
        "Passwörter und Codes behalte ich nicht.",
    ),
)


async def test_what_is_told_is_said_back_and_what_is_known_is_quoted(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "Words of the model.")
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        chat = Chat(metacognition, model, guided=True)
        replies = [(message, (await chat.reply("me", "a", message)).response) for message, _ in TALK]
    assert replies == list(TALK)


async def test_no_preference_counts_as_told_that_the_model_was_not_told(tmp_path: Path) -> None:
    asked, wish = list[str](), "From now on, answer in one sentence."

    def answer(request: Request) -> str:
        asked.append(f"{request.instructions} {request.prompt}")
        return "Words of the model."

    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        led, own = (Chat(metacognition, ScriptedModel(answer), guided=guided) for guided in (True, False))
        await led.reply("me", "a", wish)
        untold = [await led.reply("me", "a", text) for text in ("What is my name?", "What is the capital of France?")]
        assert len(asked) == 1
        assert wish not in asked[0]
        assert [reply.lessons for reply in untold] == [(), ()]
        (told,) = (await own.reply("me", "a", "What is the capital of France?")).lessons
    assert wish in asked[-1]
    assert told.text == wish
