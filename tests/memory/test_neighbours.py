"""Whose a sentence is that begins with a name and where its owner lives, and with what looks like that."""

import pytest

from insula.memory.assertion import statements
from insula.memory.encoding import ASSISTANT, USER
from insula.text.analysis import analyse

NEIGHBOURS = [
    ("en", "Dominic next door is scared of spiders.", "dominic"),
    ("en", "Oriol across the road keeps bees and is proud.", "oriol"),
    ("de", "Dominik von nebenan hat Angst vor Spinnen.", "dominik"),
    ("fr", "Dominique d'à côté a peur des araignées.", "dominique"),
    ("es", "Gervasio el de al lado tiene tres gatos.", "gervasio"),
    ("pt", "Serafim do lado tem medo de aranhas.", "serafim"),
    ("it", "Ubaldo di sopra ha un pianoforte.", "ubaldo"),
]
OWN = [
    ("en", "Moved from Leeds, it was hard."),
    ("en", "Moved next door, it is quieter here."),
    ("en", "Straight from work I went to the gym."),
    ("en", "Back from Rome, I was tired."),
    ("en", "Stuck at home, it is raining."),
    ("de", "Oben habe ich mein Büro."),
    ("it", "Di sopra ho lo studio."),
]


@pytest.mark.parametrize(("language", "text", "who"), NEIGHBOURS)
def test_whoever_is_said_to_live_somewhere_before_the_verb_is_somebody(language: str, text: str, who: str) -> None:
    assert statements(analyse(text, default=language), USER, ASSISTANT, [])[0].subjects == {who}


@pytest.mark.parametrize(("language", "text"), OWN)
def test_a_place_at_the_beginning_makes_nobody_of_the_word_before_it(language: str, text: str) -> None:
    assert all(one.subjects == {USER} for one in statements(analyse(text, default=language), USER, ASSISTANT, []))
