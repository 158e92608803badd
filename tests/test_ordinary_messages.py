"""From a message to the whole request: an everyday one reaches the model as it was written, whatever is remembered."""

import json
from collections.abc import Sequence
from importlib.resources import files

import pytest

from insula.metacognition import Metacognition
from insula.testing import FrozenClock, memory_store

pytestmark = pytest.mark.anyio

WORDS = json.loads((files("insula.turn") / "words.json").read_text("utf-8"))
FACTS = {
    "en": ("I live in Porto.", "My brother is a chef.", "My rent is £1,250 a month.", "I play tennis on Thursdays."),
    "de": ("Ich wohne in Graz.", "Mein Bruder ist Koch.", "Meine Miete beträgt 950 Euro."),
    "es": ("Vivo en Sevilla.", "Mi hermano es cocinero.", "Mi alquiler es de 750 euros."),
    "fr": ("J'habite à Lyon.", "Mon frère est cuisinier.", "Mon loyer est de 850 euros."),
    "pt": ("Moro no Porto.", "O meu irmão é cozinheiro.", "A minha renda é de 750 euros."),
    "it": ("Vivo a Torino.", "Mio fratello è cuoco.", "Il mio affitto è di 750 euro."),
    "zh": ("我住在杭州。", "我弟弟是厨师。", "我的房租是三千块。"),
    "ja": ("私は京都に住んでいます。", "弟は料理人です。", "家賃は7万円です。"),
}
EVERYDAY = {
    "en": ("How long should I boil my egg?", "Write a haiku about rain.", "Why does my code print None?", "Thank you!"),
    "de": ("Wie lange soll ich mein Ei kochen?", "Schreib ein Haiku über Regen.", "Danke dir!"),
    "es": ("¿Cuánto tiempo cuezo mi huevo?", "Escribe un haiku sobre la lluvia.", "¡Gracias!"),
    "fr": ("Combien de temps dois-je cuire mon œuf ?", "Écris un haïku sur la pluie.", "Merci !"),
    "pt": ("Quanto tempo cozo o meu ovo?", "Escreve um haicai sobre a chuva.", "Obrigada!"),
    "it": ("Quanto devo cuocere il mio uovo?", "Scrivi un haiku sulla pioggia.", "Grazie!"),
    "zh": ("我的鸡蛋要煮多久？", "写一首关于雨的俳句。", "谢谢！"),
    "ja": ("私の卵は何分ゆでればいいですか？", "雨の俳句を書いてください。", "ありがとう！"),
}
NEVER_TOLD = {
    "en": "What's my sister's name?",
    "de": "Wie heißt meine Schwester?",
    "es": "¿Cómo se llama mi hermana?",
    "fr": "Comment s'appelle ma sœur ?",
    "pt": "Como se chama a minha irmã?",
    "it": "Come si chiama mia sorella?",
    "zh": "我妹妹叫什么名字？",
    "ja": "妹の名前は何ですか？",
}
TOLD = {
    "en": "Where do I live?",
    "de": "Wo wohne ich?",
    "es": "¿Dónde vivo?",
    "fr": "Où est-ce que j'habite ?",
    "pt": "Onde moro?",
    "it": "Dove vivo?",
    "zh": "我住在哪里？",
    "ja": "私はどこに住んでいますか？",
}


ALLERGY = {
    "en": ("I'm allergic to peanuts.", "Suggest a dinner for tonight."),
    "de": ("Ich bin gegen Erdnüsse allergisch.", "Was kann ich heute Abend kochen?"),
    "es": ("Soy alérgica a los cacahuetes.", "Dame una receta de curry."),
    "fr": ("Je suis allergique aux cacahuètes.", "Propose-moi un dîner."),
    "pt": ("Sou alérgica a amendoim.", "Dá-me uma receita de caril."),
    "it": ("Sono allergica alle arachidi.", "Suggeriscimi una cena."),
    "zh": ("我对花生过敏。", "推荐一道晚餐。"),
    "ja": ("ピーナッツアレルギーがあります。", "夕食を提案してください。"),
}


async def requests(language: str, *messages: str, told: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What would stand in the system prompt and as the message, for each of some messages on the day after."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
        for fact in (*told, *FACTS[language]):
            async with mind.turn("u", "yesterday", fact) as turn:
                turn.finish("OK.")
        clock.advance(86_400)
        found: list[tuple[str, str]] = []
        for number, message in enumerate(messages):
            async with mind.turn("u", f"today {number}", message) as turn:
                found.append((turn.instructions, turn.prompt))
        return found


@pytest.mark.parametrize("language", FACTS)
async def test_an_everyday_message_reaches_the_model_as_it_was_written(language: str) -> None:
    for message, (instructions, prompt) in zip(
        EVERYDAY[language], await requests(language, *EVERYDAY[language]), strict=True
    ):
        assert prompt == message
        assert not instructions, message


@pytest.mark.parametrize("language", FACTS)
async def test_of_what_was_never_told_the_model_learns_just_that(language: str) -> None:
    ((instructions, prompt),) = await requests(language, NEVER_TOLD[language])
    assert not instructions
    assert prompt == f"{NEVER_TOLD[language]}\n\n({WORDS[language]['untold']})"


@pytest.mark.parametrize("language", FACTS)
async def test_what_was_told_is_shown_as_said_before_and_nothing_is_ordered(language: str) -> None:
    ((instructions, prompt),) = await requests(language, TOLD[language])
    assert instructions.startswith(WORDS[language]["memories"])
    assert FACTS[language][0] in instructions
    assert prompt == TOLD[language]


async def test_a_request_is_given_what_answers_it_and_what_is_said_of_ones_own_people() -> None:
    asked = ("Tell me about my brother.", "How do I get to work?", "Plan my week.")
    ((brother, _), (work, _), (week, _)) = await requests("en", *asked)
    assert "My brother is a chef." in brother
    assert not work
    assert not week


@pytest.mark.parametrize("language", ALLERGY)
async def test_an_allergy_stands_before_the_model_where_food_is_asked_for_and_nowhere_else(language: str) -> None:
    fact, asked = ALLERGY[language]
    more = [f"Colleague number {n} is called {name}." for n, name in enumerate(("Ada", "Bo", "Cy", "Di") * 6)]
    (food, _), *others = await requests(language, asked, *EVERYDAY[language][1:], told=[fact, *more])
    assert fact in food
    assert not any(fact in instructions for instructions, _ in others)


async def test_the_diet_of_ones_people_counts_too() -> None:
    ((food, _),) = await requests("en", "Give me a recipe for a curry.", told=["My daughter is a vegetarian."])
    assert "My daughter is a vegetarian." in food
