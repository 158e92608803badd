"""What a night of ordinary days leaves: no insight, lesson or guideline that nobody would want, and no word of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from insula.agent.chat import Chat
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.store import Store
from insula.metacognition import Metacognition
from insula.night.cycle import SleepReport, sleep_cycle
from insula.night.phases import PHASES
from insula.night.phases.summaries import SessionSummary
from insula.operations.nights import describe_report
from insula.testing import Reply, Request, ScriptedModel, answer_second_look

pytestmark = pytest.mark.anyio

Talk = Sequence[tuple[str, str]]

INTRODUCTIONS = {
    "en": ("Hi, I'm Nina.", "Hello Nina!", "How long do I boil eggs?", "Six minutes.", "No, I'm Nina."),
    "es": ("Hola, me llamo Nina.", "¡Hola!", "¿Cuánto se cuecen los huevos?", "Seis minutos.", "No, me llamo Nina."),
    "fr": ("Bonjour, je m'appelle Nina.", "Bonjour !", "Combien cuire un œuf ?", "Six minutes.", "Non, je suis Nina."),
    "de": ("Hallo, ich bin Nina.", "Hallo Nina!", "Wie lange kocht ein Ei?", "Sechs Minuten.", "Nein, ich bin Nina."),
    "pt": ("Olá, eu sou a Nina.", "Olá!", "Quanto tempo cozem os ovos?", "Seis minutos.", "Não, eu sou a Nina."),
    "it": ("Ciao, io sono Nina.", "Ciao!", "Quanto cuociono le uova?", "Sei minuti.", "No, io sono Nina."),
    "zh": ("你好，我是妮娜。", "你好！", "鸡蛋要煮多久？", "六分钟。", "不，我是妮娜。"),
    "ja": (
        "こんにちは、私はニナです。",
        "こんにちは！",
        "卵は何分ゆでますか。",
        "六分です。",
        "いいえ、私はニナです。",
    ),
}
QUESTIONS = {
    "en": ("My back hurts since I began running last week.", "Rest.", "When did I tell you about my dog?", "Never."),
    "es": ("Me duele la espalda desde la semana pasada.", "Descansa.", "¿Cuándo te dije lo de mi perro?", "Nunca."),
    "fr": ("J'ai mal au dos depuis une semaine.", "Repose-toi.", "Quand t'ai-je parlé de mon chien ?", "Jamais."),
    "de": ("Mein Rücken schmerzt seit einer Woche.", "Ruh dich aus.", "Wann habe ich von Bruno erzählt?", "Nie."),
    "pt": ("Doem-me as costas há uma semana.", "Descansa.", "Quando é que te falei do meu cão?", "Nunca."),
    "it": ("Mi fa male la schiena da una settimana.", "Riposa.", "Quando ti ho parlato del mio cane?", "Mai."),
    "zh": ("我的背疼了一个星期。", "好好休息。", "我什么时候跟你说过我的狗？", "没有。"),
    "ja": ("先週から背中が痛いです。", "休んでください。", "犬の話はいつしましたか。", "ありません。"),
}


async def talk(store: Store, talks: dict[str, Talk]) -> None:
    mind = Metacognition(store, holdout=0.0)
    for session, exchanges in talks.items():
        for message, response in exchanges:
            await Chat(mind, ScriptedModel([response])).reply("nina", session, message)


async def sleep(store: Store, path: Path, model: ScriptedModel | None = None) -> SleepReport:
    report = await sleep_cycle(store, "nina", PHASES, embed=embed_text, soul=path, model=model, force=True)
    assert not report.failed
    return report


async def user_of(store: Store) -> int:
    user = await store.nights.find_user_id("nina")
    assert user is not None
    return user


async def lessons(store: Store) -> list[str]:
    """What was learned, but for wishes: those have tests of their own."""
    return [
        one.advice for one in await store.guidance.list_lessons(await user_of(store)) if not one.key.startswith("wish/")
    ]


async def request(store: Store, message: str) -> str:
    """All that the model is told with the next message."""
    model = ScriptedModel(["…"])
    await Chat(Metacognition(store, holdout=0.0), model).reply("nina", "next", message)
    return model.requests[-1].instructions


@pytest.mark.parametrize("language", INTRODUCTIONS)
async def test_who_introduces_themselves_every_day_founds_nothing(store: Store, tmp_path: Path, language: str) -> None:
    hello, answer, asked, told, said = INTRODUCTIONS[language]
    path = tmp_path / "SOUL.md"
    for day in ("monday", "tuesday"):
        await talk(store, {day: [(hello, answer), (asked, told), (said, answer)]})
        await sleep(store, path)
    assert await lessons(store) == []
    assert await store.nights.list_insights(await user_of(store), 9) == []
    assert "Without waiting" not in (path.read_text() if path.exists() else "")
    assert "corrected" not in await request(store, asked)


@pytest.mark.parametrize("language", INTRODUCTIONS)
async def test_an_ordinary_day_leaves_no_change_on_the_page_of_nights(
    store: Store, tmp_path: Path, language: str
) -> None:
    (_, _, asked, told, _), (complaint, advice, *_) = INTRODUCTIONS[language], QUESTIONS[language]
    await talk(store, {"monday": [(asked, told), (complaint, advice), ("👍", "👍")]})
    shown = describe_report(await sleep(store, tmp_path / "SOUL.md"))
    assert (shown.changes, shown.failed) == ((), ())


@pytest.mark.parametrize("language", QUESTIONS)
async def test_a_question_founds_no_lesson(store: Store, tmp_path: Path, language: str) -> None:
    told, answer, asked, response = QUESTIONS[language]
    exchanges = [(told, answer), (asked, response), (asked, response)]
    await talk(store, {"monday": exchanges, "tuesday": exchanges})
    await sleep(store, tmp_path / "SOUL.md")
    assert not [one for one in await lessons(store) if '"' in one]
    assert not [one for one in await store.nights.list_insights(await user_of(store), 9) if "Corrected" in one.content]


FACTS = ["The user is called Nina.", "Nina lives in Graz.", "The user has a dog called Bruno.", "Hi, I am Nina."]
PRINCIPLE = "Name the platform of a train before its time."


async def test_a_principle_that_only_says_what_the_user_told_is_none(store: Store, tmp_path: Path) -> None:
    told = [("Hi, I'm called Nina, and I live in Graz.", "Hello!"), ("I have a dog called Bruno.", "Nice.")]
    train = [("When does the train to Lyon go?", "At nine."), ("Name the platform of a train first.", "Platform 2.")]
    await talk(store, {"monday": [*told, *train], "tuesday": [*told, *train]})

    def reply(asked: Request) -> Reply:
        if looked := answer_second_look(asked):
            return looked
        if "five lists" not in asked.prompt:
            return SessionSummary(summary="Nina asked for trains to Lyon.", topics=["trains"]).model_dump()
        held: dict[str, Any] = {"section": "interaction", "sessions": [1, 2]}
        principles = [{"text": text, **held} for text in (*FACTS, PRINCIPLE)]
        return {"explanation": [], "principles": principles, "procedures": [], "advice": [], "operations": []}

    report = await sleep(store, tmp_path / "SOUL.md", ScriptedModel(reply))
    reflected = next(one.found for one in report.phases if one.name == "reflection")
    assert [one["advice"] for one in reflected["candidates"]] == [PRINCIPLE]
    assert sum(reflected["dropped"].values()) == len(FACTS)
    assert "Graz" not in (tmp_path / "SOUL.md").read_text()
