"""Measures, days, opposites and denials that two texts can be compared by, in eight languages."""

import pytest

from insula.turn.monitor import assess
from insula.turn.values import Values, opposites, parted, side


@pytest.mark.parametrize(
    ("said", "held", "language"),
    [
        ("Platform 4.", "I leave from platform 14.", "en"),
        ("Le lundi.", "Mon cours passe au mercredi.", "fr"),
        ("Du zahlst 640 Euro.", "Die Miete ist jetzt 720 Euro.", "de"),
        ("在星期一。", "会议改到星期四了。", "zh"),
        ("月曜です。", "歯医者は火曜になった。", "ja"),
    ],
)
def test_another_measure_or_day_is_a_rival(said: str, held: str, language: str) -> None:
    assert Values.of(said, language).rivals(Values.of(held, language))


@pytest.mark.parametrize(
    ("said", "held", "language"),
    [
        ("At 4 pm on platform 14.", "Platform 14.", "en"),
        ("For 3 people.", "It costs 20 euros.", "en"),
        ("On Monday.", "At half past two.", "en"),
        ("Il martedì e il giovedì.", "Il corso è il martedì.", "it"),
        ("On 1 May 2026.", "In 2019.", "en"),
    ],
)
def test_what_agrees_or_is_of_another_kind_is_none(said: str, held: str, language: str) -> None:
    assert not Values.of(said, language).rivals(Values.of(held, language))


@pytest.mark.parametrize(
    ("text", "language", "denied", "held"),
    [
        ("It's not a whippet, it's a spaniel.", "en", "whippet", "spaniel"),
        ("No es un galgo, sino un podenco.", "es", "galgo", "podenco"),
        ("Kein Pudel, sondern ein Spitz.", "de", "pudel", "spitz"),
        ("Ce n'est pas rouge mais vert.", "fr", "rouge", "vert"),
    ],
)
def test_what_a_line_denies_is_told_from_what_it_asserts(text: str, language: str, denied: str, held: str) -> None:
    no, yes = parted(text, language)
    assert denied in no and denied not in yes
    assert held in yes and held not in no


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("I passed.", "I failed again.", "en"),
        ("Sigo casado.", "Nos divorciamos.", "es"),
        ("Er lebt.", "Er ist gestorben.", "de"),
        ("Il est ouvert.", "Il est fermé.", "fr"),
        ("合格した", "不合格だった", "ja"),
    ],
)
def test_opposites_name_other_sides(one: str, other: str, language: str) -> None:
    sides = [(side(pair, one), side(pair, other)) for pair in opposites(language)]
    if language == "ja":  # the one word stands within the other
        assert (0, None) in sides or (0, 1) in sides
    else:
        assert (0, 1) in sides


def test_what_contradicts_memory_is_doubted_and_never_called_poor() -> None:
    judged = assess("Did I pass my test?", "Yes, you passed!", memory=["I failed the test again."], level="high")
    assert "ignored_memory" in judged.flags
    assert 0.5 <= judged.score < 0.7


def test_the_agents_own_doings_are_no_question_to_memory() -> None:
    line = "Cool, sounds like a fun game!"
    assert assess("What game were you playing?", "Chess, as always.", memory=[line], level="high").passed


def test_the_words_of_a_line_about_another_name_are_doubted() -> None:
    memory = ["I moved to Aveiro last weekend.", "I live in Porto."]
    judged = assess("Where do I live now?", "You moved to Porto last weekend.", memory=memory, level="high")
    assert "ignored_memory" in judged.flags
    assert assess("Where do I live now?", "You moved to Aveiro last weekend.", memory=memory, level="high").passed
