"""Erasing one memory takes what the assistant made of it, its quotations and the backups; it says what is left."""

import asyncio
import gc
import random
from pathlib import Path
from typing import cast

import pytest
from harness import run_insula

from insula import Metacognition
from insula.memory.privacy.reports import KeptTexts, compare_texts, drop_quotes
from insula.memory.storage import views
from insula.operations.nights import NightChange, list_nights

pytestmark = pytest.mark.anyio

TALK = (
    ("monday", "Hi, can you help me with the garden today?", "Gladly: what grows in your garden?"),
    ("monday", "My middle name is Esperanza.", "Esperanza is a beautiful middle name!"),
    ("monday", "Thanks, and how often do I water basil?", "Every second day, a little in the morning."),
    ("tuesday", "What is my middle name?", "You once told me: your middle name is Esperanza."),
    ("tuesday", "My passport also says Esperanza Maria.", "Good to know."),
)
WORDS = {
    "en": ("My middle name is Esperanza.", "Noted: Esperanza."),
    "es": ("Mi segundo nombre es Esperanza.", "Anotado: Esperanza."),
    "fr": ("Mon deuxième prénom est Séraphine.", "C'est noté : Séraphine."),
    "de": ("Mein zweiter Vorname ist Walburga.", "Walburga, das merke ich mir."),
    "pt": ("O meu segundo nome é Benedita.", "Anotado: Benedita."),
    "it": ("Il mio secondo nome è Fortunata.", "Segnato: Fortunata."),
    "zh": ("我的中间名是思雨涵。", "好的,你的中间名是思雨涵。"),
    "ja": ("私のミドルネームは桜子です。", "ミドルネームは桜子ですね。"),
    "ja, a place of two characters": ("私は枕崎で生まれました。", "枕崎、海がきれいなところですね。"),
    "zh, a name alone": ("我的中间名是雪莲华。", "Noted: 雪莲华. What a lovely name!"),
    "de, a name alone": (
        "Mein zweiter Vorname ist Walburga.",
        "Ein schöner Name, den man heute selten hört, Walburga.",
    ),
    "a number": ("My locker is 58 and my floor the third.", "I will remember that for you, 58 is easy."),
    "a name of three letters": ("My sister is called Ada.", "Lovely, say hello to Ada."),
}

LATER = {
    "a name after a title": ("My therapist is Dr. Okonkwo.", "Bye! And Dr. Okonkwo on Tuesday, as you said last week."),
    "a name in capitals": ("My cat is called Bramblewick.", "HELLO BRAMBLEWICK AND GOOD MORNING TO THE GARDEN!"),
    "a name that begins the sentence": ("Wolfram left me.", "Do you miss Wolfram?"),
    "a family": ("My neighbours are the Featherstonehaughs.", "The Featherstonehaugh family again, at the door."),
    "digits without blanks": ("My phone number is 0171 5550199.", "Digits only, as it is to be dialled: 01715550199"),
    "another prefix": ("My phone number is +49 171 5550199.", "Call 0171-5550199 then."),
    "an amount": ("I earn 71,350 euros a year.", "71350 EUR a year is above the median."),
    "an illness": ("i have diabetes.", "Because of your diabetes, take berries."),
    "ru, inflected": ("Моего брата зовут Ерофей.", "Как дела у Ерофея?"),
    "ar": ("اسم ابنتي ريحانة.", "كيف حال ريحانة؟"),
    "ja, Katakana": ("犬の名前はポチタロウです。", "ポチタロウと散歩ですね。"),
}
"""What the assistant says with a line's words in another session."""


async def told(folder: Path, talk: tuple[tuple[str, str, str], ...]) -> Metacognition:
    metacognition = await Metacognition.open(folder / "insula.db", embed=None)
    for session, message, response in talk:
        async with metacognition.turn("ana", session, message) as turn:
            turn.finish(response)
    return metacognition


async def kept(metacognition: Metacognition) -> dict[str, int]:
    """What is remembered, by its words."""
    return {memory.content: memory.id for memory in (await metacognition.list("ana", limit=100)).memories[::-1]}


def disk(folder: Path) -> str:
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


async def test_the_echo_and_the_quotation_go_and_what_the_user_said_elsewhere_is_named(tmp_path: Path) -> None:
    async with await told(tmp_path, TALK) as metacognition:
        gone = await metacognition.delete("ana", (await kept(metacognition))["My middle name is Esperanza."])
        left = {number: text for text, number in (await kept(metacognition)).items() if "Esperanza" in text}
        assert left == dict.fromkeys(gone.others, "My passport also says Esperanza Maria.")
        await metacognition.delete("ana", gone.others[0])
        assert "Every second day, a little in the morning." in disk(tmp_path)
        assert "Esperanza" not in disk(tmp_path), "while the memory is open"
    assert "Esperanza" not in disk(tmp_path)


WISH, OTHER = "From now on, answer in one sentence.", "Please address me as Dr. Hill from now on."
CAT = "My cat is called Bramblewick."


async def test_what_nights_reported_stays_and_can_be_undone_but_for_what_held_the_erased_words(tmp_path: Path) -> None:
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        for session, message in (("a", WISH), ("a", "Thanks."), ("b", OTHER), ("b", CAT)):
            async with metacognition.turn("ana", session, message) as turn:
                turn.finish("All right.")
        await metacognition.sleep("ana", force=True)
        before = await changes_of_nights(metacognition)
        erased = [change for change in before if WISH in change.text]
        assert erased
        numbers = await kept(metacognition)
        await metacognition.delete("ana", numbers[CAT])
        assert await changes_of_nights(metacognition) == before, "no report held words of it"
        await metacognition.delete("ana", numbers[WISH])
        left = await changes_of_nights(metacognition)
    assert left == [change for change in before if change not in erased]
    assert any(OTHER in change.text and change.undo for change in left)
    assert WISH not in disk(tmp_path)


async def changes_of_nights(metacognition: Metacognition) -> list[NightChange]:
    """What all nights changed, as a person reads it."""
    reports = await metacognition.store.read(views.list_phase_reports, "ana", None, 10)
    return [change for night in list_nights(reports) for change in night.changes]


def test_of_a_report_goes_what_was_drawn_from_the_erased_line_and_no_more() -> None:
    before = KeptTexts(
        {("messages", 1): "I have diabetes.", ("messages", 2): "I want it short."},
        {3: "She watches her sugar."},
        {"g1": "Mind the diabetes.", "g2": "Keep it short."},
    )
    gone = compare_texts(before, KeptTexts({("messages", 2): "I want it short."}, {}, {"g2": "Keep it short."}), 7)
    report = {
        "says": ["2 changes.", "From now on: Keep it short.", "No longer: Mind it.", "She watches her sugar."],
        "undo": ["guidance forget g2", "guidance undo g1"],
        "news": ["From now on: Keep it short. (undo: insula guidance forget g2)", "Diabetes it is."],
        "candidates": [{"advice": "Be kind.", "sessions": [7, 8]}, {"advice": "Be brief.", "sessions": [8]}],
        "states": {"g2": "active"},
    }
    assert drop_quotes(report, gone) == {
        "says": ["2 changes.", "From now on: Keep it short.", "", ""],
        "undo": report["undo"],
        "news": ["From now on: Keep it short. (undo: insula guidance forget g2)", ""],
        "candidates": [{"advice": "Be brief.", "sessions": [8]}],
        "states": {"g2": "active"},
    }


@pytest.mark.parametrize("language", WORDS)
async def test_an_echo_goes_in_any_language(tmp_path: Path, language: str) -> None:
    said, echo = WORDS[language]
    async with await told(tmp_path, (("a", said, echo),)) as metacognition:
        await metacognition.delete("ana", (await kept(metacognition))[said])
    assert echo not in disk(tmp_path)
    assert said not in disk(tmp_path)


@pytest.mark.parametrize("case", LATER)
async def test_an_echo_in_another_session_goes(tmp_path: Path, case: str) -> None:
    said, echo = LATER[case]
    talk = (("a", said, "I see."), ("b", "And now to something else.", echo))
    async with await told(tmp_path, talk) as metacognition:
        await metacognition.delete("ana", (await kept(metacognition))[said])
    assert echo not in disk(tmp_path)
    assert said not in disk(tmp_path)


async def test_no_backup_brings_back_what_was_erased(home: Path) -> None:
    def soul(user: str) -> Path:
        return home / "users" / user / "SOUL.md"

    async with await told(home, TALK):
        pass
    assert (await asyncio.to_thread(run_insula, "user", "backup", "ana")).status == 0
    async with await Metacognition.open(home / "insula.db", embed=None, soul=soul) as metacognition:
        for text in ("My middle name is Esperanza.", "My passport also says Esperanza Maria."):
            await metacognition.delete("ana", (await kept(metacognition))[text])
    assert (await asyncio.to_thread(run_insula, "user", "restore", "ana", "--yes")).status == 0
    async with await Metacognition.open(home / "insula.db", embed=None) as metacognition:
        assert any("basil" in text for text in await kept(metacognition))
    assert "Esperanza" not in disk(home)


@pytest.mark.parametrize(
    ("backups", "said"),
    [(0, ""), (1, " The backup was renewed without it."), (2, " 2 backups were replaced by one without it.")],
)
def test_an_erasure_says_of_backups_what_happened(home: Path, backups: int, said: str) -> None:
    async def talk() -> dict[str, int]:
        async with await told(home, TALK) as metacognition:
            return await kept(metacognition)

    number = asyncio.run(talk())["My middle name is Esperanza."]
    for _ in range(backups):
        assert run_insula("user", "backup", "ana").status == 0
    out = run_insula("memory", "erase", str(number), "--user", "ana", "--yes").out
    assert f"lines of the assistant's that repeated it, if any did.{said}\n" in out
    assert len(list(home.rglob("backups/*.jsonl"))) == bool(backups)


async def test_a_session_is_erased_as_a_whole(tmp_path: Path) -> None:
    async with await told(tmp_path, TALK) as metacognition:
        gone = await metacognition.forget("ana", session="tuesday")
        assert gone.memories
        assert gone.left == ""
        assert {memory.session for memory in (await metacognition.list("ana")).memories} == {"monday"}
    assert "passport" not in disk(tmp_path)


async def test_no_cache_of_the_process_holds_what_was_erased(tmp_path: Path) -> None:
    name = "".join(random.choice(letters) for letters in ("bdfgkl", "aeou", "mnprst") * 3)  # in no other text
    async with await Metacognition.open(tmp_path / "insula.db") as metacognition:
        said = f"My dog is called {name}."
        for session, message, response in (("a", said, f"{name} is nice!"), ("b", "What is my dog called?", name)):
            async with metacognition.turn("ana", session, message) as turn:
                turn.finish(response)
        await metacognition.sleep("ana", force=True)
        number = (await kept(metacognition))[said]
        del said, message, response, turn
        assert holders(name)  # what is looked for can be found
        await metacognition.delete("ana", number)
        assert holders(name) == []


def holders(name: str) -> list[str]:
    """What in this process holds a text with a name in it, but for frames, which hold the test's own.

    The collector visits no keys of a dictionary whose keys are all texts.
    """
    gc.collect()
    return [
        repr(cast("object", holder))[:200]
        for holder in gc.get_objects()
        if type(holder).__name__ not in ("frame", "coroutine", "generator")
        for held in (
            *gc.get_referents(holder),
            *(list(cast("dict[object, object]", holder)) if isinstance(holder, dict) else ()),
        )
        if isinstance(held, str) and name in held and held != name
    ]


@pytest.mark.parametrize(
    ("said", "unrelated"),
    [
        ("My rent is due on the 27th.", "Day 27 of the siege brought rain, and the garrison asked for terms."),
        ("Gelber Sack kommt bei uns alle zwei Wochen.", "Das Turnier dauerte drei Wochen, und Brasilien gewann es."),
        ("I go to the Quaker meeting on Friar Street.", "Main street was closed while they laid new pipes there."),
        ("我的房租一个月三千。", "骨折以后一般需要休息一个月才能恢复运动。"),
        ("Pago 10 euros de comunidad.", "10. Remueve la salsa y sirve los platos calientes."),
    ],
)
async def test_a_line_that_shares_a_number_or_an_ordinary_word_stays(tmp_path: Path, said: str, unrelated: str) -> None:
    talk = (("a", said, "I see."), ("b", "Tell me something else.", unrelated))
    async with await told(tmp_path, talk) as metacognition:
        await metacognition.delete("ana", (await kept(metacognition))[said])
    assert unrelated in disk(tmp_path)
    assert said not in disk(tmp_path)
