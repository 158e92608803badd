"""What sets the answer to the user's own question right, and what only follows it."""

import pytest

from insula.language.corrected import Answered, is_corrected
from insula.memory.retrieval.embedding import embed_all, embed_text


@pytest.mark.parametrize(
    ("question", "answer", "reply", "is_right"),
    [
        ("When does my book club meet?", "On Tuesdays.", "It's Wednesdays now.", True),
        ("When does my book club meet?", "On Tuesdays.", "Great, thanks!", False),
        ("When does my book club meet?", "On Tuesdays.", "That's not what I asked.", False),
        ("Wie heißt mein Zahnarzt?", "Dr. Amado.", "Nein, inzwischen Dr. Costa.", True),
        ("Wie heißt mein Zahnarzt?", "Dr. Amado.", "Kürzer bitte.", False),
        ("¿Dónde vivimos?", "En Oporto.", "Ya no, nos mudamos a Braga en octubre.", True),
        ("¿Dónde vivimos?", "En Oporto.", "Qué bonito es aquello.", False),
    ],
)
def test_what_gives_the_right_value_sets_an_answer_right_and_complaints_and_thanks_do_not(
    question: str, answer: str, reply: str, is_right: bool
) -> None:
    said = Answered(question, answer, reply)
    assert is_corrected(said, embed_all(embed_text, said.texts)) == is_right


def test_without_the_shipped_embedding_nothing_is_told() -> None:
    assert not is_corrected(Answered("Where do we live?", "In Porto.", "No, in Braga."), {})
