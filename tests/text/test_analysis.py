"""A text: its words, stems and language, and whether a response is in the language that was expected."""

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
from insula.text.languages import expected_languages, in_wrong_language

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


def test_words_of_several_languages_are_of_the_one_that_is_spoken() -> None:
    assert [detect_language("Call me Nina.", spoken) for spoken in ("en", "pt", "ja")] == ["en", "pt", "pt"]


@pytest.mark.parametrize("text", ["Olvida mi alergia.", "Borra mi nombre.", "Tira la leche pasada."])
def test_a_short_sentence_is_told_among_the_languages_of_its_function_words(text: str) -> None:
    assert detect_language(text) == "es"


@pytest.mark.parametrize("text", ["ok", "Lisbon Porto", "", "42", "```python\nprint(1)\nprint(2)\n``` yes it is so"])
def test_no_language_is_guessed_from_almost_nothing_or_from_code(text: str) -> None:
    assert detect_language(text) == "unknown"


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


# Which language an answer may be in, and whether it plainly is in another


ANSWERS = {
    "en": "The capital of the country is a large city by the river, and many people live there.",
    "es": "La capital del país es una ciudad grande junto al río, y mucha gente vive allí.",
    "fr": "La capitale du pays est une grande ville au bord du fleuve, et beaucoup de gens y vivent.",
    "de": "Die Hauptstadt des Landes ist eine große Stadt am Fluss, und viele Menschen leben dort.",
    "pt": "A capital do país é uma cidade grande junto ao rio, e muita gente vive lá.",
    "it": "La capitale del paese è una grande città sul fiume, e molta gente ci vive.",
    "zh": "这个国家的首都是河边的一座大城市，那里住着很多人。",
    "ja": "その国の首都は川沿いの大きな都市で、多くの人が住んでいます。",
    "ru": "Столица страны — большой город у реки, и там живёт много людей.",
    "ar": "عاصمة البلاد مدينة كبيرة على ضفاف النهر، ويعيش فيها كثير من الناس.",
    "nl": "De hoofdstad van het land is een grote stad aan de rivier, en er wonen veel mensen.",
}


def wrong(message: str, answer: str, own: tuple[str, ...] = ()) -> bool:
    return in_wrong_language(answer, expected_languages(analyse_text(message), own))


@pytest.mark.parametrize("message", ANSWERS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_wrong_exactly_where_its_language_is_another(message: str, answer: str) -> None:
    assert wrong(ANSWERS[message], ANSWERS[answer]) is (message != answer)


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Answer in German: what is the capital of Italy?", "de"),
        ("What is the capital of Italy? In Spanish, please.", "es"),
        ("Explain gravity in French.", "fr"),
        ("Translate this into Italian: the house is by the river.", "it"),
        ("Responde en inglés: ¿cuál es la capital de Italia?", "en"),
        ("Traduce al francés: la casa está junto al río.", "fr"),
        ("Réponds en anglais : quelle est la capitale de l'Italie ?", "en"),
        ("Antworte bitte auf Englisch: Was ist die Hauptstadt von Italien?", "en"),
        ("Responda em inglês: qual é a capital da Itália?", "en"),
        ("Rispondi in inglese: qual è la capitale d'Italia?", "en"),
        ("请用英文回答：意大利的首都是哪里？", "en"),
        ("英語で答えてください：イタリアの首都はどこですか？", "en"),
        ("What is the capital of Italy? Reply in Japanese.", "ja"),
    ],
)
def test_the_language_asked_for_comes_before_that_of_the_message(message: str, language: str) -> None:
    assert expected_languages(analyse_text(message)).languages == {language}
    assert not wrong(message, ANSWERS[language])
    assert wrong(message, ANSWERS["ru"])


@pytest.mark.parametrize(
    "message",
    [
        "How do you say cat in French?",
        "Is it available in Spanish?",
        "What does the word Haus mean in German?",
        "Don't answer in French, what is the capital of Italy?",
    ],
)
def test_a_question_about_a_language_may_be_answered_in_its_own(message: str) -> None:
    assert not wrong(message, ANSWERS["en"])


def test_the_identity_decides_where_the_message_says_nothing() -> None:
    assert wrong("ok", ANSWERS["fr"], own=("de", "en"))
    assert not wrong("ok", ANSWERS["de"], own=("de", "en"))
    assert not wrong("ok", ANSWERS["fr"])


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("How do I list files in the terminal?", "```sh\nls -la /usr/local\n```"),
        ("Who won the match yesterday evening?", "Borussia Dortmund"),
        ("What does the title of the song mean?", 'It is called "La vie en rose", by Édith Piaf.'),
        ("Welches Framework soll ich für die Seite nehmen?", "FastAPI mit Jinja2 und htmx."),
        ("哪款手机最好？", "iPhone 15 Pro Max"),
        ("東京はどこですか？", "東京都新宿区"),
        ("What is 2+2?", "4"),
        ("What is the meaning of 你好 in your view?", "你好"),
    ],
)
def test_code_names_and_quotations_have_no_language(message: str, answer: str) -> None:
    assert not wrong(message, answer)


def test_a_long_answer_is_judged_by_most_of_it() -> None:
    assert not wrong(ANSWERS["en"], ANSWERS["en"] * 12 + ANSWERS["fr"] * 4)
    assert wrong(ANSWERS["en"], ANSWERS["en"] + ANSWERS["fr"] * 20)


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_raises(message: str, answer: str) -> None:
    assert wrong(message, answer) in {True, False}


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("My shoe size is 39. I live in Lisbon.", "en", 2),
        ("Je fais du 39. J'habite à Lyon.", "fr", 2),
        ("Ich habe Größe 39. Ich wohne in Graz.", "de", 2),
        ("Am 9. November komme ich in den 3. Stock.", "de", 1),
        ("To buy: 1. Eggs 2. Milk", "en", 1),
        ("1. Eggs 2. Milk 3. Bread", "en", 1),
    ],
)
def test_a_number_ends_a_sentence_where_it_is_no_ordinal_and_counts_no_items(
    text: str, language: str, sentences: int
) -> None:
    assert len(analyse_text(text, default=language).sentences) == sentences
