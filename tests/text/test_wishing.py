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


def stands(text: str, language: str = "en") -> bool:
    return any(one.force == "standing" for one in wishes(text, language))


def found(new: str, old: str, language: str = "en") -> str:
    relations = (relation(wish, old) for wish in wishes(new, language))
    return next((one for one in relations if one != "unrelated"), "unrelated")


def test_nine_standing_wishes_of_ten_are_heard_and_hardly_any_other_word() -> None:
    heard = [stands(row["text"], row["lang"]) for row in TABLE if row["standing"]]
    others = [row["text"] for row in TABLE if not row["standing"] and stands(row["text"], row["lang"])]
    assert sum(heard) >= 0.95 * len(heard)
    assert len(others) <= 0.03 * (len(TABLE) - len(heard))


def test_nine_pairs_of_ten_are_told_apart_and_no_opposites_are_taken_for_the_same() -> None:
    told = [(pair, found(pair.new, pair.old, pair.language)) for pair in PAIRS]
    assert sum(one in pair.relations for pair, one in told) >= 0.9 * len(told)
    assert not [pair for pair, one in told if pair.relations[0] == "contradicts" and one == "same"]


def test_of_the_third_table_hardly_a_pair_that_takes_back_or_contradicts_leaves_the_old_wish() -> None:
    gone = [pair for pair in THIRD if pair.relations[0] in ("contradicts", "lifts")]
    left = [pair for pair in gone if found(pair.new, pair.old, pair.language) == "unrelated"]
    others = [pair for pair in THIRD if pair.relations[0] == "unrelated"]
    wrong = [pair for pair in others if found(pair.new, pair.old, pair.language) != "unrelated"]
    assert len(left) <= 0.18 * len(gone)
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
    assert stands("shorter please")
    heard = wishes("shorter please", previous="Write me an email to my landlord about the heating.")
    assert [one.force for one in heard] == ["asked"]


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


def test_what_a_sentence_means_makes_a_wish_of_it_that_its_words_do_not_unless_they_forbid_it() -> None:
    said = "Let the grinning things rest when you text me back."
    assert not stands(said)
    assert [one.force for one in wishes(said, meant=((said, 0.99),))] == ["standing"]
    once = "Just this once, a list."
    assert [one.force for one in wishes(once, meant=((once, 0.99),))] != ["standing"]
    assert not wishes("Do you always write lists?", meant=(("Do you always write lists?", 0.99),))


def test_a_wish_by_its_words_that_means_something_else_is_not_told_at_once() -> None:
    said = "I prefer bullet points, they hit the target."
    assert stands(said)
    assert [one.force for one in wishes(said, meant=((said, 0.001),))] == ["asked"]
