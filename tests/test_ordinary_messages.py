"""From a message to the whole request: an everyday one reaches the model as it was written, whatever is remembered."""

from collections.abc import Sequence

import pytest

from insula import Metacognition
from insula.testing import FrozenClock, memory_store

pytestmark = pytest.mark.anyio
FACTS = {
    "en": ("I live in Porto.", "My brother is a chef.", "My rent is £1,250 a month.", "I play tennis on Thursdays."),
    "de": ("Ich wohne in Graz.", "Mein Bruder ist Koch.", "Meine Miete beträgt 950 Euro."),
    "zh": ("我住在杭州。", "我弟弟是厨师。", "我的房租是三千块。"),
}
EVERYDAY = {
    "en": ("Write a haiku about rain.", "Why does my code print None?", "Thank you!"),
    "de": ("Schreib ein Haiku über Regen.", "Danke dir!"),
    "zh": ("写一首关于雨的俳句。", "谢谢！"),
}


ALLERGY = {
    "en": ("I'm allergic to peanuts.", "Suggest a dinner for tonight."),
    "de": ("Ich bin gegen Erdnüsse allergisch.", "Was kann ich heute Abend kochen?"),
    "zh": ("我对花生过敏。", "推荐一道晚餐。"),
}


async def requests(language: str, *messages: str, told: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What would stand in the system prompt and as the message, for each of some messages on the day after."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
        for fact in (*told, *FACTS[language]):
            await mind.observe("u", "yesterday", fact)
        clock.advance(86_400)
        found: list[tuple[str, str]] = []
        for number, message in enumerate(messages):
            async with mind.turn("u", f"today {number}", message) as turn:
                found.append((turn.instructions, turn.prompt))
        return found


async def test_a_request_is_given_what_answers_it_or_what_it_has_to_keep_to() -> None:
    asked = ("What does my brother do?", "How do I get to work?", "Plan my week.")
    ((brother, _), (work, _), (week, _)) = await requests("en", *asked)
    assert "My brother is a chef." in brother
    assert not work
    assert "I play tennis on Thursdays." in week
    assert "My brother is a chef." not in week


@pytest.mark.parametrize("language", ALLERGY)
async def test_an_allergy_stands_before_the_model_where_food_is_asked_for_and_nowhere_else(language: str) -> None:
    fact, asked = ALLERGY[language]
    more = [f"Colleague number {n} is called {name}." for n, name in enumerate(("Ada", "Bo", "Cy", "Di") * 3)]
    (food, _), *others = await requests(language, asked, *EVERYDAY[language], told=[fact, *more])
    assert fact in food
    assert not any(fact in instructions for instructions, _ in others)


async def test_the_diet_of_ones_people_counts_too() -> None:
    ((food, _),) = await requests("en", "Give me a recipe for a curry.", told=["My daughter is a vegetarian."])
    assert "My daughter is a vegetarian." in food
