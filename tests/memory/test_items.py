"""A question that asks for several things asks for each of them."""

import pytest

from insula.language.items import each


@pytest.mark.parametrize(
    ("language", "text", "asked"),
    [
        ("en", "What are my cat, dog and boat called?", ("my cat", "my dog", "my boat")),
        ("en", "Where do Ana and Bea live?", ("Ana", "Bea")),
        ("de", "Wie heißen mein Hund und meine Katze?", ("mein Hund", "meine Katze")),
        ("fr", "Comment s'appellent mon chat et mon chien ?", ("mon chat", "mon chien")),
        ("es", "¿Cómo se llaman mi gato y mi perro?", ("mi gato", "mi perro")),
        ("it", "Come si chiamano la mia gatta e il mio cane?", ("la mia gatta", "il mio cane")),
        ("pt", "Como se chamam o meu gato e a minha cadela?", ("o meu gato", "a minha cadela")),
        ("zh", "我的猫、狗和船叫什么？", ("我的猫", "我的狗", "我的船")),
    ],
)
def test_each_thing_is_asked_for_by_itself(language: str, text: str, asked: tuple[str, ...]) -> None:
    found = each(text, language)
    assert len(found) == len(asked)
    for question, thing in zip(found, asked, strict=True):
        assert thing in question
        assert not any(other in question for other in asked if other not in thing)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Where do I live?"),
        ("en", "Who is married and who is single?"),
        ("en", "What do you know about me and where do I live?"),
        ("de", "Wann und wo wurde ich geboren?"),
        ("pt", "Vivo sozinha ou com alguém?"),
        ("ru", "Где я живу и работаю?"),
    ],
)
def test_what_lists_nothing_is_asked_as_it_stands(language: str, text: str) -> None:
    assert each(text, language) == (text,)
