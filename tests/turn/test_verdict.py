"""What a person is told of an answer: its source, what it contradicts, what was saved; mostly nothing."""

import pytest

from insula import Chat, Metacognition, TurnResult
from insula.memory.retrieval.embedding import embed_text
from insula.testing import FrozenClock, ScriptedModel, memory_store
from insula.text.analysis import LANGUAGES
from insula.turn.verdict import describe_preferences, is_saved

pytestmark = pytest.mark.anyio


async def told(facts: str | tuple[str, ...], question: str, answer: str) -> TurnResult:
    """What becomes of an answer on the day after some facts were told."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, embed=embed_text)
        for fact in (facts,) if isinstance(facts, str) else facts:
            await mind.observe("u", "before", fact)
        clock.advance(86_400)
        async with mind.turn("u", "now", question) as turn:
            return turn.finish(answer)


async def said(facts: str | tuple[str, ...], question: str, answer: str) -> str:
    verdict = (await told(facts, question, answer)).verdict
    return verdict.text if verdict else ""


TWO = "My sister lives in Lisbon. I live in Porto."
NOT_SURE = (
    (TWO, "Where do I live?", "You live in Lisbon."),
    ("I live in Porto.", "Where do I live?", "You live in Porto Alegre."),
    ("I live in Porto.", "Where do I live?", "You don't live in Porto."),
    ("I live in Porto.", "Where do I live?", "Porto?"),
    ("I live in Porto.", "Where do I live?", "People say Porto. You live in Braga."),
    ("I live in Porto.", "Where do I live?", "Your sister lives in Porto."),
    ("I live in Porto.", "Where does my sister live?", "Your sister lives in Porto."),
    ("My rent is £1,250 a month.", "How much is my rent?", "Your rent is £1,250 a week."),
    ("I'm allergic to peanuts.", "What can I cook tonight?", "How about a peanut curry?"),
    ("I don't eat meat.", "What do I eat?", "You eat meat."),
    ("My cat keeps sneezing.", "My cat keeps sneezing, is that normal?", "Yes, your cat keeps sneezing."),
    ("J'habite à Lyon.", "Où est-ce que j'habite ?", "You live in Paris."),
    ("Ich wohne in Graz.", "Wo wohne ich?", "Deine Schwester wohnt in Graz."),
    ("我住在杭州。", "我住在哪里？", "你住在上海。"),
    ("私は京都に住んでいます。", "私はどこに住んでいますか？", "大阪です。"),
    ("I live in Faro but was born in Braga.", "Where do I live?", "In Braga."),
    ("Helena takes size 27 and Tom takes 28.", "Which size does Helena take?", "28."),
    ("I'm having 12 tulips put in by the shed.", "How many tulips am I having?", "Tulips want 15 cm of earth."),
)
TAKEN = (
    (("Our vet is Dr Okafor, lovely woman.",), "Who's our vet?", "Dr Okafor."),
    (("I live in Porto.",), "Where do I live?", "You live in Porto! Anything that I can help with there?"),
    (("My sister lives in Lisbon.", "I live in Porto."), "Where do I live?", "Porto."),
    (("Nous avons un lapin, il s'appelle Gaston.",), "Comment s'appelle notre lapin ?", "Gaston."),
    (
        ("Der Termin bei der Hautärztin ist am Dienstag um 9:45.",),
        "Wann ist mein Termin bei der Hautärztin?",
        "Um 9:45.",
    ),
    (("我妹妹学的是兽医。",), "我妹妹学什么？", "她学的是兽医。"),
)
OTHERWISE = (
    ("My train leaves at 16:30.", "What time does my train leave?", "It leaves at 18:15."),
    ("My pottery class is on Thursdays.", "Which day is my pottery class?", "On Fridays."),
    ("La laurea di Ginevra è il 23 marzo.", "Quando è la laurea di Ginevra?", "Il 23 maggio."),
    ("Our new colleague is called Edoardo Pinna.", "Who is our new colleague?", "Efisio Murgia."),
    ("My bike is green.", "What colour is my bike?", "Your bike is red."),
)


@pytest.mark.parametrize(("fact", "question", "answer"), NOT_SURE)
async def test_where_the_value_itself_is_not_surely_said_nothing_is(fact: str, question: str, answer: str) -> None:
    assert not (await said(fact, question, answer)).startswith("From")


@pytest.mark.parametrize(("facts", "question", "answer"), TAKEN)
async def test_an_answer_that_says_only_what_a_line_does_names_it(
    facts: tuple[str, ...], question: str, answer: str
) -> None:
    line = await said(facts, question, answer)
    assert line.startswith("From what you told me")
    assert facts[-1].rstrip(".。") in line


@pytest.mark.parametrize(("fact", "question", "answer"), OTHERWISE)
async def test_another_value_in_the_place_of_the_one_told_is_said_to_be_so(
    fact: str, question: str, answer: str
) -> None:
    result = await told(fact, question, answer)
    assert result.verdict is not None
    assert (result.verdict.text.startswith("You told me otherwise"), result.verdict.kind) == (True, "unused")


@pytest.mark.parametrize("answer", ["You live in Portugal.", "I don't know.", "You live by the sea."])
async def test_what_may_be_so_beside_the_line_contradicts_nothing(answer: str) -> None:
    assert not await said("I live in Porto.", "Where do I live?", answer)


async def test_a_person_is_told_what_was_saved_in_the_language_of_their_message() -> None:
    assert await said((), "Antworte mir ab jetzt immer in einem Satz.", "Gut.") == (
        "Gespeichert: „Antworte mir ab jetzt immer in einem Satz.“"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_saved_or_counts_no_more_is_said_in_each_language(language: str) -> None:
    saved, ended = describe_preferences(["Kurz."], ["Lang."], language)
    assert is_saved(saved.text)
    assert not is_saved(ended.text)
    assert ("Kurz." in saved.text, "Lang." in ended.text) == (True, True)
    assert (saved.text == "Saved: “Kurz.”") is (language == "en")


async def test_an_answer_that_quotes_a_remembered_line_is_not_denied_to_use_it() -> None:
    line = "My sister Ana moved to Lisbon in May."
    verdict = (await told(line, "Where does Ana live?", f"You told me: “{line}”")).verdict
    assert verdict is not None
    assert verdict.kind == "used"


async def test_under_an_everyday_exchange_stands_nothing() -> None:
    async with memory_store() as store:
        chat = Chat(Metacognition(store), ScriptedModel(lambda _: "About six minutes."))
        await chat.reply("u", "before", "I live in Porto.")
        reply = await chat.reply("u", "now", "How long should I boil my egg?")
    assert reply.record()["verdict"]["text"] == ""
