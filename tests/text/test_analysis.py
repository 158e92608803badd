"""The analysis of a text: language, sentences, terms."""

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.errors import StoreFull
from insula.text import analysis
from insula.text.analysis import (
    analyse_text,
    clean_text,
    content_words,
    detect_language,
    split_words,
    stem_word,
    term_of,
)

SENTENCES = {
    "en": "What is the capital of the country where you live?",
    "es": "¿Cuál es la capital de Francia?",
    "fr": "Quelle est la capitale de la Mongolie ?",
    "de": "Was ist die Hauptstadt der Mongolei?",
    "pt": "Qual é a capital da Mongólia e quem vive lá?",
    "it": "Qual è la capitale della Mongolia e chi ci vive?",
    "zh": "中国的首都是哪里？",
    "ja": "日本の首都はどこですか？",
    "ko": "한국의 수도는 어디입니까?",
    "ru": "Как транзистор усиливает сигнал?",
    "ar": "ما هي عاصمة المغرب ومن يعيش هناك؟",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_short_question_is_told_by_its_language(language: str) -> None:
    assert detect_language(SENTENCES[language]) == language


@pytest.mark.parametrize("text", ["ok", "Lisbon Porto", "", "42", "```python\nprint(1)\nprint(2)\n``` yes it is so"])
def test_no_language_is_guessed_from_almost_nothing_or_from_code(text: str) -> None:
    assert detect_language(text) == "unknown"


def test_chinese_with_an_ornamental_kana_stays_chinese() -> None:
    assert detect_language("我最喜欢的饮料是鲜の每日牛奶，它很好喝，也很健康") == "zh"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I met Dr. Smith. He is e.g. tall.", ["I met Dr. Smith.", "He is e.g. tall."]),
        ("What is the U.S. population?", ["What is the U.S. population?"]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ('Translate "How are you?" into French', ['Translate "How are you?" into French']),
        ("¿Qué es Python?¿Quién lo creó?", ["¿Qué es Python?", "¿Quién lo creó?"]),
        ("你好。你是谁？", ["你好。", "你是谁？"]),
        ("كيف حالك؟ أنا بخير.", ["كيف حالك؟", "أنا بخير."]),
        ("hi there. how are you? what is up?", ["hi there.", "how are you?", "what is up?"]),
    ],
)
def test_sentences_end_where_sentences_end(text: str, pieces: list[str]) -> None:
    assert [sentence.text for sentence in analyse_text(text).sentences] == pieces


def test_terms_are_stems_without_function_words_or_accents() -> None:
    assert analyse_text("The cafés are running").terms == (stem_word("cafés", "en"), "run")


def test_korean_words_are_terms() -> None:
    assert analyse_text("한국의 수도는 서울입니다").terms


def test_names_are_capitals_where_none_is_due() -> None:
    assert analyse_text("Yesterday I met Ana in Porto.").names == {"ana", "porto"}
    assert analyse_text("Die Katze schläft auf dem Sofa und träumt.").names == frozenset()


@given(st.text(max_size=200))
def test_sentences_are_verbatim_and_in_order(text: str) -> None:
    end = 0
    for sentence in analyse_text(text).sentences:
        found = text.find(sentence.text, end)
        assert found >= 0
        end = found + len(sentence.text)


@given(st.text(max_size=200))
def test_content_words_have_the_terms_of_the_analysis(text: str) -> None:
    terms = {term_of(word, "en") for word in content_words(text, "en")} - {""}
    assert terms >= {word.term for word in split_words(text, "en") if word.term and word.text.isascii()}


def test_what_a_terminal_obeys_is_taken_out_of_a_text() -> None:
    assert clean_text("a\x1b[2Jb\x9b2Jc\x07\u202ed\x85e\nf\tg") == "a[2Jb2Jcd\x85e\nf\tg"


def test_where_temporary_files_have_no_room_the_sentence_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> object:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    analysis._load_identifier.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        with pytest.raises(StoreFull, match=r"No space left on device.*TMPDIR"):
            analysis.warm_up()
    finally:
        monkeypatch.undo()
        analysis._load_identifier.cache_clear()  # pyright: ignore[reportPrivateUsage]
