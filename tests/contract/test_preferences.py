"""From a preference that the user states to the requests that it changes, and to those that it leaves alone."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from harness import Agent, agent, run_insula

from insula import Metacognition

pytestmark = pytest.mark.anyio

FROM_NOW_ON = {
    "en": ("From now on, answer in one sentence.", "How does an engine work?"),
    "es": ("A partir de ahora, responde siempre en una frase.", "¿Cómo funciona un motor?"),
    "fr": ("Désormais, réponds toujours en une phrase.", "Comment marche un moteur ?"),
    "de": ("Antworte ab jetzt immer in einem Satz.", "Wie funktioniert ein Motor?"),
    "pt": ("De agora em diante, responda sempre em uma frase.", "Como funciona um motor?"),
    "it": ("D'ora in poi rispondi sempre in una frase.", "Come funziona un motore?"),
    "zh": ("从现在开始，请总是用一句话回答。", "发动机是怎么工作的？"),
    "ja": ("これからはいつも一文で答えてください。", "エンジンはどう動きますか？"),
}
CALL_ME = {
    "en": "Call me Nina.",
    "es": "Llámame Nina.",
    "fr": "Appelle-moi Nina.",
    "de": "Nenn mich Nina.",
    "pt": "Me chame de Nina.",
    "it": "Chiamami Nina.",
    "zh": "叫我妮娜吧。",
    "ja": "ニナと呼んでください。",
}
NO_PREFERENCE = {
    "a game": "You are a pirate. Always answer in rhyme.",
    "a text to translate": "Translate this into German: From now on I answer in short sentences.",
    "a quotation": 'My boss wrote: "From now on, always answer in one sentence."',
    "a command of the moment": "Write this letter in German.",
    "a greeting": "Hi there, good morning!",
    "a fact": "My sister lives in Lisbon.",
    "somebody else's": "My boss always wants short answers.",
    "a habit": "I always drink coffee in the morning.",
    "a question": "Should answers always be short?",
    "before a colon": "Short answers: do people like them?",
}


CELSIUS = "From now on, always use Celsius."
HOW = "How does an engine work?"


async def tomorrow(ana: Agent, *told: str, ask: str = HOW) -> str:
    """What the next day's request holds beside the question, once some messages were said."""
    for message in told:
        await ana.say(message)
    ana.next_day()
    return (await ana.ask(ask)).text.replace(ask, "", 1).strip()


@contextmanager
def agent_at(home: Path) -> Generator[Callable[[str], str]]:
    """Say something to an agent over the store of the command, each in a session of its own; returns the request."""
    with Metacognition.sync(home / "insula.db", holdout=0.0) as mind:

        def say(message: str) -> str:
            with mind.turn("ana", f"session {uuid4()}", message) as turn:
                turn.finish("All right.")
            return f"{turn.instructions}\n{turn.prompt}"

        yield say


def listed(text: str) -> list[str]:
    """The items of a list in a text."""
    return [line[2:].rstrip(").") for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(("told", "ask"), FROM_NOW_ON.values(), ids=FROM_NOW_ON)
async def test_what_holds_from_now_on_stands_in_the_requests_of_other_days(told: str, ask: str) -> None:
    async with agent() as ana:
        assert told.rstrip(".。") in await tomorrow(ana, told, ask=ask)


@pytest.mark.parametrize("language", CALL_ME)
async def test_a_form_of_address_stands_in_the_requests_of_other_days(language: str) -> None:
    async with agent() as ana:
        name = "妮娜" if language == "zh" else "ニナ" if language == "ja" else "Nina"
        assert name in await tomorrow(ana, CALL_ME[language], ask=FROM_NOW_ON[language][1])


@pytest.mark.parametrize("message", NO_PREFERENCE.values(), ids=NO_PREFERENCE)
async def test_what_only_looks_like_a_preference_changes_no_other_request(message: str) -> None:
    async with agent() as ana:
        assert listed(await tomorrow(ana, CELSIUS, message)) == [CELSIUS[:-1]]


async def test_what_is_asked_for_once_does_not_hold_on_the_next_day() -> None:
    async with agent() as ana:
        assert listed(await tomorrow(ana, CELSIUS, "Shorter, please.")) == [CELSIUS[:-1]]


IN_OTHER_WORDS = {
    "en": ("You keep calling me sir, stop it.", "The letter should be short and always polite."),
    "es": ("Los párrafos largos me cansan, ve al grano conmigo.", "No quiero comprar otro bote de pintura para nada."),
    "fr": ("Arrêtez de me tutoyer, on ne se connaît pas.", "Mon chef veut que je réponde toujours en anglais."),
    "de": ("Hör auf, mich zu siezen, das macht mich alt.", "Mein Chef will immer kurze Mails."),
    "pt": (
        "Parágrafos longos cansam-me, vai direto ao assunto comigo.",
        "Não quero comprar outra lata de tinta à toa.",
    ),
    "it": ("Sono dislessico, con me usa frasi brevi.", "Il mio capo vuole sempre mail brevi."),
    "zh": ("别再叫我先生了，叫名字就行。", "老板总要我用英文写邮件。"),
    "ja": ("長い段落は苦手なので、短く区切って話して。", "上司はいつも短いメールを求める。"),
}
"""A preference in words that no list has, and what only sounds like one."""


@pytest.mark.parametrize(("preference", "other"), IN_OTHER_WORDS.values(), ids=IN_OTHER_WORDS)
async def test_a_preference_is_heard_by_what_its_sentence_means(preference: str, other: str) -> None:
    async with agent() as ana:
        assert listed(await tomorrow(ana, other)) == []
        assert listed(await tomorrow(ana, preference))


async def test_what_is_asked_for_on_two_days_holds_on_the_third() -> None:
    async with agent() as ana:
        await ana.say("No emojis, please.")
        ana.next_day()
        assert "emoji" in await tomorrow(ana, "No emojis, please.")


async def test_a_preference_stands_in_the_request_of_the_same_session_at_once() -> None:
    async with agent() as ana:
        await ana.say("From now on, answer in one sentence.")
        assert "one sentence" in (await ana.ask(HOW)).prompt


async def test_the_newer_of_two_that_say_otherwise_holds_alone() -> None:
    async with agent() as ana:
        text = await tomorrow(
            ana,
            "From now on, always use Fahrenheit.",
            CELSIUS,
            ask="How warm is it in Cairo in May?",
        )
    assert "Celsius" in text
    assert "Fahrenheit" not in text


async def test_a_preference_that_is_taken_back_is_gone() -> None:
    async with agent() as ana:
        assert "one sentence" in await tomorrow(ana, "From now on, answer in one sentence.")
        text = await tomorrow(ana, "You no longer need to answer in one sentence.")
    assert "From now on, answer in one sentence" not in text


async def test_the_language_of_the_answers_is_a_preference() -> None:
    async with agent() as ana:
        assert "German" in await tomorrow(ana, "Speak German with me.")


async def test_a_preference_of_one_user_changes_no_request_of_another() -> None:
    async with agent() as talk:
        await talk.say("From now on, answer in one sentence.", user="ana")
        talk.next_day()
        assert "one sentence" in (await talk.ask(HOW, user="ana")).text
        assert (await talk.ask(HOW, user="bob")).text.strip() == HOW


async def test_a_preference_holds_over_nights(place: str) -> None:
    async with agent(place=place) as ana:
        await ana.say("From now on, answer in one sentence.")
        for _ in range(3):
            await ana.say("Name a colour.")
            await ana.sleep()
        assert "answer in one sentence" in (await ana.ask(HOW)).text


@pytest.mark.parametrize("verb", ["mute", "forget"])
def test_a_person_switches_off_what_was_learned_of_them(home: Path, verb: str) -> None:
    with agent_at(home) as said:
        said("From now on, answer in one sentence.")
        assert "one sentence" in said(HOW)
        (learned,) = run_insula("lessons", "--user", "ana", "--json").json
        assert run_insula("lessons", verb, learned["id"], "--user", "ana").status == 0
        assert "one sentence" not in said(HOW)


async def test_no_more_stands_before_the_model_than_a_bound_however_many_there_are() -> None:
    async with agent() as ana:
        for number in range(40):
            await ana.say(f"From now on, always mention {'abcdefghijklmnopqrstuvwxyz'[number % 26] * 9} first.")
        ana.next_day()
        text = (await ana.ask(HOW)).text
        assert "From now on" in text
        assert len(text) < 4_000
