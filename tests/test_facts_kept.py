"""What of a user's messages is kept as a fact, and what stands before the model as one: never a request of theirs, a
greeting or a question, nothing that the assistant said, in eight languages."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from insula import Metacognition, Turn
from insula.testing import FrozenClock, memory_store

pytestmark = pytest.mark.anyio
DAY = 86_400.0
Line = str | tuple[str, str]
"""What the user says, or that with the reply."""


@asynccontextmanager
async def told(*lines: Line, ask: str, **options: Any) -> AsyncGenerator[Turn]:
    """A turn that asks in a new session, a day after some lines were told in another."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0, **options)
        for line in lines:
            if isinstance(line, str):
                await mind.observe("me", "told", line)
            else:
                async with mind.turn("me", "told", line[0]) as turn:
                    turn.finish(line[1])
            clock.advance(60.0)
        clock.advance(DAY)
        async with mind.turn("me", "asked", ask) as turn:
            yield turn


def lines(turn: Turn) -> list[str]:
    """The lines of memory that stand before the model."""
    return [line[2:] for line in turn.instructions.splitlines() if line.startswith("- ")]


FACT_AND_REST = [
    ("I live in Bristol.", ("Good morning!", "I want you to act as a travel guide for Bristol.",
     "What is there to see in Bristol?", "You are an experienced guide from Bristol."), "Where do I live?"),
    ("Ich wohne in Leipzig.", ("Guten Morgen!", "Ich möchte, dass du als Reiseführer für Leipzig auftrittst.",
     "Was gibt es in Leipzig zu sehen?", "Schreib mir einen Text über Leipzig."), "Wo wohne ich?"),
    ("J'habite à Nantes.", ("Bonjour !", "Je veux que tu joues le guide à Nantes.",
     "Que voir à Nantes ?", "Écris un texte sur Nantes."), "Où est-ce que j'habite ?"),
    ("私は仙台に住んでいます。", ("おはようございます！", "仙台の旅行ガイドの役をしてください。",
     "仙台の見どころはどこですか？", "仙台について文章を書いてください。"), "私はどこに住んでいますか？"),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "rest", "ask"), FACT_AND_REST)
async def test_of_facts_requests_greetings_and_questions_only_the_fact_is_told(
    fact: str, rest: tuple[str, ...], ask: str
) -> None:
    async with told(*rest, fact, *rest, ask=ask) as turn:
        assert lines(turn) == [f"{fact} (5 January 2026)"]
    async with told(*rest, ask=ask) as turn:
        assert lines(turn) == [], "nothing was told of it"


@pytest.mark.parametrize(
    ("question", "answer", "ask"),
    [
        ("Where do you live?", "Bristol.", "Where do I live?"),
        ("Wo wohnst du?", "In Leipzig.", "Wo wohne ich?"),
        ("¿Dónde vives?", "En Valencia.", "¿Dónde vivo?"),
        ("どこに住んでいますか？", "仙台です。", "私はどこに住んでいますか？"),
    ],
)
async def test_a_short_answer_is_told_in_the_users_words_with_the_question_called_a_question(
    question: str, answer: str, ask: str
) -> None:
    async with told(("Hello!", question), answer, ask=ask) as turn:
        assert lines(turn) == [f'{answer} (asked by the assistant: "{question}") (5 January 2026)']


@pytest.mark.parametrize(
    ("fact", "ask", "answer", "right"),
    [
        ("My dentist is Dr Amado.", "Who's my dentist?", "Dr Amado.", "That's outdated, it's Dr Costa now."),
        ("I'm on Python 3.9 at work.", "Which Python am I on at work?", "3.9.", "No, we upgraded to 3.12."),
        ("Our book club meets on Tuesdays.", "When does my book club meet?", "Tuesdays.",
         "They changed it to Wednesdays."),
        ("Unser Buchclub trifft sich dienstags.", "Wann trifft sich mein Buchclub?", "Dienstags.",
         "Stimmt nicht mehr, jetzt mittwochs."),
        ("Mi club de lectura se reúne los martes.", "¿Cuándo se reúne mi club de lectura?", "Los martes.",
         "Ya no, ahora es el miércoles."),
    ],
)  # fmt: skip
async def test_what_sets_the_answer_to_the_users_question_right_is_told_before_the_old_line(
    fact: str, ask: str, answer: str, right: str
) -> None:
    async with told(fact, (ask, answer), (right, "OK."), ask=ask) as turn:
        corrected = f'{right} (corrects the answer to: "{ask}") (5 January 2026)'
        assert lines(turn) == [corrected, f"{fact} (5 January 2026)"]


@pytest.mark.parametrize(
    ("ask", "answer", "value"),
    [
        ("What's my dog called?", "I don't know, you haven't told me.", "It's Rex."),
        ("When is my sister's birthday?", "You haven't told me that.", "March 3rd."),
        ("Wie heißt mein Vermieter?", "Das hast du mir noch nicht gesagt.", "Herr Okafor."),
        ("When does my book club meet?", "I find nothing about that in what you have told me.", "On Tuesdays."),
    ],
)
async def test_what_a_user_tells_after_the_answer_that_they_have_not_told_it_is_told(
    ask: str, answer: str, value: str
) -> None:
    async with told((ask, answer), (value, "OK."), ask=ask) as turn:
        assert lines(turn) == [f'{value} (to the question: "{ask}") (5 January 2026)']


@pytest.mark.parametrize("complaint", ["That's wrong.", "No, shorter please.", "That's not what I asked.", "Thanks!"])
async def test_a_complaint_about_an_answer_is_no_fact(complaint: str) -> None:
    said = ("Who's my dentist?", "Dr Amado."), (complaint, "OK.")
    async with told("My dentist is Dr Amado.", *said, ask="Who's my dentist?") as turn:
        assert lines(turn) == ["My dentist is Dr Amado. (5 January 2026)"]


async def test_a_correction_of_what_the_world_holds_is_no_fact_of_the_users() -> None:
    said = ("What is the capital of Australia?", "Sydney."), ("No, it's Canberra.", "OK.")
    async with told(*said, ask="What is the capital of Australia?") as turn:
        assert lines(turn) == []


@pytest.mark.parametrize(
    "reply",
    [
        "You live in Rome and you love pasta.",
        "How can I help you with Rome?",
        "You live in Rome. Tell me more about it!",
        "Where do you live? I guess it is Rome.",
    ],
)
async def test_what_the_assistant_says_becomes_no_part_of_a_fact(reply: str) -> None:
    async with told(("Hello!", reply), "Porto, near the river.", ask="Where do I live?") as turn:
        assert "Rome" not in turn.instructions
        assert "asked by the assistant" not in turn.instructions


@pytest.mark.parametrize(
    ("ask", "is_told"),
    [
        ("Can you help me with dinner?", False),
        ("What do you think of Rome?", False),
        ("Do you know a carbonara for dinner?", False),
        ("What did you recommend for dinner?", True),
        ("¿Qué me recomendaste para la cena, carbonara?", True),
        ("你上次推荐的carbonara是什么？", True),
    ],
)
async def test_what_the_assistant_said_is_told_only_where_it_is_asked_for(ask: str, is_told: bool) -> None:
    reply = "You live in Rome, so I recommend the carbonara for dinner."
    async with memory_store() as store:
        mind = Metacognition(store, holdout=0.0)
        async with mind.turn("me", "one", "What shall I cook?") as turn:
            turn.finish(reply)
        async with mind.turn("me", "one", ask) as turn:
            assert any(line.startswith(f"You said: {reply}") for line in lines(turn)) == is_told


@pytest.mark.parametrize(
    ("message", "shown", "ask"),
    [
        ("Hi there! I'm allergic to peanuts. What can I cook?", "I'm allergic to peanuts.", "What am I allergic to?"),
        ("Hallo! Ich bin gegen Erdnüsse allergisch. Was kann ich kochen?", "Ich bin gegen Erdnüsse allergisch.",
         "Wogegen bin ich allergisch?"),
        ("Ciao! Sono allergica alle arachidi. Cosa cucino?", "Sono allergica alle arachidi.", "A cosa sono allergica?"),
        ("こんにちは！私はピーナッツアレルギーです。何を作ればいいですか？", "私はピーナッツアレルギーです。",
         "私は何のアレルギーですか？"),
    ],
)  # fmt: skip
async def test_of_a_message_with_a_request_only_the_sentence_with_the_fact_is_told(
    message: str, shown: str, ask: str
) -> None:
    async with told(message, ask=ask) as turn:
        assert lines(turn) == [f"{shown} (5 January 2026)"]


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ('My boss always says "we are all one big family here".', "What does my boss always say?"),
        ('My sister called her boat "The Old Man and the Sea".', "What did my sister call her boat?"),
    ],
)
async def test_a_quotation_is_told_as_it_was_said(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert lines(turn) == [f"{line} (5 January 2026)"]


async def test_what_a_quotation_says_is_nobodys_fact() -> None:
    async with told('The book begins with "I live in Rome and I have three cats".', ask="Where do I live?") as turn:
        assert "Rome" not in turn.instructions


async def test_a_correction_of_what_was_just_said_is_kept() -> None:
    async with told("My flight is on the 20th.", "Oops, it's the 21st.", ask="When is my flight?") as turn:
        assert "Oops, it's the 21st. (5 January 2026)" in lines(turn)


async def test_a_word_said_many_times_hides_no_fact() -> None:
    line = f"My friend lives in Leeds, {'far ' * 40}away."
    async with told(line, ask="Where does my friend live?") as turn:
        assert any(shown.startswith(line[:40]) for shown in lines(turn))


@pytest.mark.parametrize(
    ("fact", "rest", "ask"),
    [
        ("I'm vegan.", ("Thanks, bye!", "green"), "What do I eat?"),
        ("Soy zurda.", ("¡Gracias, adiós!", "verde"), "¿Con qué mano escribo?"),
        ("Schuhgröße 39.", ("Danke dir!", "grün"), "Welche Schuhgröße habe ich?"),
    ],
)
async def test_a_sentence_of_two_words_is_a_fact_where_it_surely_is_one(
    fact: str, rest: tuple[str, ...], ask: str
) -> None:
    async with told(*rest, fact, ask=ask) as turn:
        kept = [one for one in await turn.engine.store.memories.list_memories("me") if one.line]
        assert [one.content for one in kept] == [fact]


async def test_a_part_in_a_game_that_was_announced_in_a_request_is_no_fact() -> None:
    async with told("Let's play a game. I am a pirate and I live in Jamaica.", ask="Where do I live?") as turn:
        assert lines(turn) == []


async def test_without_vectors_only_what_says_i_or_my_is_kept() -> None:
    facts = ("I live in Bristol.", "Turn off the light in Bristol.", "Weather in Bristol tomorrow.")
    async with told(*facts, ask="Do I live in Bristol?", embed=None) as turn:
        assert lines(turn) == ["I live in Bristol. (5 January 2026)"]


ASKED_WITHOUT_A_MARK = (
    "The pharmacist wants to know which tablets I take.",
    "Ich soll beim Arzt angeben, welche OPs ich hatte und in welchem Jahr.",
    "L'infirmière veut le nom de mon cachet pour le cœur et combien j'en prends.",
    "私の靴のサイズ、前に言いましたよね",
)


@pytest.mark.parametrize("message", ASKED_WITHOUT_A_MARK)
async def test_what_asks_for_a_fact_in_the_form_of_a_statement_is_kept_as_none(message: str) -> None:
    async with told(message, ask="What is new?") as turn:
        mind = Metacognition(turn.engine.store)
        kept = (await mind.list("me")).memories
    assert [one.kind for one in kept if one.content == message] == ["episodic"]


async def test_what_tells_no_fact_is_still_found_by_a_person() -> None:
    async with memory_store() as store:
        mind = Metacognition(store, holdout=0.0)
        async with mind.turn("me", "one", "Write a poem about Bristol.") as turn:
            turn.finish("No.")
        kept = (await mind.list("me")).memories
        assert [(one.content, one.kind) for one in kept if one.provenance == "user"] == [
            ("Write a poem about Bristol.", "episodic")
        ]


@pytest.mark.parametrize(
    ("said", "ask"),
    [
        ("Suppose that I earn 5,000 a month, what would the tax be?", "How much do I earn?"),
        ("Angenommen, ich verdiene 5000 im Monat, wie viel Steuern wären das?", "Wie viel verdiene ich?"),
        ("Im Fragebogen soll ich schreiben, dass ich allein wohne, stimmt das so?", "Wie wohne ich?"),
    ],
)
async def test_a_clause_is_no_fact_where_the_words_that_it_hangs_on_make_it_none(said: str, ask: str) -> None:
    async with told(said, ask=ask) as turn:
        assert lines(turn) == []


async def test_what_is_told_beside_a_question_is_a_fact_with_the_words_that_it_hangs_on() -> None:
    said = "Ich habe eine Nussallergie und wohne in Graz, welche Bäckerei passt für mich?"
    async with told(said, ask="Wo wohne ich?") as turn:
        assert any("wohne in Graz" in line for line in lines(turn))


async def test_a_conversation_that_is_taken_in_is_heard_as_turns_are() -> None:
    spoken = [
        ("user", "Keep your answers to two sentences from now on."),
        ("assistant", "Sure."),
        ("user", "What's my dog called?"),
        ("assistant", "You haven't told me."),
        ("user", "It's Rex."),
        ("user", "I work as a nurse."),
        ("user", "Forget that I work as a nurse."),
    ]
    async with await Metacognition.open(":memory:") as mind:
        await mind.add("ana", [{"role": role, "content": text} for role, text in spoken], session="monday")
        kept = {memory.content: memory.line for memory in (await mind.list("ana")).memories}
        assert kept["It's Rex."] == "It's Rex. (to the question: \"What's my dog called?\")"
        assert not kept["Forget that I work as a nurse."]
        async with mind.turn("ana", "tuesday", "What is my dog called?") as turn:
            assert "- It's Rex." in turn.instructions
            assert "Keep your answers to two sentences from now on." in turn.reminder
