"""What tells of people is remembered and guides nothing: in no night, with a model that proposes it and without one."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from harness import Agent, agent, run_insula

from insula.testing import Reply, Request, ScriptedModel, answer_second_look

pytestmark = pytest.mark.anyio
PRIVATE: Mapping[str, tuple[str, ...]] = {
    "en": (
        "My medicine is called Quillotan.",
        "My boyfriend Quillo works at the harbour.",
        "I live at 12 Quill Street.",
        "My daughter Quilla has diabetes.",
    ),
    "de": (
        "Mein Medikament heißt Quillotan.",
        "Mein Freund Quillo arbeitet am Hafen.",
        "Ich wohne in der Quillgasse 12.",
        "Meine Tochter Quilla hat Diabetes.",
    ),
    "zh": (
        "我的药叫Quillotan。",
        "我男朋友Quillo在港口工作。",
        "我住在Quill街12号。",
        "我女儿Quilla有糖尿病。",
    ),
    "ja": (
        "私の薬はQuillotanです。",
        "私の彼氏のQuilloは港で働いています。",
        "私はQuill通り12番地に住んでいます。",
        "娘のQuillaは糖尿病です。",
    ),
}
OF_THE_USER: Mapping[str, tuple[str, ...]] = {
    "en": (
        "The user takes Quillotan.",
        "When the user asks about their boyfriend, mention Quillo.",
        "The user's daughter Quilla is diabetic.",
        "Remember that the user lives in Quill Street.",
    ),
    "de": (
        "Der Nutzer nimmt Quillotan.",
        "Wenn es um seinen Freund geht, nenne Quillo.",
        "Die Tochter des Nutzers, Quilla, hat Diabetes.",
        "Der Nutzer wohnt in der Quillgasse.",
    ),
    "zh": (
        "用户吃Quillotan。",
        "问到男朋友时提Quillo。",
        "用户的女儿Quilla有糖尿病。",
        "用户住在Quill街。",
    ),
    "ja": (
        "ユーザーはQuillotanを飲んでいます。",
        "彼氏の話ではQuilloに触れる。",
        "ユーザーの娘のQuillaは糖尿病です。",
        "ユーザーはQuill通りに住んでいます。",
    ),
}
"""The same as a model puts it."""


async def tell(ana: Agent, language: str) -> None:
    """Tell the private lines on two days."""
    for session in ("monday", "tuesday"):
        for line in PRIVATE[language]:
            await ana.say(line, session=session)


def proposing(language: str) -> ScriptedModel:
    """A model that takes each of the lines for guidance, in whatever it is asked."""
    lines = (*PRIVATE[language], *OF_THE_USER[language])

    def point(text: str) -> dict[str, object]:
        return {"text": text, "sessions": [1, 2], "quotes": list(PRIVATE[language][:4])}

    def reply(request: Request) -> Reply:
        if looked := answer_second_look(request):
            return looked
        if "five lists" in request.prompt:
            return {
                "explanation": [point(text) for text in lines[:3]],
                "principles": [{**point(text), "section": "patterns"} for text in lines],
                "procedures": [point(text) for text in lines[3:6]],
                "advice": [point(text) for text in lines[6:]],
            }
        if "new lines" in f"{request.instructions} {request.prompt}".lower():
            spans = [
                {"line": number, "span": text, "scope": "every answer", "words": text}
                for number, text in enumerate(lines[:4], 1)
            ]
            return {"statements": [], "ended": [], "preferences": spans}
        return {"summary": "They talked.", "topics": ["talk", "day", "things"]}

    return ScriptedModel(reply)


def guidance(home: Path) -> list[str]:
    """All that was learned, in any state, and what stands in SOUL.md, where it tells of what is private."""
    learned = run_insula("lessons", "--all", "--user", "ana", "--json").out
    soul = home / "users" / "ana" / "SOUL.md"
    return re.findall(r".*uill.*", f"{learned}\n{soul.read_text() if soul.exists() else ''}")


@pytest.mark.parametrize("language", PRIVATE)
async def test_a_model_that_proposes_facts_as_guidance_is_refused_with_the_reason(home: Path, language: str) -> None:
    async with agent(place=home / "insula.db") as ana:
        await tell(ana, language)
        report = await ana.sleep(model=proposing(language), soul=home / "users" / "ana" / "SOUL.md")
        (found,) = (phase.found for phase in report.phases if phase.name == "reflection")
        assert found["proposed"] > 0
        assert found["grounded"] == 0
        assert found["dropped"].get("about people", 0) >= len(PRIVATE[language]), found["dropped"]
        assert "Learned from" not in (await ana.ask(PRIVATE[language][0])).instructions
    assert await asyncio.to_thread(guidance, home) == []


@pytest.mark.parametrize("language", PRIVATE)
async def test_a_night_without_a_model_makes_no_guidance_of_facts(home: Path, language: str) -> None:
    async with agent(place=home / "insula.db") as ana:
        await tell(ana, language)
        await ana.sleep(soul=home / "users" / "ana" / "SOUL.md")
    assert await asyncio.to_thread(guidance, home) == []
