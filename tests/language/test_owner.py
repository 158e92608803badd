"""Whose a clause is, over a table of cases by hand in eight languages, with innocent look-alikes."""

import pytest

from insula.language.owner import find_owners, owners_may_match
from insula.language.statements import classify_modality

CASES = [
    ("en", "I moved to Lisbon.", {"user"}),
    ("en", "My sister lives in Lisbon.", {"user/sister"}),
    ("en", "My boss's dog is called Rex.", {"user/boss/dog"}),
    ("en", "My sister Ana works at a bank.", {"user/sister", "ana"}),
    ("en", "I told Nuria I can't bear liquorice.", {"user"}),
    ("en", "Priya mentioned she's colour-blind.", {"priya"}),
    ("en", "My wife and I moved to Lisbon.", {"user/wife", "user"}),
    ("en", "I have a dog named Rex.", {"user", "user/dog"}),
    ("en", "I live with my sister.", {"user"}),
    ("en", "They're putting my rent up to 925.", {"user"}),
    ("en", "The deadline is on Friday.", {""}),
    ("en", "Pablo, my boss, is left-handed.", {"user/boss", "pablo"}),
    ("en", "Tuesdays I've got pilates.", {"user"}),
    ("en", "Our beagle is eleven.", {"user/dog"}),
    ("de", "Mein Dackel schnarcht.", {"user/dog"}),
    ("es", "Es que mi marido está en Huelva.", {"user/husband"}),
    ("es", "¿Qué perro es más listo?", {"user"}),
    ("zh", "老二上个月出生了。", {"user/child"}),
    ("de", "Die Frau meines Chefs ist Pilotin.", {"user/boss/wife"}),
    ("de", "Frau Schmidt ist meine Chefin.", {"schmidt"}),
    ("de", "Die Frau Dr. Weber wohnt in Ulm.", {"weber"}),
    ("de", "Meine Frau heißt Silke.", {"user/wife"}),
    ("de", "Ich habe meiner Ärztin gesagt, dass ich kaum schlafe.", {"user"}),
    ("de", "Lukas nimmt immer Pistazie.", {"lukas"}),
    ("de", "Kaffee trinke ich keinen.", {"user"}),
    ("fr", "Le chien de ma voisine s'appelle Rex.", {"user/neighbour/dog"}),
    ("fr", "Ma sœur m'a annoncé qu'elle attendait des jumeaux.", {"user/sister"}),
    ("fr", "J'habite à Nantes.", {"user"}),
    ("es", "Mi jefa está embarazada.", {"user/boss"}),
    ("es", "A mi hermana le gusta el café.", {"user/sister"}),
    ("es", "Le conté a Marcos que me dan pánico los ascensores.", {"user"}),
    ("es", "Vivo en un sexto.", {"user"}),
    ("pt", "A minha mãe é do Porto.", {"user/mother"}),
    ("pt", "O Rui contou-me que foi despedido.", {"rui"}),
    ("it", "Il collega di mia moglie vive a Bolzano.", {"user/wife/colleague"}),
    ("it", "Ho detto a Chiara che non sopporto il jazz.", {"user"}),
    ("zh", "我爸从早到晚听相声。", {"user/father"}),
    ("zh", "老板的太太是律师。", {"user/boss/wife"}),
    ("zh", "我当老师。", {"user"}),
    ("ja", "妹は看護学校に通っています。", {"user/sister"}),
    ("ja", "友達が飼っている犬は柴犬です。", {"user/friend/dog"}),
    ("ja", "医者に、膝が痛いと伝えました。", {"user"}),
]


@pytest.mark.parametrize(("language", "text", "subjects"), CASES)
def test_a_clause_is_about_whom_it_says_it_is(language: str, text: str, subjects: set[str]) -> None:
    assert find_owners(text, language, "user", "assistant").subjects == subjects


def test_he_and_she_are_whoever_was_spoken_of() -> None:
    assert find_owners("She is ten.", "en", "user", "assistant", ["user/cat"]).subjects == {"user/cat"}


@pytest.mark.parametrize(
    ("asked", "said", "fit"),
    [
        ({"user"}, {"user/sister"}, False),
        ({"user/partner"}, {"user/wife"}, True),
        ({"user/sister", "ana"}, {"user/sister", "eva"}, False),
        ({"pablo", "user/son"}, {"pablo", "user/boss"}, False),
        ({"user"}, set[str](), True),
    ],
)
def test_what_is_said_of_another_is_not_of_the_one_asked_about(asked: set[str], said: set[str], fit: bool) -> None:
    assert owners_may_match(frozenset(asked), frozenset(said)) is fit


# How a clause is meant, over cases by hand, with innocent look-alikes


@pytest.mark.parametrize(
    ("language", "clause", "meant"),
    [
        ("es", "Voy a comprar un coche.", "plan"),
        ("es", "Vamos a mudarnos a Lugo.", "plan"),
        ("es", "Voy a todas partes en bici.", "fact"),
        ("fr", "Je vais acheter un vélo.", "plan"),
        ("fr", "On va se marier en mai.", "plan"),
        ("fr", "Je vais à la piscine le lundi.", "fact"),
        ("fr", "Mon fils va chez sa grand-mère le mercredi.", "fact"),
        ("pt", "Vou comprar um carro.", "plan"),
        ("pt", "A minha irmã vai casar em outubro.", "plan"),
        ("pt", "Vou ao ginásio às terças.", "fact"),
        ("pt", "Minha mulher torce pelo Porto, imagina o domingo.", "fact"),
        ("pt", "Imagina que eu moro em Marte.", "hypothetical"),
        ("it", "Mio fratello tifa Roma, immagina la domenica.", "fact"),
        ("en", "Imagine I lived on a boat.", "hypothetical"),
    ],
)
def test_who_goes_somewhere_plans_nothing_and_an_aside_supposes_nothing(language: str, clause: str, meant: str) -> None:
    assert classify_modality(clause, language) == meant
