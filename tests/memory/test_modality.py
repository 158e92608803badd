"""How a clause is meant, over cases by hand, with innocent look-alikes."""

import pytest

from insula.language.modality import classify_modality


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
