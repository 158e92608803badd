"""Whether a text holds an answer of the kind asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.text.answers import AskKind, carries_answer, opens_with_verdict

KINDS: tuple[AskKind, ...] = (
    "yes_no", "number", "person", "place", "time", "choice", "list", "how_to", "why", "code", "name", "open", "request",
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text", "language"),
    [
        ("number", "About 1.6 million.", "en"),
        ("number", "twelve", "en"),
        ("number", "One.", "en"),
        ("number", "Tengo dos hermanos", "es"),
        ("number", "Une.", "fr"),
        ("number", "Etwa dreihundert", "de"),
        ("number", "São vinte", "pt"),
        ("number", "Ne ho sette", "it"),
        ("number", "三百万人", "zh"),
        ("number", "二つです", "ja"),
        ("time", "In 1945.", "en"),
        ("time", "ayer por la tarde", "es"),
        ("time", "hier soir", "fr"),
        ("time", "gestern", "de"),
        ("time", "na próxima sexta", "pt"),
        ("time", "domani mattina", "it"),
        ("time", "昨天", "zh"),
        ("time", "昨日です", "ja"),
        ("name", "It is Paris.", "en"),
        ("name", "北京", "zh"),
        ("person", "my sister", "en"),
        ("place", "under the bed", "en"),
        ("place", "in Rom", "de"),
        ("list", "red, green and blue", "en"),
        ("list", "- red\n- green", "en"),
        ("why", "because it rained", "en"),
        ("why", "porque llovía", "es"),
        ("why", "parce qu'il pleuvait", "fr"),
        ("why", "weil es regnete", "de"),
        ("why", "因为下雨", "zh"),
        ("why", "雨が降ったからです", "ja"),
        ("how_to", "Click the button, then wait.", "en"),
        ("how_to", "by restarting it", "en"),
        ("code", "```\nx\n```", "en"),
        ("yes_no", "No, it is not.", "en"),
        ("open", "anything", "en"),
    ],
)
def test_what_answers_carries(kind: AskKind, text: str, language: str) -> None:
    assert carries_answer(kind, text, language)


@pytest.mark.parametrize(
    ("kind", "text", "language"),
    [
        ("number", "It is the largest city in the country.", "en"),
        ("number", "It was founded in 1639 by monks.", "en"),
        ("number", "1. Apples\n2. Pears", "en"),
        ("number", "one of the largest cities", "en"),
        ("number", "Es una ciudad muy bonita.", "es"),
        ("number", "C'est une très belle ville.", "fr"),
        ("number", "Das ist eine schöne Stadt.", "de"),
        ("number", "È una bella città.", "it"),
        ("number", "É uma cidade bonita.", "pt"),
        ("number", "蒙古的首都是乌兰巴托。", "zh"),
        ("time", "It is a tower of iron.", "en"),
        ("time", "Es una torre de hierro.", "es"),
        ("name", "The large one over there.", "en"),
        ("list", "red", "en"),
        ("code", "Just reverse it.", "en"),
        ("why", "It is blue.", "en"),
        ("open", "  ", "en"),
        ("yes_no", "…", "en"),
    ],
)
def test_what_does_not_answer_does_not_carry(kind: AskKind, text: str, language: str) -> None:
    assert not carries_answer(kind, text, language)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"number", "code", "time"}])
def test_outside_the_known_languages_everything_is_let_pass(kind: AskKind) -> None:
    assert carries_answer(kind, "Это просто текст", "ru")


@pytest.mark.parametrize(
    ("text", "language"),
    [("Yes.", "en"), ("It rains. And no, thanks.", "en"), ("Claro que sí", "es"), ("Non, merci", "fr"), ("是的", "zh")],
)
def test_yes_and_no_at_the_head_of_a_clause_affirm(text: str, language: str) -> None:
    assert opens_with_verdict(text, language)


def test_a_plain_statement_affirms_nothing() -> None:
    assert not opens_with_verdict("It is sunny and warm today.", "en")


@given(st.sampled_from(KINDS), st.text(max_size=300), st.sampled_from(["en", "de", "zh", "ja", "ru", "unknown"]))
def test_carrying_never_raises(kind: AskKind, text: str, language: str) -> None:
    assert carries_answer(kind, text, language) in {True, False}


@pytest.mark.parametrize("text", ["on monday", "on Monday", "ON MONDAY"])
def test_a_word_that_answers_is_found_however_it_is_written(text: str) -> None:
    assert carries_answer("time", f"We shall all of us meet there {text}", "en")
    assert not carries_answer(
        "time", f"We shall all of us meet there {text.replace('ay', 'ayish').replace('AY', 'AYISH')}", "en"
    )
