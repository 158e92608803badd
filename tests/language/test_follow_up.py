"""What gives the answer to the user's own question, and what only follows it."""

import pytest

from insula.language.follow_up import FollowUp, gives_answer
from insula.memory.retrieval.embedding import embed_all, embed_text


@pytest.mark.parametrize(
    ("question", "answer", "message", "is_right"),
    [
        ("When does my book club meet?", "On Tuesdays.", "It's Wednesdays now.", True),
        ("When does my book club meet?", "On Tuesdays.", "Great, thanks!", False),
        ("When does my book club meet?", "On Tuesdays.", "That's not what I asked.", False),
        ("Wie heißt mein Zahnarzt?", "Dr. Amado.", "Nein, inzwischen Dr. Costa.", True),
        ("Wie heißt mein Zahnarzt?", "Dr. Amado.", "Kürzer bitte.", False),
        ("¿Dónde vivimos?", "En Oporto.", "No, ahora en Braga.", True),
        ("¿Dónde vivimos?", "En Oporto.", "Qué bonito es aquello.", False),
        ("Which Go version are we on?", "Go 1.22.", "Priya changed her mind, she wants to go to Santa Fe", False),
        ("C'est quand l'anniversaire de maman ?", "Le 12 mars.", "Je déménage peut-être à Bron au printemps", False),
    ],
)
def test_what_gives_the_right_value_sets_an_answer_right_and_complaints_and_thanks_do_not(
    question: str, answer: str, message: str, is_right: bool
) -> None:
    said = FollowUp(question, answer, message, was_known=True)
    assert gives_answer(said, embed_all(embed_text, said.texts)) == is_right


@pytest.mark.parametrize(
    ("question", "answer", "message", "is_right"),
    [
        ("What's my dog called?", "You haven't told me.", "It's Rex.", True),
        ("What's my dog called?", "You haven't told me.", "Never mind.", False),
        ("When is my sister's birthday?", "I don't know.", "March 3rd.", True),
        ("When is my sister's birthday?", "I don't know.", "I told you last week!", False),
        ("Wie heißt mein Vermieter?", "Das hast du mir nicht gesagt.", "Herr Okafor.", True),
        ("Wie heißt mein Vermieter?", "Das hast du mir nicht gesagt.", "Macht nichts.", False),
        ("What meds am I on?", "You haven't told me.", "Poppy's teacher is Mr Patel since last week", False),
    ],
)
def test_what_the_assistant_did_not_know_is_told_by_the_value_and_not_by_what_passes_it_over(
    question: str, answer: str, message: str, is_right: bool
) -> None:
    said = FollowUp(question, answer, message, was_known=False)
    assert gives_answer(said, embed_all(embed_text, said.texts)) == is_right


def test_without_the_shipped_embedding_nothing_is_told() -> None:
    assert not gives_answer(FollowUp("Where do we live?", "In Porto.", "No, in Braga.", was_known=True), {})
