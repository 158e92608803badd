"""Whether a message asks for a fact of the user's own life, over questions of many kinds."""

import json
import re
from importlib.resources import files

import pytest

from insula.text.analysis import analyse
from insula.turn.aim import is_personal

PERSONAL = (
    "Where do I live?",
    "Thanks! And where do I live?",
    "Do you remember what I told you about peanuts?",
    "Remind me, when is my flight?",
    "What is our cat called?",
    "¿Dónde vivo?",
    "¿Cómo se llama mi hermana?",
    "Où est-ce que j'habite ?",
    "Wo wohne ich?",
    "Weißt du noch, wann mein Zug fährt?",
    "Onde moro?",
    "Dove abito?",
    "我住在哪里？",
    "妹の名前は何だっけ？",
)
OTHER = (
    "What is the capital of Mongolia?",
    "How do I boil an egg?",
    "Should I take the job?",
    "Why do we dream?",
    "Why is our planet round?",
    "Write a poem about my cat.",
    "Translate this into French: I live in Porto.",
    "I live in Porto.",
    "¿Qué debería cocinar?",
    "Comment puis-je apprendre le piano ?",
    "Wie koche ich ein Ei?",
    "Como se faz pão?",
    "Quali sono i pianeti?",
    "帮我写一封信",
    "日本の首都はどこですか？",
)
NAMES = re.compile("Paula|Tom|Mia|Inês|Nuria|Priya|Marcos|Chiara|Bia|Lukas|Pawel|Sophie|Sam")
CASES = [
    json.loads(line) for line in (files("insula_bench") / "conversations_dev.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("message", PERSONAL)
def test_a_question_about_the_user_or_their_people_is_personal(message: str) -> None:
    assert is_personal(analyse(message))


@pytest.mark.parametrize("message", OTHER)
def test_advice_instructions_texts_and_world_questions_are_not(message: str) -> None:
    assert not is_personal(analyse(message))


def test_a_question_about_somebody_whom_memory_knows_is_personal() -> None:
    assert is_personal(analyse("Where does Paula work?"), {"paula"})
    assert not is_personal(analyse("Where did Kepler work?"), {"paula"})


def test_nearly_all_questions_of_the_small_conversations_are_personal() -> None:
    """Of what names nobody: a person is known by what memory holds, and Japanese often leaves out whose it is."""
    asked = [case for case in CASES if not NAMES.search(case["ask"]) and case["ask_lang"] != "ja"]
    missed = [case["ask"] for case in asked if not is_personal(analyse(case["ask"], default=case["ask_lang"]))]
    assert len(missed) <= 0.05 * len(asked), missed


def test_outside_the_known_languages_nothing_is_personal() -> None:
    assert not is_personal(analyse("Где я живу, и с каких пор я там живу?"))
