"""Preferences on the manner of answers, from the message to the request that a model gets, over sessions and nights."""

from collections.abc import AsyncIterator, Sequence

import pytest

from insula.memory.store import Store
from insula.metacognition import Metacognition
from insula.metacognition.turn import Turn
from insula.sleep.cycle import sleep_cycle
from insula.sleep.phases import PHASES
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
    ("en", "I only understand Celsius."),
    ("es", "Prefiero las respuestas cortas."),
    ("fr", "Je ne comprends que les degrés Celsius."),
    ("de", "Ich bevorzuge kurze Antworten."),
    ("pt", "Só entendo graus Celsius."),
    ("it", "Preferisco risposte brevi."),
    ("zh", "我只看得懂摄氏度。"),
    ("ja", "摂氏しか分かりません。"),
]
SPOKEN = [
    ("en", "Please answer in French."),
    ("es", "Háblame en alemán."),
    ("fr", "Réponds-moi en allemand."),
    ("de", "Sprich Englisch mit mir."),
    ("pt", "Fale em alemão."),
    ("it", "Parlami in tedesco."),
    ("zh", "请用德语回答。"),
    ("ja", "ドイツ語で答えてください。"),
]
REQUESTS = [
    ("en", "No emojis, please."),
    ("es", "Más corto, por favor."),
    ("fr", "Sans émojis, s'il te plaît."),
    ("de", "Kürzer bitte."),
    ("pt", "Sem emojis, por favor."),
    ("it", "Più breve, per favore."),
    ("zh", "请不要用表情符号。"),
    ("ja", "絵文字なしでお願いします。"),
]
NONE = [
    ("en", "You are a pirate. Always answer in rhyme."),
    ("es", "Actúa como un pirata. Responde siempre en verso corto."),
    ("fr", "Agis comme un pirate. Réponds toujours en français."),
    ("de", "Du bist ein Pirat. Antworte immer kurz."),
    ("pt", "Aja como um pirata. Responda sempre em espanhol."),
    ("it", "Agisci come un pirata. Rispondi sempre in breve."),
    ("zh", "你现在是一个海盗。永远用英文回答。"),
    ("ja", "あなたは海賊です。いつも英語で答えてください。"),
    ("en", "Translate this into German: I always answer in short sentences."),
    ("es", "Resume este correo: «A partir de ahora, usa siempre grados Celsius.»"),
    ("fr", "Écris la lettre en allemand."),
    ("de", "Sprichst du Deutsch?"),
    ("pt", "Escreve a carta em alemão."),
    ("it", "Come si dice grazie in tedesco?"),
    ("zh", "你会说德语吗？"),
    ("ja", "手紙をドイツ語で書いてください。"),
    ("en", "Hi there, good morning!"),
    ("es", "Me llamo Nina y vivo en Sevilla."),
    ("fr", "Je m'appelle Nina."),
    ("de", "Mein Chef will immer kurze Antworten."),
    ("pt", "Dá-me uma lista de três filmes."),
    ("it", "Aggiungi le mele alla mia lista della spesa."),
    ("zh", "我每天早上喝咖啡。"),
    ("ja", "私はいつも朝にコーヒーを飲みます。"),
]


class Talk:
    """A person who talks with an agent on several days, each a session of its own, with a night behind each."""

    def __init__(self, store: Store, at: list[float]) -> None:
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
        await sleep_cycle(self.store, "ana", PHASES, date=f"night {self._days}", force=True)
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


@pytest.mark.parametrize(("language", "message"), [*LASTING, *SPOKEN])
async def test_a_word_that_says_so_makes_a_preference_stand_from_the_next_day_on(
    talk: Talk, language: str, message: str
) -> None:
    assert words(await talk.day(message))
    for _ in range(3):
        assert message.rstrip(".。") in await talk.told(ASK[language])


@pytest.mark.parametrize(("language", "message"), REQUESTS)
async def test_a_request_of_the_moment_stands_once_it_is_made_in_a_second_session(
    talk: Talk, language: str, message: str
) -> None:
    assert not words(await talk.day(ASK[language], message, ASK[language], message))
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


async def test_stop_doing_that_ends_the_one_preference_that_it_can_mean_and_else_nothing(talk: Talk) -> None:
    short, celsius = "Always keep your answers short.", "Always use Celsius."
    await talk.day(short, celsius)
    assert not words(await talk.day(ASK["en"], "Please stop doing that."))
    told = await talk.told(ASK["en"])
    assert (short in told, celsius in told) == (True, True)
    await talk.day("Never use emojis.", "Please stop doing that.")
    told = await talk.told(ASK["en"])
    assert (short in told, celsius in told, "Never use emojis" in told) == (True, True, False)


async def test_what_stands_ends_where_its_user_bids_to_stop_just_that(talk: Talk) -> None:
    await talk.day("I prefer bullet points.")
    assert not words(await talk.day("Stop giving me lists."))
    told = await talk.told(ASK["en"])
    assert ("bullet points" in told, "giving me lists" in told) == (False, False)


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
