"""Which language an answer may be in, and whether it plainly is in another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.text.analysis import analyse_text
from insula.text.languages import expected_languages, in_wrong_language

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


def test_a_translation_may_stand_within_an_explanation() -> None:
    answer = 'In French you would say: "Où est la gare, s\'il vous plaît ?", which is the polite form.'
    assert not wrong("Translate 'where is the station' into French", answer)


def test_the_identity_decides_where_the_message_says_nothing() -> None:
    assert wrong("ok", ANSWERS["fr"], own=("de", "en"))
    assert not wrong("ok", ANSWERS["de"], own=("de", "en"))
    assert not wrong("ok", ANSWERS["fr"])


def test_a_message_outside_the_identity_may_be_answered_in_either_language() -> None:
    assert not wrong(ANSWERS["fr"], ANSWERS["fr"], own=("de",))
    assert not wrong(ANSWERS["fr"], ANSWERS["de"], own=("de",))
    assert wrong(ANSWERS["fr"], ANSWERS["es"], own=("de",))


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Where is the station of the town?", "Москва"),
        ("Where is the station of the town?", "駅です。"),
        ("車はどこにありますか？", "Your car is parked behind the house."),
    ],
)
def test_another_script_is_wrong_even_where_little_is_said(message: str, answer: str) -> None:
    assert wrong(message, answer)


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


def test_close_kin_are_not_told_apart() -> None:
    message = "Apa ibu kota negara itu dan berapa banyak orang yang tinggal di sana?"
    assert not wrong(message, "Ibu kota negara itu ialah sebuah bandar besar di tepi sungai.")


def test_a_long_answer_is_judged_by_most_of_it() -> None:
    assert not wrong(ANSWERS["en"], ANSWERS["en"] * 12 + ANSWERS["fr"] * 4)
    assert wrong(ANSWERS["en"], ANSWERS["en"] + ANSWERS["fr"] * 20)


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_raises(message: str, answer: str) -> None:
    assert wrong(message, answer) in {True, False}


@pytest.mark.parametrize(
    "answer", ["The Catholic, French Revolution, The Church", "Mona Lisa, Leonardo da Vinci, Louvre"]
)
def test_a_list_of_names_has_no_language(answer: str) -> None:
    assert not wrong(ANSWERS["de"], answer)
    assert not wrong(ANSWERS["es"], answer)
