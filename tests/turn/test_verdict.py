"""What a person is told of an answer: its source, what it contradicts, what was saved; mostly nothing."""

import pytest

from insula import Chat, Metacognition, TurnResult
from insula.testing import FrozenClock, ScriptedModel, memory_store
from insula.text.analysis import LANGUAGES
from insula.turn.verdict import describe_preferences, is_saved

pytestmark = pytest.mark.anyio


async def told(facts: str | tuple[str, ...], question: str, answer: str) -> TurnResult:
    """What becomes of an answer on the day after some facts were told."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
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
)


@pytest.mark.parametrize(("fact", "question", "answer"), NOT_SURE)
async def test_where_the_value_itself_is_not_surely_said_nothing_is(fact: str, question: str, answer: str) -> None:
    assert not (await said(fact, question, answer)).startswith("From")


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
