"""Demands on the form of an answer: read where they are the user's own, and checked exactly."""

import pytest

from insula import assess


def is_broken(message: str, response: str) -> bool:
    """Whether a response breaks what the message demands of its form."""
    return "constraint" in assess(message, response).flags


EXACT = {
    "Describe the sea in exactly five words.": "Blue waves kiss golden sand.",
    "Describe el mar en exactamente cinco palabras.": "Olas azules besan la arena.",
    "Décris la mer en exactement cinq mots.": "Des vagues bleues sans fin.",
    "Beschreibe das Meer in genau fünf Wörtern.": "Blaue Wellen küssen goldenen Sand.",
    "Descreve o mar em exatamente cinco palavras.": "Ondas azuis beijam a areia.",
    "Descrivi il mare in esattamente cinque parole.": "Onde azzurre baciano la sabbia.",
    "用五个字形容大海。": "碧波万里阔。",
    "海を五文字で表してください。": "青い海原よ",
}


@pytest.mark.parametrize("message", EXACT)
def test_an_exact_count_is_kept_or_broken(message: str) -> None:
    assert not is_broken(message, EXACT[message])
    assert is_broken(message, EXACT[message] * 3)


@pytest.mark.parametrize(
    ("message", "kept", "not_kept"),
    [
        ("Answer with only the number: how many legs has a spider?", "8", "A spider has 8 legs."),
        ("Show the planets as a table.", "| a | b |\n|---|---|\n| c | d |", "Mercury, Venus, Earth."),
        ("Give me exactly three reasons to run.", "1. Health\n2. Fun\n3. Air", "1. Health\n2. Fun"),
        ("Name three colors.", "Red, green and blue.", "Red and green."),
        ("Give me the data as JSON.", '```json\n{"a": 1}\n```', "a is 1"),
        ("Explain DNS in at most two sentences.", "Names, e.g. a.com, get addresses.", "One. Two. Three."),
        ("只回答数字：蜘蛛有几条腿？", "8", "蜘蛛有八条腿，分成四对。"),
        ("箇条書きで惑星を挙げてください。", "- 水星\n- 金星", "水星と金星です。"),
    ],
)
def test_each_kind_of_demand_is_counted(message: str, kept: str, not_kept: str) -> None:
    assert (is_broken(message, kept), is_broken(message, not_kept)) == (False, True)


@pytest.mark.parametrize(
    "message",
    [
        "How many words are in three sentences?",
        "What did the author mean in three words?",
        "I wrote three sentences.",
        "Write a story with three characters.",
        "Write a story about two words that fell in love.",
        "My teacher said 'use exactly ten words'. What did she mean?",
        "What is a table in SQL?",
        "Just got in from nights. When do the shops open?",
        "War nur ein Verdacht, der Arzt sagt alles ok. Wann darf ich laufen?",
        "How do I store dates in JSON?",
        "Write a function that returns JSON.",
        "Nenne fünf Städte, jede in einer eigenen Zeile.",
        "I only have three minutes.",
    ],
)
def test_what_only_looks_like_a_demand_is_none(message: str) -> None:
    assert not is_broken(message, "It is so. " * 30)
    assert not is_broken(message, "Well.")


def test_an_introduction_is_looked_past() -> None:
    assert not is_broken("Give me exactly two tips.", "Here you are:\n\n1. Sleep.\n2. Walk.\n\nGood luck!")


# A count of each part of an answer, and the rows of a table, against counts of the whole


@pytest.mark.parametrize(
    ("message", "response"),
    [
        ("Name two French rivers, no more than six letters each.", "Rhone and Seine."),
        ("Nenne drei Städte mit jeweils höchstens zehn Buchstaben.", "Köln, Berlin und Jena."),
        ("Dame tres frases, diez palabras cada una.", "Uno dos tres cuatro cinco seis siete ocho nueve diez. " * 3),
        ("Donne-moi trois phrases de dix mots chacune.", "Un deux trois quatre cinq six sept huit neuf dix. " * 3),
    ],
)
def test_what_is_counted_of_each_part_is_not_asked_of_the_whole(message: str, response: str) -> None:
    assert not is_broken(message, response)


@pytest.mark.parametrize(
    "message",
    [
        "Describe autumn in exactly six words.",
        "Beschreibe den Herbst in genau sechs Wörtern.",
        "Describe el otoño en seis palabras exactas.",
    ],
)
def test_a_count_of_the_whole_still_is(message: str) -> None:
    assert is_broken(message, "word " * 60)


def test_the_lines_of_a_table_are_its_rows_and_its_head_is_none() -> None:
    message = "Mach mir eine Tabelle mit zwei Spalten, Tier und Laut, drei Zeilen reichen."
    table = "| Tier | Laut |\n|---|---|\n| Kuh | muh |\n| Hund | wau |\n| Frosch | quak |"
    assert assess(message, table).passed
    assert is_broken("Erzähle mir von Kühen in höchstens drei Zeilen.", "a\nb\nc\nd\ne")


def test_what_follows_from_a_line_without_its_words_is_doubted_at_most() -> None:
    line = ["Luca non tocca vino da quando prende gli antibiotici."]
    advice = "Qualcosa di analcolico, o un dolce: finché dura la cura non può bere."
    assert assess("Cosa porto alla cena da Luca?", advice, memory=line, level="high").score >= 0.5


# Demands that stand by themselves beside what is asked, and what only looks like one


@pytest.mark.parametrize(
    ("message", "kept", "not_kept"),
    [
        ("Only yes or no: is Paris in France?", "Yes.", "Paris is the capital of France."),
        ("Eight words tops: what is a comet?", "A ball of ice that circles the sun.", "A comet is a ball of ice " * 2),
    ],
)
def test_a_clause_that_holds_nothing_else_demands(message: str, kept: str, not_kept: str) -> None:
    assert (is_broken(message, kept), is_broken(message, not_kept)) == (False, True)


@pytest.mark.parametrize(
    "message",
    [
        "My boss wants it in exactly fifty words, what can I drop?",
        "Mein Chef will den Text in genau fünfzig Wörtern, was streiche ich?",
        "She answered me in one word, is she angry?",
        "In welcher Tabelle stehen die Werte?",
        "Put them in a column, one per line: pear, fig.",
        "I could not have done it without them.",
    ],
)
def test_what_somebody_else_demanded_is_none(message: str) -> None:
    assert not is_broken(message, "It is so. " * 30)
