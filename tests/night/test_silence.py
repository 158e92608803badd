"""What a night of ordinary days leaves: no insight, lesson or guideline that nobody would want, and no word of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from harness import Agent, agent

from insula.testing import Reply, Request, ScriptedModel, answer_second_look

pytestmark = pytest.mark.anyio

Talk = Sequence[tuple[str, str]]

INTRODUCTIONS = {
    "en": ("Hi, I'm Nina.", "Hello Nina!", "How long do I boil eggs?", "Six minutes.", "No, I'm Nina."),
    "fr": ("Bonjour, je m'appelle Nina.", "Bonjour !", "Combien cuire un œuf ?", "Six minutes.", "Non, je suis Nina."),
    "de": ("Hallo, ich bin Nina.", "Hallo Nina!", "Wie lange kocht ein Ei?", "Sechs Minuten.", "Nein, ich bin Nina."),
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
    "fr": ("J'ai mal au dos depuis une semaine.", "Repose-toi.", "Quand t'ai-je parlé de mon chien ?", "Jamais."),
    "de": ("Mein Rücken schmerzt seit einer Woche.", "Ruh dich aus.", "Wann habe ich von Bruno erzählt?", "Nie."),
    "ja": ("先週から背中が痛いです。", "休んでください。", "犬の話はいつしましたか。", "ありません。"),
}


async def day(nina: Agent, exchanges: Talk, soul: Path, model: ScriptedModel | None = None) -> Any:
    """A day of exchanges, and the night after it."""
    for message, response in exchanges:
        nina.use(ScriptedModel([response]))
        await nina.say(message, "nina")
    report = await nina.sleep("nina", soul=soul, model=model)
    assert not report.failed
    return report


def learned(report: Any) -> list[str]:
    """What a night says that it learned or changed."""
    return [line for phase in report.phases for line in phase.found.get("says", ())]


async def told(nina: Agent, message: str) -> str:
    """All that the model is told with the next message."""
    nina.use(ScriptedModel(["…"]))
    return (await nina.ask(message, "nina", "next")).instructions


@pytest.mark.parametrize("language", INTRODUCTIONS)
async def test_who_introduces_themselves_every_day_founds_nothing(tmp_path: Path, language: str) -> None:
    hello, answer, asked, reply, said = INTRODUCTIONS[language]
    async with agent() as nina:
        for _ in range(2):
            report = await day(nina, [(hello, answer), (asked, reply), (said, answer)], tmp_path / "SOUL.md")
            assert learned(report) == []
        assert "corrected" not in await told(nina, asked)
    assert not (tmp_path / "SOUL.md").exists()


@pytest.mark.parametrize("language", QUESTIONS)
async def test_an_ordinary_day_leaves_no_change(tmp_path: Path, language: str) -> None:
    (_, _, asked, reply, _), (complaint, advice, *_) = INTRODUCTIONS[language], QUESTIONS[language]
    async with agent() as nina:
        report = await day(nina, [(asked, reply), (complaint, advice), ("👍", "👍")], tmp_path / "SOUL.md")
    assert learned(report) == []
    assert not (tmp_path / "SOUL.md").exists()


@pytest.mark.parametrize("language", QUESTIONS)
async def test_a_question_founds_no_lesson(tmp_path: Path, language: str) -> None:
    complaint, advice, question, response = QUESTIONS[language]
    async with agent() as nina:
        for _ in range(2):
            report = await day(nina, [(complaint, advice), *[(question, response)] * 2], tmp_path / "SOUL.md")
            assert [line for line in learned(report) if "Corrected" in line or '"' in line] == []


FACTS = ["The user is called Nina.", "Nina lives in Graz.", "The user has a dog called Bruno.", "Hi, I am Nina."]
PRINCIPLE = "Name the platform of a train before its time."


async def test_a_principle_that_only_says_what_the_user_told_is_none(tmp_path: Path) -> None:
    talk = [("Hi, I'm called Nina, and I live in Graz.", "Hello!"), ("I have a dog called Bruno.", "Nice.")]
    talk += [("When does the train to Lyon go?", "At nine."), ("Name the platform of a train first.", "Platform 2.")]

    def reply(asked: Request) -> Reply:
        if looked := answer_second_look(asked):
            return looked
        if "five lists" not in asked.prompt:
            return {"summary": "Nina asked for trains to Lyon.", "topics": ["trains"]}
        held: dict[str, Any] = {"section": "interaction", "sessions": [1, 2]}
        principles = [{"text": text, **held} for text in (*FACTS, PRINCIPLE)]
        return {"explanation": [], "principles": principles, "procedures": [], "advice": [], "operations": []}

    async with agent() as nina:
        await day(nina, talk, tmp_path / "SOUL.md")
        report = await day(nina, talk, tmp_path / "SOUL.md", ScriptedModel(reply))
    (found,) = (phase.found for phase in report.phases if phase.name == "reflection")
    assert [one["advice"] for one in found["candidates"]] == [PRINCIPLE]
    assert sum(found["dropped"].values()) == len(FACTS)
    assert "Graz" not in (tmp_path / "SOUL.md").read_text()
