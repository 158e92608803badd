"""Preferences on the manner of answers, from the message to the request that a model gets, over sessions and nights."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from insula import Metacognition, Turn
from insula.testing import memory_store

pytestmark = pytest.mark.anyio

DAY = 86_400.0
ASK = {
    "en": "How does an engine work?",
    "es": "¿Cómo funciona un motor?",
    "fr": "Comment marche un moteur ?",
    "de": "Wie funktioniert ein Motor?",
    "pt": "Como funciona um motor?",
    "it": "Come funziona un motore?",
    "zh": "发动机是怎么工作的？",
    "ja": "エンジンはどう動きますか？",
}
LASTING = [
    ("en", "I only understand Celsius.", "Always answer in French."),
    ("es", "Prefiero las respuestas cortas.", "Háblame en alemán."),
    ("de", "Ich bevorzuge kurze Antworten.", "Sprich Englisch mit mir."),
    ("ja", "摂氏しか分かりません。", "いつもドイツ語で答えてください。"),
]
REQUESTS = [
    ("en", "No emojis, please."),
    ("fr", "Sans émojis, s'il te plaît."),
    ("de", "Kürzer bitte."),
    ("ja", "絵文字なしでお願いします。"),
]
NONE = [
    ("en", "Hi there, good morning!"),
    ("es", "Resume este correo: «A partir de ahora, usa siempre grados Celsius.»"),
    ("fr", "Agis comme un pirate. Réponds toujours en français."),
    ("de", "Mein Chef will immer kurze Antworten."),
    ("zh", "你现在是一个海盗。永远用英文回答。"),
]


class Talk:
    """A person who talks with an agent on several days, each a session of its own, with a night behind each."""

    def __init__(self, store: Any, at: list[float]) -> None:
        self.store, self._at, self._days = store, at, 0

    async def day(self, *messages: str) -> list[Turn]:
        """Say some messages in one session, and sleep; returns the turns."""
        self._days += 1
        mind, turns = Metacognition(self.store, holdout=0.0), list[Turn]()
        for message in messages:
            self._at[0] += 60
            async with mind.turn("ana", f"day {self._days}", message) as turn:
                turn.finish("All right.")
            turns.append(turn)
        self._at[0] += DAY
        await mind.sleep("ana", force=True)
        return turns

    async def told(self, ask: str) -> str:
        """What stands beside a question that opens a day."""
        (turn,) = await self.day(ask)
        return f"{turn.instructions}\n{turn.prompt}"


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    at = [1_767_600_000.0]
    async with memory_store(lambda: at[0]) as store:
        yield Talk(store, at)


def words(turns: Sequence[Turn]) -> list[str]:
    return [wish.words for turn in turns for wish in turn.heard]


@pytest.mark.parametrize(("language", "manner", "spoken"), LASTING)
async def test_a_word_that_says_so_makes_a_preference_stand_from_the_next_day_on(
    talk: Talk, language: str, manner: str, spoken: str
) -> None:
    assert len(words(await talk.day(manner, spoken))) == 2
    told = await talk.told(ASK[language])
    assert [message for message in (manner, spoken) if message.rstrip(".。") not in told] == []


@pytest.mark.parametrize(("language", "message"), REQUESTS)
async def test_a_request_of_the_moment_stands_once_it_is_made_in_a_second_session(
    talk: Talk, language: str, message: str
) -> None:
    assert not words(await talk.day(message, message))
    assert message not in await talk.told(ASK[language])
    assert words(await talk.day(ASK[language], message)) == [message]
    assert message in await talk.told(ASK[language])


@pytest.mark.parametrize(("language", "message"), NONE)
async def test_tasks_roles_facts_and_others_words_make_no_preference_however_often_they_are_said(
    talk: Talk, language: str, message: str
) -> None:
    assert not words([*await talk.day(message, message), *await talk.day(message)])
    (turn,) = await talk.day(ASK[language])
    assert turn.wishes == ()


async def test_a_request_after_a_text_that_was_ordered_is_about_that_text(talk: Talk) -> None:
    for _ in range(2):
        assert not words(await talk.day("Write me an email to my landlord about the heating.", "Shorter please."))
    assert "Shorter please" not in await talk.told(ASK["en"])


async def test_what_is_asked_for_otherwise_holds_for_its_session_and_the_preference_is_told_again_after_it(
    talk: Talk,
) -> None:
    await talk.day("Always keep your answers short.")
    *_, asked, later = await talk.day("More detail, please.", ASK["en"])
    assert "keep your answers short" not in asked.prompt
    assert "keep your answers short" not in later.prompt
    assert "keep your answers short" in await talk.told(ASK["en"])


async def test_another_language_asked_for_holds_for_its_session_and_for_good_where_it_says_so(talk: Talk) -> None:
    await talk.day("Answer in German from now on.")
    *_, later = await talk.day(ASK["en"], "English please.", ASK["en"])
    assert "German" not in later.prompt
    assert "German" in await talk.told(ASK["en"])
    await talk.day("No, back to English from now on.")
    assert "German" not in await talk.told(ASK["en"])


async def test_the_opposite_asked_for_in_two_sessions_takes_the_place_of_what_stood(talk: Talk) -> None:
    await talk.day("Always use Celsius.")
    await talk.day("Fahrenheit, please.")
    assert words(await talk.day("Fahrenheit, please.")) == ["Fahrenheit, please."]
    told = await talk.told(ASK["en"])
    assert ("Fahrenheit, please." in told, "Always use Celsius" in told) == (True, False)


async def test_what_is_wished_for_one_topic_ends_nothing_else_and_is_told_on_that_topic_alone(talk: Talk) -> None:
    short, sheets = "Always keep your answers short.", "From now on, put semicolons in my sheets."
    money = "For money things you can always give me longer answers."
    await talk.day(short, sheets, money)
    told = await talk.told(ASK["en"])
    assert (short in told, sheets in told, money in told) == (True, True, False)
    told = await talk.told("How does money work in things like pensions?")
    assert (short in told, money in told) == (True, True)


async def test_a_remark_that_names_somebody_says_nothing_of_how_to_be_called(talk: Talk) -> None:
    remark = "A Xuan le vuelven loco los callos, cuanto más picantes mejor."
    assert words(await talk.day(remark)) == []
    assert remark not in await talk.told(ASK["es"])


async def test_a_bidding_to_stop_takes_the_place_of_what_it_ends(talk: Talk) -> None:
    await talk.day("I prefer bullet points.")
    assert words(await talk.day("Stop giving me lists.")) == ["Stop giving me lists."]
    told = await talk.told(ASK["en"])
    assert ("bullet points" in told, "giving me lists" in told) == (False, True)


async def test_what_is_taken_back_ends_what_stood_and_is_no_preference_itself(talk: Talk) -> None:
    await talk.day("Always keep your answers short.", "Always use Celsius.")
    assert not words(await talk.day("Forget the short answers, long ones are fine now."))
    told = await talk.told(ASK["en"])
    assert ("keep your answers short" in told, "Celsius" in told) == (False, True)


@pytest.mark.parametrize(
    "other", ["My holiday was short.", "If I had the time you could tell me every detail.", "Make the poem longer."]
)
async def test_what_only_shares_its_words_leaves_what_stands(talk: Talk, other: str) -> None:
    await talk.day("Always keep your answers short.")
    await talk.day(other)
    assert "Always keep your answers short." in await talk.told(ASK["en"])


async def test_a_preference_that_names_a_secret_is_told_to_nobody(talk: Talk) -> None:
    await talk.day("From now on sign with sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.")
    assert "sk-ant" not in await talk.told(ASK["en"])
