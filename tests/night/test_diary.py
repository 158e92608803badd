"""Ten days of three people: after every night the whole guidance as the model reads it, true, short, no opposites.

Without a model, and with a strong one that words what several days show, says again what stands, and takes back what
the days refute.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from harness import agent

from insula.testing import Reply, Request, ScriptedModel, answer_second_look

pytestmark = pytest.mark.anyio

DAY = 86_400.0
Diary = Sequence[tuple[int, Sequence[str]]]
"""Day and what is said on it."""

ENGLISH: Diary = (
    (
        1,
        (
            "What is a good route from Lisbon to Porto?",
            "I prefer bullet points, please use them in every answer.",
            "Thanks.",
        ),
    ),
    (
        2,
        (
            "I moved to Bergen last week.",
            "Fahrenheit means nothing to me. I only understand Celsius.",
            "Is it cold there?",
        ),
    ),
    (3, ("Call me Marta when you answer me.", "My boss prefers tables.", "What do people in Bergen eat?")),
    (4, ("Just this once, answer in one long paragraph: what is a fjord?", "And how deep is one?", "Thanks.")),
    (5, ("Stop giving me lists. I want normal paragraphs.", "Which fjord is the longest?", "Great.")),
    (7, ("Please address me as Dr. Hill from now on.", "How do I get to Voss?", "Thanks.")),
    (8, ("Never use emojis.", "Keep your answers under four sentences, always.", "When does the train leave?")),
    (
        10,
        (
            "You can stop keeping it short, it no longer has to be under four sentences.",
            "What is Voss like?",
            "Thanks.",
        ),
    ),
)
SPANISH: Diary = (
    (1, ("¿Cómo hago una tortilla?", "Háblame siempre de usted, por favor.", "Gracias.")),
    (2, ("Dame las cantidades en gramos, siempre.", "¿Y un bizcocho?", "Gracias.")),
    (3, ("Llámame Nina cuando me contestes.", "Mi hermana odia las listas.", "¿Qué ceno hoy?")),
    (4, ("Sin emojis, por favor.", "¿Qué vino va con pescado?", "Gracias.")),
    (5, ("Tutéame siempre, por favor.", "¿Qué postre hago?", "Gracias.")),
    (6, ("Esta vez contéstame en inglés, por favor.", "¿Y para beber?", "Gracias.")),
    (8, ("Acaba siempre con una pregunta.", "¿Cuánto dura el caldo?", "Gracias.")),
    (10, ("Ya no hace falta que acabes con una pregunta.", "Prefiero respuestas cortas.", "¿Qué hago con el arroz?")),
)


async def changed(diary: Diary, model: ScriptedModel | None = None) -> dict[int, tuple[list[str], list[str]]]:
    """Each day -> the lines of guidance that the model reads from the next morning on, and those it reads no more."""
    found: dict[int, tuple[list[str], list[str]]] = {}
    before: list[str] = []
    async with agent(lambda _: "Here is what I know of it.") as ana:
        passed = 0
        for day, said in diary:
            ana.clock.advance((day - passed) * DAY)
            passed = day
            for message in said:
                await ana.say(message, session=f"day {day}")
            ana.clock.advance(DAY / 2)
            report = await ana.mind.sleep("ana", model=model, force=True)
            assert not report.failed
            ana.clock.advance(-DAY / 2)
            turn = await ana.mind.begin("ana", f"morning {day}", "Hello.")
            lines = f"{turn.instructions}\n{turn.prompt}".splitlines()
            now = sorted(line[2:].removesuffix(")") for line in lines if line.startswith("- "))
            found[day] = ([line for line in now if line not in before], [line for line in before if line not in now])
            before = now
    return found


class Thought(NamedTuple):
    """What a strong model makes of the days so far."""

    principles: Sequence[tuple[str, str, Sequence[int]]] = ()
    """Section, words, and the sessions that show it, by their number."""
    retired: Sequence[str] = ()
    """Guidelines that stand and that the days refute."""


def strong(thoughts: Mapping[int, Thought]) -> ScriptedModel:
    """A model that says so much after the session of a number."""

    def answer(request: Request) -> Reply:
        if looked := answer_second_look(request):
            return looked
        fields = (request.schema or {}).get("properties", {})
        if "summary" in fields:
            said = [line["user"] for line in _json(request.prompt) if "user" in line]
            return {"summary": f"The user said: {' '.join(said)}"[:300], "topics": said[0].split()[-3:]}
        if "principles" not in fields:
            return ""  # the words of the principles stand
        lines = _json(request.prompt)
        sessions = sorted({line["session"] for line in lines if "session" in line})
        ids = {line["text"]: line["id"] for line in lines if "id" in line}
        return _reflection(thoughts.get(len(sessions), Thought()), ids, sessions)

    return ScriptedModel(answer)


def _json(prompt: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in re.findall(r"^\{.*\}$", prompt, re.MULTILINE)]


def _reflection(thought: Thought, ids: Mapping[str, str], sessions: Sequence[int]) -> dict[str, Any]:
    lists: dict[str, Any] = {"explanation": [], "procedures": [], "advice": []}
    found = [
        {"text": text, "section": section, "sessions": [sessions[number - 1] for number in numbers]}
        for section, text, numbers in thought.principles
    ]
    gone = [{"do": "retire", "ids": [ids[text]], "text": "", "sessions": [sessions[-1]]} for text in thought.retired]
    return lists | {"principles": found, "operations": gone}


async def test_a_spanish_diary() -> None:
    assert await changed(SPANISH) == {
        1: (["Háblame siempre de usted, por favor."], []),
        2: (["Dame las cantidades en gramos, siempre."], []),
        3: (["Llámame Nina cuando me contestes."], []),
        4: ([], []),
        5: (["Tutéame siempre, por favor."], ["Háblame siempre de usted, por favor."]),
        6: ([], []),
        8: (["Acaba siempre con una pregunta."], []),
        10: (["Prefiero respuestas cortas."], ["Acaba siempre con una pregunta."]),
    }


async def test_an_english_diary_with_a_strong_model() -> None:
    """What is talked of and what stands as a preference already is no guidance, whatever a model makes of it."""
    fjords = "Tell how deep and how long a fjord is, and which is the longest fjord."
    model = strong(
        {
            2: Thought([("interaction", "Give Celsius, since Fahrenheit means nothing.", (2,))]),
            3: Thought([("patterns", "Tell what it is like in Bergen: cold, and what people eat.", (2, 3))]),
            4: Thought([("patterns", "Tell what is like in Bergen, the cold, and what people eat.", (2, 3))]),
            5: Thought([("patterns", fjords, (4, 5)), ("interaction", "Always use bullet points.", (1, 5))]),
            6: Thought([("interaction", "Call the user Marta when you answer.", (3, 6))]),
        }
    )
    assert await changed(ENGLISH, model) == {
        1: (["I prefer bullet points, please use them in every answer."], []),
        2: (["I only understand Celsius."], []),
        3: (["Call me Marta when you answer me."], []),
        4: ([], []),
        5: (
            ["I want normal paragraphs.", "Stop giving me lists."],
            ["I prefer bullet points, please use them in every answer."],
        ),
        7: (["Please address me as Dr. Hill from now on."], ["Call me Marta when you answer me."]),
        8: (["Keep your answers under four sentences, always.", "Never use emojis."], ["I want normal paragraphs."]),
        10: ([], ["Keep your answers under four sentences, always.", "Stop giving me lists."]),
    }
