"""What the user says next of a response: plain corrections and thanks are known, ordinary messages are neither."""

import pytest

from insula.language.guiding import guiding_chance
from insula.memory.retrieval.embedding import embed_each, embed_text
from insula.night.corrections import judge_reaction, only_thanks

CORRECTIONS = (
    *("No, that is wrong.", "No, it was 2008.", "Nein, es war 1969.", "No, fue en 1453.", "Non, c'est faux."),
    *("Não, foi em 1969.", "No, era il 1969.", "不对，是1969年。", "違います、1789年です。"),
)
ORDINARY = (
    *("Is there no museum in my town?", "My brother says the mayor was wrong about the bridge.", "What about Berlin?"),
    *("I have no idea what to cook tonight.", "No problem, see you tomorrow.", "Is it better to fry or to bake it?"),
    *("My train was late again.", "Write a poem about the sea.", "Kann ich Butter statt Öl nehmen?"),
    *("¿Y cuándo se mudó allí?", "Il n'y a pas de lait à la maison.", "Não sei cozinhar.", "今晚没有时间做饭。"),
)
THANKED = ("Thanks!", "Danke, perfekt.", "Muchas gracias", "Merci !", "Obrigado", "Grazie mille!", "谢谢", "ありがとう")


@pytest.mark.parametrize("message", CORRECTIONS)
def test_a_plain_correction_is_known(message: str) -> None:
    assert judge_reaction(message, "", "It was in 1968.", embed_text).kind == "correction"


@pytest.mark.parametrize("message", [*ORDINARY, *THANKED])
def test_an_ordinary_message_corrects_nothing(message: str) -> None:
    assert judge_reaction(message, "What is new?", "It was in 1968.", embed_text).kind == ""


@pytest.mark.parametrize("message", [*ORDINARY, *CORRECTIONS])
def test_only_thanks_are_thanks(message: str) -> None:
    assert not only_thanks(message, embed_text)
    assert all(only_thanks(each, embed_text) for each in THANKED)


def test_what_answers_a_question_of_the_assistants_corrects_nothing() -> None:
    assert judge_reaction("No, coffee.", "", "Do you want tea?", embed_text).kind == ""


@pytest.mark.parametrize(
    "message",
    [
        "Please forget that.",
        "Wrong address, forget it, please.",
        "Das musst du dir nicht merken.",
        "Olvida mi dirección, por favor.",
    ],
)
def test_a_request_to_forget_corrects_nothing(message: str) -> None:
    assert judge_reaction(message, "Where do I live?", "You live in Porto.", embed_text).kind == ""


def test_the_same_request_in_other_words_behind_an_apology_is_a_repair() -> None:
    asked, anew = "set the subjects to hello there", "set the subject to hello there"
    assert judge_reaction(anew, asked, "Sorry, I don't know.", embed_text).kind == "repair"
    assert judge_reaction(anew, asked, "Done.", embed_text).kind == ""
    assert judge_reaction("next email", "next email", "Here is the next email.", embed_text).kind == ""


def test_without_vectors_nothing_is_known() -> None:
    assert judge_reaction("No, that is wrong.", "", "It was in 1968.", None).kind == ""
    assert guiding_chance("corrects", None) is None
    assert guiding_chance("thanks", embed_each(embed_text, ["Hi"])[0][:3]) is None
