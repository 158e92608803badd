"""Wishes on the manner of answers: heard in eight languages, and not where they are somebody else's or for now."""

import json
from pathlib import Path
from typing import Any

import pytest

from insula.text.analysis import analyse
from insula.text.relations import relation
from insula.text.slots import slots
from insula.text.wishing import Wish, wishes
from insula_bench import pairs

HERE = Path(__file__).parent
TABLE: list[dict[str, Any]] = [json.loads(line) for line in (HERE / "wishes.jsonl").read_text("utf-8").splitlines()]
PAIRS, THIRD = (pairs.read(name) for name in pairs.TABLES[:2])


HEARD = {"standing", "asked"}


def forces(text: str, language: str = "en", previous: str = "") -> set[str]:
    return {one.force for one in wishes(text, language, previous)}


def stands(text: str, language: str = "en") -> bool:
    return "standing" in forces(text, language)


def found(new: str, old: str, language: str = "en") -> str:
    relations = (relation(wish, old) for wish in wishes(new, language))
    return next((one for one in relations if one != "unrelated"), "unrelated")


def test_seven_preferences_of_ten_are_heard_at_once_nine_once_asked_for_again_and_hardly_any_other_word() -> None:
    heard = [forces(row["text"], row["lang"]) for row in TABLE if row["standing"]]
    others = [row["text"] for row in TABLE if not row["standing"] and forces(row["text"], row["lang"]) & HEARD]
    assert sum("standing" in one for one in heard) >= 0.7 * len(heard)
    assert sum(bool(one & HEARD) for one in heard) >= 0.9 * len(heard)
    assert len(others) <= 0.01 * (len(TABLE) - len(heard))


def test_eight_pairs_of_ten_are_told_apart_and_no_opposites_are_taken_for_the_same() -> None:
    told = [(pair, found(pair.new, pair.old, pair.language)) for pair in PAIRS]
    assert sum(one in pair.relations for pair, one in told) >= 0.8 * len(told)
    assert not [pair for pair, one in told if pair.relations[0] == "contradicts" and one == "same"]


def test_of_the_third_table_six_pairs_of_ten_that_take_back_or_contradict_end_the_old_wish_and_hardly_another() -> None:
    gone = [pair for pair in THIRD if pair.relations[0] in ("contradicts", "lifts")]
    left = [pair for pair in gone if found(pair.new, pair.old, pair.language) == "unrelated"]
    others = [pair for pair in THIRD if pair.relations[0] == "unrelated"]
    wrong = [pair for pair in others if found(pair.new, pair.old, pair.language) != "unrelated"]
    assert len(left) <= 0.4 * len(gone)
    assert len(wrong) <= 0.1 * len(others)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Only for the poster: write it without capitals.", "en"),
        ("Nur heute Abend: gib mir Uhrzeiten mit am und pm.", "de"),
        ("En la pared leí: «Sé breve»", "es"),
        ("I like lists in films.", "en"),
        ("Klar, schick mir noch zwanzig Listen, ich bin noch nicht eingeschlafen.", "de"),
    ],
)
def test_what_is_for_one_text_quoted_of_the_world_or_mocked_is_no_standing_wish(text: str, language: str) -> None:
    assert not stands(text, language)


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("Stop giving me lists. I want normal paragraphs.", [("layout", "bullets", False), ("layout", "prose", True)]),
        ("never use emojis", [("emoji", "off", True)]),
        ("Please don't give sizes in feet, use metres.", [("system", "metric", True)]),
        ("Never more than two sentences.", [("length", "short", True)]),
        ("Call me Dr. Hill, not Marta.", [("name", "dr. hill", True)]),
        ("Hör bitte auf, mich Frau Doktor zu nennen.", [("name", "frau doktor", False)]),
        ("Je ne comprends que les degrés Celsius.", [("temperature", "celsius", True)]),
        ("摂氏しか分かりません。", [("temperature", "celsius", True)]),
        ("I need 30 miles of cable.", []),
        ("No, the capital is Canberra.", []),
    ],
)
def test_what_is_wanted_is_told_from_what_is_not(text: str, wants: list[tuple[str, str, bool]]) -> None:
    heard = [slot.wants for sentence in analyse(text).sentences for slot in slots(sentence.text)]
    assert heard == wants


def test_a_referent_is_what_was_said_just_before() -> None:
    (wish,) = wishes("I like it when you finish your answers with a question. Always do that.")[-1:]
    assert [slot.wants for slot in wish.slots] == [("closing", "question", True)]
    (shown,) = wishes("That format is perfect, always do that.", response="- one\n- two\n- three")
    assert [slot.wants for slot in shown.slots] == [("layout", "bullets", True)]


def test_a_bidding_beside_a_task_is_for_now_unless_it_says_otherwise() -> None:
    assert not stands("Write a haiku about rain in lower case.")
    assert not stands("What is the capital of Peru? Answer in French.")
    assert stands("What is the capital of Peru? And always answer in French.")


def test_a_short_wish_after_a_text_that_was_ordered_is_about_that_text() -> None:
    order = "Write me an email to my landlord about the heating."
    assert forces("shorter please") == {"asked"}
    assert not forces("shorter please", previous=order) & HEARD
    assert not stands("Write a tweet. Never more than 20 words.")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("From now on I will go running every morning.", "en"),
        ("Would you rather always answer in French or never answer at all?", "en"),
        ("Nunca salgo de casa sin mi paraguas.", "es"),
        ("Siempre respondo los correos en inglés.", "es"),
        ("Désormais je cours tous les matins.", "fr"),
        ("Ab jetzt gehe ich jeden Morgen laufen.", "de"),
        ("Sempre respondo em inglês no trabalho.", "pt"),
        ("Rispondo sempre in inglese ai clienti.", "it"),
        ("我以前总是用英文写日记。", "zh"),
        ("いつも英語でメールを書いています。", "ja"),
    ],
)
def test_a_habit_or_a_plan_of_the_users_own_is_no_preference(text: str, language: str) -> None:
    assert not forces(text, language) & HEARD


@pytest.mark.parametrize(
    "text", ["", "   ", "?" * 3_000, "Always " * 400, "From now on\nanswer in French\nand ignore me"]
)
def test_bad_input_wishes_nothing(text: str) -> None:
    assert not stands(text)


def test_two_opposites_in_one_sentence_are_no_two_wishes() -> None:
    assert len(wishes("Always use Celsius and always use Fahrenheit.")) <= 1


def test_a_wish_without_a_slot_is_compared_by_its_words() -> None:
    new = Wish("From now on use external libraries.", (), "standing")
    assert relation(new, "Never use external libraries.") == "contradicts"
    assert relation(new, "Always remind me to drink water.") == "unrelated"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "funny, always thought they were the same"),
        ("es", "qué corto, siempre pensé que eran dos"),
        ("fr", "drôle, j'ai toujours cru que c'était pareil"),
        ("it", "divertente, ho sempre pensato che fossero uguali"),
        ("pt", "curto, sempre achei que eram iguais"),
        ("zh", "好笑，我一直以为是一样的"),
        ("ja", "短い、いつも同じだと思ってた"),
    ],
)
def test_an_always_of_another_part_makes_no_remark_a_wish(language: str, said: str) -> None:
    assert not stands(said, language)
    assert stands("Short answers, always.") and stands("always, in Celsius")
