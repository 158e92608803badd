"""Whose a sentence is that begins with a name and where its owner lives, and with what looks like that."""

import pytest

from insula.language.owner import ASSISTANT, USER
from insula.language.statements import extract_statements
from insula.text.analysis import analyse

NEIGHBOURS = [
    ("en", "Dominic next door is scared of spiders.", "dominic"),
    ("en", "Oriol across the road keeps bees and is proud.", "oriol"),
    ("de", "Dominik von nebenan hat Angst vor Spinnen.", "dominik"),
    ("fr", "Dominique d'à côté a peur des araignées.", "dominique"),
    ("es", "Gervasio el de al lado tiene tres gatos.", "gervasio"),
    ("pt", "Serafim do lado tem medo de aranhas.", "serafim"),
    ("it", "Ubaldo di sopra ha un pianoforte.", "ubaldo"),
    ("en", "Iraultza, the one on the third floor, is allergic to nuts.", "iraultza"),
    ("es", "Iraultza, la del tercero, es alérgica a los frutos secos.", "iraultza"),
    ("fr", "Maëlle, celle du troisième, est allergique aux noix.", "maelle"),
    ("it", "Gino, quello del terzo piano, è allergico alle noci.", "gino"),
    ("pt", "O Nuno, o do terceiro, é alérgico a nozes.", "nuno"),
    ("pt", "O Nuno é alérgico a nozes.", "nuno"),
    ("it", "La Fulvia ha tre gatti.", "fulvia"),
    ("de", "Jonas, der aus dem dritten Stock, ist gegen Nüsse allergisch.", "jonas"),
]
OWN = [
    ("en", "Moved from Leeds, it was hard."),
    ("en", "Moved next door, it is quieter here."),
    ("en", "Straight from work I went to the gym."),
    ("en", "Back from Rome, I was tired."),
    ("en", "Stuck at home, it is raining."),
    ("de", "Oben habe ich mein Büro."),
    ("it", "Di sopra ho lo studio."),
    ("pt", "O Porto é a minha cidade favorita."),
    ("es", "El Betis es mi equipo de toda la vida."),
    ("it", "Il Fulmine è la mia barca."),
    ("en", "Yesterday, the day of the move, I slept on the floor."),
    ("es", "Ayer, el día de la mudanza, dormí en el suelo."),
    ("fr", "Hier, le jour du déménagement, j'ai dormi par terre."),
]


@pytest.mark.parametrize(("language", "text", "who"), NEIGHBOURS)
def test_whoever_is_said_to_live_somewhere_before_the_verb_is_somebody(language: str, text: str, who: str) -> None:
    assert extract_statements(analyse(text, default=language), USER, ASSISTANT, [])[0].subjects == {who}


@pytest.mark.parametrize(("language", "text"), OWN)
def test_a_place_at_the_beginning_makes_nobody_of_the_word_before_it(language: str, text: str) -> None:
    assert all(
        one.subjects == {USER} for one in extract_statements(analyse(text, default=language), USER, ASSISTANT, [])
    )
