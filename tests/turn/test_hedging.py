"""Hedging: one sentence of doubt, in the right language, never twice, never in data."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insula import Assessment, Identity, Metacognition, assess

VOICES: Any = ("plain", "formal", "warm")
ANSWERS = {
    "What is the capital?": "The capital of the country is a large city by the river.",
    "¿Cuál es la capital?": "La capital del país es una ciudad grande junto al río.",
    "Quelle est la capitale ?": "La capitale du pays est une grande ville au bord du fleuve.",
    "Was ist die Hauptstadt?": "Die Hauptstadt des Landes ist eine große Stadt am Fluss.",
    "Qual é a capital?": "A capital do país é uma cidade grande junto ao rio.",
    "Qual è la capitale?": "La capitale del paese è una grande città sul fiume.",
    "首都是哪里？": "这个国家的首都是河边的一座大城市。",
    "首都はどこですか？": "その国の首都は川沿いの大きな都市です。",
}
ASKED, ANSWER = next(iter(ANSWERS.items()))


def doubted(message: str, *responses: str, score: float = 0.6, identity: Identity | None = None) -> list[str]:
    """Each response as the user gets it, where the monitor gives it a score and doubt may be said."""

    def judge(*given: Any) -> Assessment:
        return dataclasses.replace(assess(*given), score=score, flags=(), unanswered=(), faults=(), unclear=False)

    made: list[str] = []
    options: dict[str, Any] = {"embed": None, "assess": judge, "claims": ["doubt"], "identity": identity}
    with Metacognition.sync(":memory:", **options) as mind:
        for response in responses:
            with mind.turn("ana", "s", message) as turn:
                made.append(turn.finish(response).response)
    return made


@pytest.mark.parametrize(("score", "hedged"), [(0.49, False), (0.5, True), (0.69, True), (0.7, False), (1.0, False)])
def test_only_between_the_thresholds(score: float, hedged: bool) -> None:
    assert (doubted(ASKED, ANSWER, score=score) != [ANSWER]) is hedged


@pytest.mark.parametrize("voice", VOICES)
def test_in_the_language_of_the_talk_and_only_once(voice: Any) -> None:
    said: set[str] = set()
    for message, response in ANSWERS.items():
        (once,) = doubted(message, response, identity=Identity(voice=voice))
        assert once != response
        assert once.endswith(response)
        said.add(once.removesuffix(response))
        assert doubted(message, once, identity=Identity(voice=voice)) == [once]
    assert len(said) == len(ANSWERS)


def test_every_voice_has_its_own_words() -> None:
    assert len({doubted(ASKED, ANSWER, identity=Identity(voice=voice))[0] for voice in VOICES}) == len(VOICES)


def test_a_sentence_stands_before_the_sentence() -> None:
    assert doubted(ASKED, "Paris.") == ["I am not certain of this. Paris."]
    assert doubted("首都是哪里？", "北京。") == ["对此我不太确定。北京。"]


def test_an_unknown_language_takes_the_identity_s_and_then_english() -> None:
    asked, text = "Какой город столица?", "Столица страны — большой город у реки."
    (german,) = doubted(asked, text, identity=Identity(languages=("de", "en")))
    (english,) = doubted(asked, text, identity=Identity(languages=("ru",)))
    assert german.startswith("Ich bin mir hier nicht sicher.")
    assert english.startswith("I am not certain")


HEDGED = {
    "What is the capital?": ("I think it is Canberra.", "I'm not entirely sure, but it is Canberra."),
    "¿Cuál es la capital?": ("No estoy segura, pero es Canberra.", "No estoy del todo seguro."),
    "Quelle est la capitale ?": ("Je ne suis pas sûre que ce soit Canberra.", "Je ne suis pas certain."),
    "Was ist die Hauptstadt?": ("Ich bin mir nicht ganz sicher.",),
    "Qual é a capital?": ("Não estou certa disso.", "Não tenho certeza."),
    "Qual è la capitale?": ("Non sono sicura che sia Canberra.", "Non sono del tutto certo."),
    "首都是哪里？": ("我不太确定，可能是堪培拉。",),
    "首都はどこですか？": ("確かではありませんが、キャンベラだと思います。",),
}


@pytest.mark.parametrize("message", HEDGED)
def test_who_already_hedges_is_not_hedged_again(message: str) -> None:
    assert doubted(message, *HEDGED[message]) == list(HEDGED[message])


def test_data_and_code_stay_as_they_are() -> None:
    texts = ['{"capital": "Paris"}', "<a>Paris</a>", "capital: Paris\nriver: Seine", "a,b\n1,2\n3,4", "```\nx\n```"]
    texts += ["42", "x = f(1)"]
    assert doubted(ASKED, *texts) == texts


def test_a_block_begins_after_an_empty_line() -> None:
    texts = ["```py\nf()\n```\nThat is all there is to it.", "- red\n- green apples\n- blue sky", "# Title\nText here."]
    assert doubted(ASKED, *texts) == [f"I am not certain of this.\n\n{text}" for text in texts]


@settings(max_examples=30)
@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf")), min_size=1, max_size=200), st.floats(0.0, 1.0))
def test_the_response_itself_is_never_touched(text: str, score: float) -> None:
    (once,) = doubted(ASKED, text, score=score)
    assert once.endswith(text.strip()) or not text.strip()
