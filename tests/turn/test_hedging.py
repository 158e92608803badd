"""Hedging: one sentence of doubt, in the right language, never twice, never in data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula import Assessment, Identity
from insula.claims import REGISTER
from insula.text.analysis import LANGUAGES
from insula.turn.hedging import hedge_response, is_hedged
from insula.types import Parts, Voice

VOICES: tuple[Voice, ...] = ("plain", "formal", "warm")
ANSWERS = {
    "en": "The capital of the country is a large city by the river.",
    "es": "La capital del país es una ciudad grande junto al río.",
    "fr": "La capitale du pays est une grande ville au bord du fleuve.",
    "de": "Die Hauptstadt des Landes ist eine große Stadt am Fluss.",
    "pt": "A capital do país é uma cidade grande junto ao rio.",
    "it": "La capitale del paese è una grande città sul fiume.",
    "zh": "这个国家的首都是河边的一座大城市。",
    "ja": "その国の首都は川沿いの大きな都市です。",
}


def doubted(response: str, assessment: Assessment, identity: Identity, language: str | None = None) -> str:
    """The response where every claim is switched on."""
    return hedge_response(response, assessment, identity, language, frozenset(REGISTER)).text


def assessed(score: float) -> Assessment:
    parts = Parts(responsiveness=score, completeness=1.0, consistency=1.0, length_ok=True, repetition=False)
    return Assessment(score=score, flags=(), parts=parts)


@pytest.mark.parametrize(("score", "hedged"), [(0.49, False), (0.5, True), (0.69, True), (0.7, False), (1.0, False)])
def test_only_between_the_thresholds(score: float, hedged: bool) -> None:
    assert (doubted(ANSWERS["en"], assessed(score), Identity()) != ANSWERS["en"]) is hedged


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("voice", VOICES)
def test_in_the_language_of_the_response_and_only_once(language: str, voice: Voice) -> None:
    identity = Identity(voice=voice)
    once = doubted(ANSWERS[language], assessed(0.6), identity)
    assert once.endswith(ANSWERS[language])
    assert is_hedged(once, language)
    assert not is_hedged(ANSWERS[language], language)
    assert doubted(once, assessed(0.6), identity) == once


def test_every_voice_has_its_own_words() -> None:
    spoken = {doubted(ANSWERS["en"], assessed(0.6), Identity(voice=voice)) for voice in VOICES}
    assert len(spoken) == len(VOICES)


def test_a_sentence_stands_before_the_sentence() -> None:
    assert doubted("Paris.", assessed(0.6), Identity()) == "I am not certain of this. Paris."
    assert doubted("北京。", assessed(0.6), Identity()) == "对此我不太确定。北京。"


def test_an_unknown_language_takes_the_identity_s_and_then_english() -> None:
    text = "Столица страны — большой город у реки."
    assert doubted(text, assessed(0.6), Identity(languages=("de", "en"))).startswith("Ich bin mir hier nicht sicher.")
    assert doubted(text, assessed(0.6), Identity(languages=("ru",))).startswith("I am not certain")
    assert doubted("Paris.", assessed(0.6), Identity(languages=("fr",)), "es").startswith("No tengo plena certeza")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I think it is Canberra.", "en"),
        ("I'm not entirely sure, but it is Canberra.", "en"),
        ("No estoy segura, pero es Canberra.", "es"),
        ("No estoy del todo seguro.", "es"),
        ("Je ne suis pas sûre que ce soit Canberra.", "fr"),
        ("Je ne suis pas certain.", "fr"),
        ("Ich bin mir nicht ganz sicher.", "de"),
        ("Não estou certa disso.", "pt"),
        ("Não tenho certeza.", "pt"),
        ("Non sono sicura che sia Canberra.", "it"),
        ("Non sono del tutto certo.", "it"),
        ("我不太确定，可能是堪培拉。", "zh"),
        ("確かではありませんが、キャンベラだと思います。", "ja"),
        ("No estoy segura.", "unknown"),
    ],
)
def test_who_already_hedges_is_not_hedged_again(text: str, language: str) -> None:
    assert is_hedged(text, language)
    assert doubted(text, assessed(0.6), Identity(), None if language == "unknown" else language) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"capital": "Paris"}',
        "<a>Paris</a>",
        "capital: Paris\nriver: Seine",
        "a,b\n1,2\n3,4",
        "```\nx\n```",
        "42",
        "x = f(1)",
    ],
)
def test_data_and_code_stay_as_they_are(text: str) -> None:
    assert doubted(text, assessed(0.6), Identity()) == text


@pytest.mark.parametrize(
    "text", ["```py\nf()\n```\nThat is all there is to it.", "- red\n- green apples\n- blue sky", "# Title\nText here."]
)
def test_a_block_begins_after_an_empty_line(text: str) -> None:
    assert doubted(text, assessed(0.6), Identity(), "en") == f"I am not certain of this.\n\n{text}"


@given(st.text(max_size=200), st.floats(0.0, 1.0), st.sampled_from(VOICES), st.sampled_from([None, "en", "zh", "ru"]))
def test_the_response_itself_is_never_touched(text: str, score: float, voice: Voice, language: str | None) -> None:
    once = doubted(text, assessed(score), Identity(voice=voice), language)
    assert once.endswith(text)
    assert doubted(once, assessed(score), Identity(voice=voice), language) == once
