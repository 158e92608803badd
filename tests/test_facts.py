"""Facts: told in one session, asked in the next. Whose they are, since when they hold, and what is not told."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from insula import Metacognition, Turn
from insula.testing import FrozenClock, memory_store

pytestmark = pytest.mark.anyio
DAY = 86_400.0


@asynccontextmanager
async def told(*lines: str, ask: str, days: float = 1.0) -> AsyncGenerator[Turn]:
    """A turn that asks in a new session after some lines were told in another, one a day."""
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, holdout=0.0)
        for line in lines:
            await mind.observe("me", "told", line)
            clock.advance(days * DAY)
        async with mind.turn("me", "asked", ask) as turn:
            yield turn


def shown(turn: Turn) -> list[str]:
    found = [one.memory for one in turn.recalled if one.memory.id in turn.shown]
    return [one.content for one in sorted(found, key=lambda one: turn.instructions.find(one.line))]


FIVE = (
    "My sister lives in Lisbon.",
    "My brother lives in Rome.",
    "My mother lives in Oslo.",
    "My father lives in Bonn.",
    "I live in Porto.",
)


async def test_of_five_people_the_one_asked_about_is_told() -> None:
    async with told(*FIVE, ask="Where do I live?") as turn:
        assert turn.confidence.level != "low"
        assert shown(turn) == ["I live in Porto."]
    async with told(*FIVE, ask="Where does my uncle live?") as turn:
        assert turn.confidence.level == "low"
        assert "lives" not in turn.instructions


async def test_a_newer_statement_stands_first_and_both_with_their_dates() -> None:
    lines = ("I live in Porto.", "I moved to Madrid.")
    async with told(*lines, ask="Where do I live?") as turn:
        assert shown(turn) == [lines[1], lines[0]]
        assert "- I moved to Madrid. (6 January 2026)" in turn.instructions
        assert "- I live in Porto. (5 January 2026)" in turn.instructions
    async with told(*lines, ask="Where did I live before?") as turn:
        assert lines[0] in shown(turn)


async def test_a_statement_that_newer_words_end_is_history_with_its_dates() -> None:
    lines = ("I live in Porto.", "I no longer live in Porto.")
    async with told(*lines, ask="Where do I live?") as turn:
        assert "- I no longer live in Porto. (6 January 2026)" in turn.instructions
        assert "- I live in Porto. (5 January 2026; no longer since 6 January 2026)" in turn.instructions
    async with told(*lines, ask="Where did I live before?") as turn:
        assert lines[0] in shown(turn)


@pytest.mark.parametrize(
    ("lines", "ask", "first"),
    [
        (("I like sushi.", "I don't like sushi any more."), "Do I like sushi?", "I don't like sushi any more."),
        (("Ich rauche.", "Ich habe mit dem Rauchen aufgehört."), "Rauche ich?", "Ich habe mit dem Rauchen aufgehört."),
        (("塾でバイトしています。", "先月でバイト辞めました。"), "私はまだバイトしてる?", "先月でバイト辞めました。"),
        (("I live in Dundee.", "My brother just moved to Aberdeen."), "Which town do I live in?", "I live in Dundee."),
    ],
)
async def test_what_ended_or_was_wrong_is_told_anew_and_what_concerns_others_is_not(
    lines: tuple[str, ...], ask: str, first: str
) -> None:
    async with told(*lines, ask=ask) as turn:
        assert turn.confidence.level != "low"
        assert shown(turn)[0] == first


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("My husband was born in Graz.", "Where was I born?"),
        ("If I got a cat I'd call it Muffin.", "What's my cat called?"),
        ("主人は京都で生まれました。", "私はどこで生まれた?"),
        ("Let's play: I'm Viktor, a smuggler from Odessa.", "What's my name?"),
        ('Please proofread this: "I am a qualified plumber from Derby."', "What's my trade?"),
    ],
)
async def test_what_is_another_persons_supposed_or_never_told_is_not_known(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level == "low"
        assert line not in turn.instructions


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("I moved to Lisbon.", "Where do I live?"),
        ("Ich arbeite als Hebamme in Kassel.", "What is my profession?"),
        ("私は卵アレルギーです。", "What am I allergic to?"),
    ],
)
async def test_a_fact_is_found_in_other_words_and_in_another_language(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert shown(turn) == [line]


async def test_nothing_asserted_is_lost_when_a_session_is_left() -> None:
    chatter = [f"The train was late again, number {number} this month." for number in range(4)]
    async with told(*chatter, "My locker is 217.", ask="What's my locker number?") as turn:
        assert shown(turn) == ["My locker is 217."]


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("My plumber lives in Crewe.", "Where do I live?"),
        ("Meine Physiotherapeutin wohnt in Kassel.", "Wo wohne ich?"),
        ("Mi peluquero es alérgico al polen.", "¿A qué soy alérgico?"),
        ("大家さんは北海道の出身です。", "私の出身はどこ？"),
    ],
)
async def test_what_is_said_of_somebody_by_their_calling_is_not_mine(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert (turn.confidence.level, shown(turn)) == ("low", [])


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("In our play I'm a doctor from Vienna.", "What is my job?"),
        ("Im Spiel bin ich ein Elf und wohne im Wald.", "Wo wohne ich?"),
        ("Si j'étais médecin, je partirais en Afrique.", "Quel est mon métier ?"),
    ],
)
async def test_a_part_in_a_game_and_a_supposition_are_no_facts(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert (turn.confidence.level, shown(turn)) == ("low", [])


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("My aunt had a baby!", "Is my aunt's baby a boy or a girl?"),
        ("Ich habe mir einen Roman von Juli Zeh gekauft.", "Welchen Roman von Juli Zeh habe ich gekauft?"),
        ("姉がマラソン大会に出ました。", "姉のタイムは？"),
    ],
)
async def test_a_line_without_the_detail_is_never_high(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "high"


@pytest.mark.parametrize(
    ("old", "new", "ask"),
    [
        (
            "Our band is called The Wet Badgers.",
            "We've renamed it, say hello to Copper Mile.",
            "What's our band called?",
        ),
        ("Sono iscritta a un corso di ceramica.", "Ho mollato ceramica.", "Frequento ancora il corso di ceramica?"),
        (
            "The kids' school is St Bride's.",
            "I gave you the wrong school. They go to Millfield.",
            "Which school do my kids go to?",
        ),
        ("娘の発表会は日曜日です。", "昨日の話、日曜じゃなくて土曜でした。", "娘の発表会は何曜日？"),
    ],
)
async def test_what_may_have_changed_is_told_with_what_may_have_changed_it(old: str, new: str, ask: str) -> None:
    async with told(old, new, ask=ask) as turn:
        assert turn.confidence.level != "low"
        assert new in shown(turn)


@pytest.mark.parametrize(
    ("line", "ask", "answer"),
    [
        ("Can you plan a menu? My sister, who is a coeliac, comes on Sunday.", "Is my sister a coeliac?", "coeliac"),
    ],
)
async def test_what_a_request_tells_in_passing_is_kept(line: str, ask: str, answer: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "low"
        assert answer in "".join(shown(turn))


@pytest.mark.parametrize(
    ("line", "ask", "said"),
    [
        ("My sister runs marathons, not me. I do yoga on Sundays.", "Do I run marathons?", "My sister runs marathons"),
        ("I've been vegetarian since January but Tom eats anything.", "Am I vegetarian?", "since January"),
        ("I live in Ulm with my husband Tom and our two kids, Ellie and Sam.", "Who lives with me?", "Ellie and Sam"),
    ],
)
async def test_what_is_left_out_of_a_line_leaves_no_scrap_and_nobody_asked_for(line: str, ask: str, said: str) -> None:
    async with told(line, ask=ask) as turn:
        assert said in turn.instructions


async def test_requests_that_are_made_again_and_again_drive_no_fact_out() -> None:
    requests = [f"Tell me of my sister's life in Lisbon, part {number}." for number in range(30)]
    async with told("My sister lives in Lisbon.", *requests, ask="Where does my sister live?", days=0.1) as turn:
        assert turn.confidence.level == "high"
        assert shown(turn)[0] == "My sister lives in Lisbon."


# What is badly put in


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("I live in Porto. I live in Madrid.", "Where do I live?"),
        ("I like sushi. I don't like sushi.", "Do I like sushi?"),
        ("Meine Tochter heißt Ida. Meine Tochter heißt Lea.", "Wie heißt meine Tochter?"),
    ],
)
async def test_a_message_that_contradicts_itself_is_told_as_it_was_said(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert shown(turn) == [line]


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("We bought an old watermill on the Norfolk coast and live in it.", "What kind of home do I have?"),
        ("Yoga has moved to Fridays.", "Which day is my yoga?"),
    ],
)
async def test_what_is_told_in_quite_other_words_is_shown_and_not_sure(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "high"
        assert shown(turn) == [line]


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("My sister bought an old watermill.", "What kind of home do I have?"),
        ("Mon associé Rémi est daltonien.", "Est-ce que je suis daltonien ?"),
        ("私の上司は猫を飼っています。", "私は何を飼っていますか？"),
    ],
)
async def test_what_is_told_of_somebody_else_stays_theirs_however_near(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level == "low"
        assert shown(turn) == []


@pytest.mark.parametrize(
    ("old", "new", "ask"),
    [
        ("My doctor is Dr Patel.", "I changed doctors, it's Dr Lowe now.", "Who is my doctor?"),
        ("I am allergic to walnuts.", "I'm not allergic to walnuts but to hazelnuts.", "What am I allergic to?"),
    ],
)
async def test_a_line_that_answers_and_likely_changes_an_older_one_stands_before_it(
    old: str, new: str, ask: str
) -> None:
    async with told(old, new, ask=ask) as turn:
        assert shown(turn) == [new, old]


@pytest.mark.parametrize("beside", ["Wir haben Vorhänge gekauft.", "Meine Schwester trinkt jetzt Tee."])
async def test_what_is_newer_of_another_matter_leaves_what_answers_sure(beside: str) -> None:
    async with told("Ich trinke morgens immer Kaffee.", beside, ask="Was trinke ich morgens?") as turn:
        assert turn.confidence.level == "high"


async def test_a_message_that_sets_itself_right_is_no_contradiction() -> None:
    async with told("I live in Porto, no wait, I live in Madrid.", ask="Where do I live?") as turn:
        assert turn.confidence.level != "low"


async def test_of_two_people_of_one_name_the_one_asked_about_is_told() -> None:
    anas = ("My sister Ana lives in Rome.", "My boss Ana lives in Bern.")
    async with told(*anas, ask="Where does my boss Ana live?") as turn:
        assert shown(turn)[0] == anas[1]
        assert anas[0] not in shown(turn)
    async with told(*anas, ask="What does my sister Ana do?") as turn:
        assert anas[1] not in shown(turn)


@pytest.mark.parametrize(
    "line",
    [
        'Can you summarise this?\n\n"""\nI was born in Oslo and I have three cats.\n"""',
        "She sings: ♪ I was born in Oslo ♪",
        "Let's play: pretend I was born in Oslo and I have a ship.",
        "Im Lied heißt es: Ich bin in Oslo geboren.",
    ],
)
async def test_i_in_a_paste_a_song_or_a_play_is_not_me(line: str) -> None:
    async with told(line, ask="Where was I born?") as turn:
        assert turn.confidence.level == "low"
        assert not shown(turn)


async def test_a_statement_in_two_languages_is_of_whom_each_half_says() -> None:
    line = "Mi hermana lives in Lisboa and ich wohne in Graz."
    async with told(line, ask="Where does my brother live?") as turn:
        assert turn.confidence.level == "low"
    async with told("Next month ziehe ich nach Graz, meine Schwester stays in Linz.", ask="Where is my aunt?") as turn:
        assert turn.confidence.level == "low"


async def test_a_clock_that_goes_back_leaves_it_open_which_of_two_is_the_newer() -> None:
    async with told("I live in Porto.", "We relocated to Madrid.", ask="Where do I live now?", days=-1.0) as turn:
        assert set(shown(turn)) == {"I live in Porto.", "We relocated to Madrid."}


# High is what surely holds the detail


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("My GP is called Dr Okafor.", "Where is my GP's surgery?"),
        ("Mi médico se llama Iturralde.", "¿Dónde tiene la consulta mi médico?"),
        ("I've practically got a PhD in procrastination.", "Do I have a doctorate?"),
    ],
)
async def test_what_is_near_and_may_lack_the_detail_is_not_high(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "high"


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("My sister is a nurse.", "What does my sister do?"),
        ("J'ai deux gamins, Basile et Zoé.", "Comment s'appellent mes enfants ?"),
    ],
)
async def test_who_is_told_of_is_found_however_it_is_put(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "low"
        assert shown(turn) == [line]


@pytest.mark.parametrize(
    ("line", "ask", "dated"),
    [
        ("I bought my bike yesterday.", "When did I buy my bike?", "(5 January 2026; yesterday: 4 January 2026)"),
        ("Meine Prüfung ist nächstes Jahr.", "Wann ist meine Prüfung?", "(5 January 2026; nächstes Jahr: 2027)"),
        ("私は来月引っ越します。", "私はいつ引っ越しますか？", "(5 January 2026; 来月: February 2026)"),
    ],
)
async def test_a_line_that_says_yesterday_stands_before_the_model_with_the_date(
    line: str, ask: str, dated: str
) -> None:
    async with told(line, ask=ask, days=40) as turn:
        assert dated in turn.instructions


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("I'd kill for a week in Lapland with the kids.", "What year did we visit Lapland?"),
        ("Vamos a hacer teatro: soy capitán y mi barco se llama La Impaciente.", "¿Cómo se llama mi barco?"),
        ("Spielen wir Theater: Ich bin Kapitän und mein Schiff heißt Albatros.", "Wie heißt mein Schiff?"),
        ("Left Barclays this morning. Good riddance.", "Which bank am I with now?"),
    ],
)  # fmt: skip
async def test_what_is_wished_played_left_or_a_neighbours_is_never_high(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "high"


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        ("I'm with Monzo now, left Barclays this morning.", "Which bank am I with now?"),
        ("We spent a week in Lapland with the kids.", "Where did we spend a week with the kids?"),
    ],
)
async def test_what_only_looks_like_it_is_still_known(line: str, ask: str) -> None:
    async with told(line, ask=ask) as turn:
        assert turn.confidence.level != "low"
        assert shown(turn) == [line]


async def test_a_question_about_the_world_is_shown_no_line_that_shares_no_word_with_it() -> None:
    async with told("My sister Ana lives in Lisbon.", ask="What is the capital of Mongolia?") as turn:
        assert turn.confidence.level == "low"
        assert not shown(turn)
