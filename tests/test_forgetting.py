"""What a user asks to have forgotten is found, shown, and erased with a yes; the model is told what happened."""

from pathlib import Path

import pytest

from insula import Metacognition

pytestmark = pytest.mark.anyio

ASKED = {
    "en": ("My middle name is Ottilie.", "Please forget my middle name.", "Yes!"),
    "es": ("Mi segundo nombre es Eulogio.", "Borra mi segundo nombre de tu memoria.", "sí"),
    "fr": ("Mon deuxième prénom est Eudoxie.", "Efface mon deuxième prénom de ta mémoire.", "Oui."),
    "de": ("Mein zweiter Vorname ist Kunigunde.", "Lösche meinen zweiten Vornamen aus deinem Gedächtnis.", "ja"),
    "pt": ("O meu segundo nome é Hermenegildo.", "Apaga o meu segundo nome da tua memória.", "Sim"),
    "it": ("Il mio secondo nome è Ermenegildo.", "Cancella il mio secondo nome dalla tua memoria.", "sì"),
    "zh": ("我的中间名是思雨涵。", "把我的中间名从你的记忆里删掉。", "是的"),
    "ja": ("私のミドルネームは桜子です。", "ミドルネームを記憶から消して。", "はい"),
}


async def said(metacognition: Metacognition, message: str, session: str = "a") -> tuple[str, str]:
    """What the model is told with a message, and what the person is told under the reply."""
    async with metacognition.turn("ana", session, message) as turn:
        result = turn.finish("Understood.")
        return turn.prompt, result.verdict.text if result.verdict else ""


def disk(folder: Path) -> str:
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.glob("insula.db*"))


@pytest.mark.parametrize("language", ASKED)
async def test_a_request_to_forget_is_shown_and_done_with_a_yes(tmp_path: Path, language: str) -> None:
    fact, request, yes = ASKED[language]
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, fact, "before")
        model, person = await said(metacognition, request)
        assert fact in model
        assert fact in person
        assert fact in disk(tmp_path)
        model, person = await said(metacognition, yes)
        assert "1" in model
        assert "1" in person
        again, _ = await said(metacognition, request, "later")
        assert fact not in again
    assert fact not in disk(tmp_path)


@pytest.mark.parametrize(
    ("fact", "request_"),
    [
        ("My middle name is Ottilie.", "I don't want you to remember my middle name any more."),
        ("Mon deuxième prénom est Eudoxie.", "Je ne veux plus que tu te souviennes de mon deuxième prénom."),
        ("Il mio secondo nome è Ermenegildo.", "Non voglio più che tu ricordi il mio secondo nome."),
        ("Meu segundo nome é Hermenegildo.", "Meu segundo nome, apaga isso."),
    ],
)
async def test_a_request_in_the_words_of_a_preference_taken_back_names_a_fact(
    tmp_path: Path, fact: str, request_: str
) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, fact, "before")
        model, person = await said(metacognition, request_)
        assert fact in model
        assert fact in person


@pytest.mark.parametrize(
    "answer",
    [
        *("Yes, please.", "yes please", "Yes, do it!", "Yes, please do it.", "Sí, por favor.", "Sí, hazlo."),
        *("Oui, s’il te plaît.", "Ja, bitte.", "Ja, mach das bitte.", "Sim, por favor.", "Sì, fallo per favore."),
        *("好的，请。", "はい、お願いします。"),
    ],
)
async def test_a_yes_is_one_with_please_or_do_it_behind_it(tmp_path: Path, answer: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My middle name is Ottilie.", "before")
        await said(metacognition, "Please forget my middle name.")
        model, _ = await said(metacognition, answer)
        assert "1" in model
    assert "Ottilie" not in disk(tmp_path)


@pytest.mark.parametrize("answer", ["Yes, I think so.", "Please!", "Do it later.", "Thanks!", "ok"])
async def test_an_answer_that_is_no_yes_alone_is_shown_once_more_what_a_yes_erases(tmp_path: Path, answer: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My middle name is Ottilie.", "before")
        _, offered = await said(metacognition, "Please forget my middle name.")
        model, person = await said(metacognition, answer)
        assert "Ottilie" in model
        assert person == offered
        await said(metacognition, "yes")
    assert "Ottilie" not in disk(tmp_path)


@pytest.mark.parametrize("answer", ["And now?", "What goes with a sea bass that was baked in salt?"])
async def test_an_offer_lapses_with_a_question_and_with_what_says_something_else(tmp_path: Path, answer: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My middle name is Ottilie.", "before")
        await said(metacognition, "Please forget my middle name.")
        _, person = await said(metacognition, answer)
        assert "Ottilie" not in person
        await said(metacognition, "yes")
    assert "Ottilie" in disk(tmp_path)


async def test_what_was_said_just_before_is_meant_by_that(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "I live in Lisbon.", "before")
        await said(metacognition, "I was treated for bulimia in 2019.")
        model, _ = await said(metacognition, "Please don't store that.")
        assert "bulimia" in model
        assert "Lisbon" not in model
        await said(metacognition, "yes")
    assert "bulimia" not in disk(tmp_path)
    assert "Lisbon" in disk(tmp_path)


@pytest.mark.parametrize(
    ("fact", "request_"),
    [
        ("My ex-husband is called Barnaby.", "Wipe anything you have on my ex-husband."),
        ("Mein Ex-Mann heißt Gundolf.", "Alles über meinen Ex-Mann bitte rauswerfen."),
        ("Meine Blutgruppe ist AB negativ.", "Kannst du meine Blutgruppe wieder loswerden?"),
    ],
)
async def test_a_request_in_other_words_than_to_forget_is_shown_what_it_names(
    tmp_path: Path, fact: str, request_: str
) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, fact, "before")
        _, person = await said(metacognition, request_)
        assert fact in person


@pytest.mark.parametrize(
    ("line", "request_", "erased", "kept"),
    [
        ("My sister lives in Lisbon. I live in Porto.", "Forget that I live in Porto.", "Porto", "Lisbon"),
        (
            "Ich heiße Gundula. Ich bin Schreinerin. Meine Blutgruppe ist AB negativ.",
            "Vergiss meine Blutgruppe bitte.",
            "AB negativ",
            "Schreinerin",
        ),
        ("我住在苏州。我的血型是AB型。", "请忘掉我的血型。", "血型", "苏州"),
    ],
)
async def test_of_a_line_only_what_is_named_is_shown_and_erased(
    tmp_path: Path, line: str, request_: str, erased: str, kept: str
) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, line, "before")
        _, person = await said(metacognition, request_)
        assert erased in person
        assert kept not in person
        await said(metacognition, "yes")
        (memory,) = [
            one
            for one in await metacognition.store.memories.list_memories("ana")
            if one.session == "before" and one.provenance == "user"
        ]
        assert kept in memory.content
        assert kept in memory.line
        assert erased not in memory.content
    assert erased not in disk(tmp_path)


async def test_what_else_an_erased_line_said_is_told_on_another_day_and_what_is_erased_is_not(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My sister lives in Lisbon. I live in Porto.", "before")
        (line,) = [one for one in await metacognition.store.memories.list_memories("ana") if one.provenance == "user"]
        await said(metacognition, "Forget that I live in Porto.")
        await said(metacognition, "yes")
        async with metacognition.turn("ana", "later", "Where does my sister live?") as turn:
            assert "- My sister lives in Lisbon." in turn.instructions
            assert "Porto" not in turn.instructions
        memories = await metacognition.store.memories.list_memories("ana")
        (kept,) = [one for one in memories if one.session == "before" and one.provenance == "user"]
        assert kept.said_at == line.said_at


async def test_of_two_things_that_are_named_both_are_shown_and_erased(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My shoe size is 39. My dentist is Dr. Varga. I live in Lisbon.", "before")
        _, person = await said(metacognition, "Erase my shoe size and my dentist from your memory.")
        assert "39" in person
        assert "Varga" in person
        assert "Lisbon" not in person


async def test_a_sentence_about_him_or_her_is_erased_with_the_one_before_it(tmp_path: Path) -> None:
    line = "My sister Ana has epilepsy. She takes Lamotrigin for it. I work at the harbour."
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, line, "before")
        _, person = await said(metacognition, "Please forget my sister's epilepsy.")
        assert "Lamotrigin" in person
        assert "harbour" not in person
        await said(metacognition, "yes")
    assert "Lamotrigin" not in disk(tmp_path)
    assert "harbour" in disk(tmp_path)


async def test_a_short_request_is_answered_in_its_language(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "I like tea.", "before")
        await said(metacognition, "Soy alérgica a las nueces, mi alergia es grave.", "before")
        _, person = await said(metacognition, "Olvida mi alergia.")
        assert "mi alergia es grave" in person
        assert "sí" in person


@pytest.mark.parametrize("answer", ["no", "How do I boil an egg?", "yes, but first tell me about eggs"])
async def test_nothing_is_erased_without_a_yes_as_the_next_message(tmp_path: Path, answer: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My middle name is Ottilie.")
        await said(metacognition, "Please forget my middle name.")
        await said(metacognition, answer)
        await said(metacognition, "yes")
        kept = await metacognition.store.memories.list_memories("ana")
        assert "My middle name is Ottilie." in [memory.content for memory in kept]


async def test_a_model_is_told_where_nothing_was_found(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        model, person = await said(metacognition, "Please forget my middle name.")
        assert "nothing was erased" in model
        assert "nothing was erased" in person


@pytest.mark.parametrize(
    "message",
    [
        "Don't forget my birthday!",
        "I forgot my middle name.",
        "yes",
        "How do I delete a branch in git?",
        "Wipe your feet.",
        "I don't want to hide my birthday any more.",
    ],
)
async def test_other_messages_offer_no_erasure(tmp_path: Path, message: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My middle name is Ottilie and my birthday is in May.")
        model, person = await said(metacognition, message)
        assert "erase" not in model
        assert "erase" not in person


async def test_a_message_that_shares_one_word_of_many_with_a_line_is_offered_no_erasure(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "Moi c'est Mélissa, pis j'ai des jumeaux de neuf ans.", "before")
        model, person = await said(metacognition, "Pis un balado d'histoires de crime pas trop gore")
        assert "Mélissa" not in model
        assert "Mélissa" not in person


@pytest.mark.parametrize(
    "request_",
    [
        "Forget my locker code.",
        "Erase my phone number.",
        "Vergiss meine Hausnummer.",
        "Olvida mi número de cuenta.",
        "Oublie ma pointure, s'il te plaît.",
        "私の血液型を忘れて。",
    ],
)
async def test_what_was_never_told_is_not_looked_for_in_what_was_said_before(tmp_path: Path, request_: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My brother Paul works in Seville.")
        model, person = await said(metacognition, request_)
        assert "Paul" not in model + person
        await said(metacognition, "yes")
        assert "Paul" in (await metacognition.search("ana", "Where does my brother work?")).hits[0].memory.content


@pytest.mark.parametrize(
    "request_",
    ["Delete everything you know about me.", "Vergiss alles, was ich dir erzählt habe.", "忘掉关于我的一切。"],
)
async def test_a_request_to_forget_everything_says_where_that_is_done(tmp_path: Path, request_: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My brother Paul works in Seville.")
        async with metacognition.turn("ana", "a", request_) as turn:
            result = turn.finish("Understood.")
        assert "insula user erase" in (result.verdict.text if result.verdict else "")
        assert (result.saved, turn.heard) == ((), ())
        await said(metacognition, "yes")
        assert "Paul" in (await metacognition.search("ana", "Where does my brother work?")).hits[0].memory.content


@pytest.mark.parametrize("request_", ["Forget my shoe size.", "Forget where Paul works.", "Vergiss, wo Paul wohnt."])
async def test_a_request_to_forget_is_kept_as_no_fact(tmp_path: Path, request_: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        async with metacognition.turn("ana", "a", request_) as turn:
            turn.finish("Understood.")
        assert turn.told == ""


async def test_a_no_is_answered_in_the_language_of_the_offer(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "Mi segundo nombre es Eulogio.")
        await said(metacognition, "Borra mi segundo nombre de tu memoria.")
        assert await said(metacognition, "no") == (
            "no\n\n(El usuario dijo que no; no se borró nada.)",
            "No se borró nada.",
        )


async def test_a_preference_that_a_message_takes_back_is_named_under_the_reply(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "From now on, always answer in one short sentence.", "before")
        await said(metacognition, "How are you?")
        _, person = await said(metacognition, "Stop doing that.")
        assert person == "Counts no more: “From now on, always answer in one short sentence.”"


async def test_what_a_message_tells_beside_a_request_to_forget_is_kept(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        async with metacognition.turn("ana", "a", "I live in Leeds now. Please forget my old address.") as turn:
            turn.finish("Understood.")
        assert turn.told == "I live in Leeds now."


@pytest.mark.parametrize("answer", ["No, keep it.", "non en fait garde-le", "Nein, lass das bitte so.", "不用了"])
async def test_what_begins_with_a_no_erases_nothing_and_offers_nothing_more(tmp_path: Path, answer: str) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My middle name is Ottilie.", "before")
        await said(metacognition, "Please forget my middle name.")
        _, person = await said(metacognition, answer)
        assert "Ottilie" not in person
        await said(metacognition, "yes")
    assert "Ottilie" in disk(tmp_path)


@pytest.mark.parametrize(
    ("told", "request_", "meant"),
    [
        (
            ("I also need to lose about 10 pounds.", "Our hotel budget is 200 a night."),
            "You don't need to remember the hotel budget anymore",
            "200 a night",
        ),
        (
            ("Lina hat heute Fieber.", "Lina wird am 8. Februar fünf.", "Meine Schwiegermutter kommt zu Weihnachten."),
            "Du brauchst dir nicht zu merken, dass Lina Fieber hat, das ist morgen eh vorbei",
            "Fieber",
        ),
        (("Ich vertrage keine Laktose.", "Ich zahle Mira 14 Euro."), "Vergiss bitte meine Laktosesache", "Laktose"),
    ],
)
async def test_a_line_is_meant_by_what_the_request_names_and_by_no_word_that_it_asks_with(
    tmp_path: Path, told: tuple[str, ...], request_: str, meant: str
) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        for fact in told:
            await said(metacognition, fact, "before")
        _, person = await said(metacognition, request_)
        assert meant in person
        assert not any(fact in person for fact in told if meant not in fact)


async def test_a_line_that_tells_no_fact_is_found_by_what_is_named_and_no_request_to_forget_is(tmp_path: Path) -> None:
    question = "Is it ok to take ibuprofen with sertraline?"
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, question, "before")
        request = "Please forget the sertraline thing, I'd rather that wasn't kept."
        _, person = await said(metacognition, request, "first")
        assert question in person
        _, person = await said(metacognition, "Forget about the sertraline, please.", "second")
        assert question in person
        assert "rather" not in person
        memories = (await metacognition.list("ana")).memories
        assert not [one.line for one in memories if "rather" in one.content and one.kind == "semantic"]


async def test_what_else_an_erased_line_said_answers_no_question_that_came_after_it(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        await said(metacognition, "My dentist is Dr Varga from Graz. The book club moved to Wednesdays.", "before")
        async with metacognition.turn("ana", "before", "When does my book club meet?") as turn:
            turn.finish("On Tuesdays.")
        await said(metacognition, "Please forget my dentist.")
        await said(metacognition, "yes")
        lines = [one.line for one in (await metacognition.list("ana")).memories if "Wednesdays" in one.content]
        assert lines == ["The book club moved to Wednesdays."]
