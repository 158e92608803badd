"""A count of each part of an answer, and the rows of a table, against counts of the whole."""

import pytest

from insula.text.analysis import analyse_text
from insula.text.constraints import find_constraints
from insula.turn.monitor import assess


def kinds(message: str, language: str) -> set[str]:
    return {one.kind for one in find_constraints(analyse_text(message, default=language))}


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "Name two French rivers, no more than six letters each."),
        ("de", "Nenne drei Städte mit jeweils höchstens zehn Buchstaben."),
        ("es", "Dame tres frases, diez palabras cada una."),
        ("fr", "Donne-moi trois phrases de dix mots chacune."),
    ],
)
def test_what_is_counted_of_each_part_is_not_asked_of_the_whole(language: str, message: str) -> None:
    assert kinds(message, language).isdisjoint({"letters", "words", "characters"})


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "Describe autumn in exactly six words."),
        ("de", "Beschreibe den Herbst in genau sechs Wörtern."),
        ("es", "Describe el otoño en seis palabras exactas."),
    ],
)
def test_a_count_of_the_whole_still_is(language: str, message: str) -> None:
    assert "words" in kinds(message, language)


def test_the_lines_of_a_table_are_its_rows_and_its_head_is_none() -> None:
    message = "Mach mir eine Tabelle mit zwei Spalten, Tier und Laut, drei Zeilen reichen."
    table = "| Tier | Laut |\n|---|---|\n| Kuh | muh |\n| Hund | wau |\n| Frosch | quak |"
    assert assess(message, table).passed
    assert "lines" in kinds("Erzähle mir von Kühen in höchstens drei Zeilen.", "de")


def test_what_follows_from_a_line_without_its_words_is_doubted_at_most() -> None:
    line = ["Luca non tocca vino da quando prende gli antibiotici."]
    advice = "Qualcosa di analcolico, o un dolce: finché dura la cura non può bere."
    assert assess("Cosa porto alla cena da Luca?", advice, memory=line, level="high").score >= 0.5
