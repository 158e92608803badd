import pytest

from insula.memory.retrieval.query import ANY_TIME, When, named_time
from insula.memory.retrieval.scoring import time_fit

JULY_3_2023 = 1_688_342_400.0


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What did I do on 3 July 2023?"),
        ("de", "Was war am 3. Juli 2023?"),
        ("es", "¿Qué hice el 3 de julio de 2023?"),
        ("fr", "Qu'ai-je fait le 3 juillet 2023 ?"),
        ("pt", "O que fiz em 3 de julho de 2023?"),
        ("it", "Che cosa ho fatto il 3 luglio 2023?"),
        ("zh", "2023年7月3日我做了什么？"),
        ("ja", "2023年7月3日に何をした？"),
    ],
)
def test_a_date_is_found_in_each_language(language: str, text: str) -> None:
    when = named_time(text, language)
    assert (when.months, when.years) == ({7}, {2023})
    assert 3 in when.days
    assert time_fit(when, JULY_3_2023) == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]


def test_march_is_a_month_in_french_though_it_is_written_small() -> None:
    assert named_time("Qu'avons-nous fait le 5 mars 2023 ?", "fr") == When(
        frozenset({3}), frozenset({2023}), frozenset({5})
    )


@pytest.mark.parametrize("text", ["May I ask you something?", "Who will march with us?", "I may go.", "How are you?"])
def test_other_words_are_no_months(text: str) -> None:
    assert named_time(text, "en") == ANY_TIME


def test_a_number_is_a_day_only_beside_a_month() -> None:
    assert named_time("Where did we meet in May 12 years ago?", "en").months == {5}
    assert named_time("What are the 3 rules?", "en").days == frozenset()


def test_people_tell_of_june_in_july() -> None:
    june, may = When(months=frozenset({6})), When(months=frozenset({5}))
    assert (
        time_fit(When(months=frozenset({7})), JULY_3_2023)
        > time_fit(june, JULY_3_2023)
        > time_fit(may, JULY_3_2023)
        == 0.0
    )


def test_no_time_asked_tells_nothing() -> None:
    assert time_fit(ANY_TIME, JULY_3_2023) == 0.0
