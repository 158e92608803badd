"""Whether a message asks for what only its user can have told: a strict form, in eight languages."""

import pytest

from insula.text.analysis import analyse_text
from insula.text.questions import find_asks
from insula.turn.aim import asks_only_user

ONLY_THE_USER = (
    "Where do I live?",
    "Thanks! And where do I live?",
    "Do you remember what I told you about peanuts?",
    "How old am I?",
    "What's my sister's name?",
    "Who is my dentist?",
    "¿Dónde vivo?",
    "¿Cómo se llama mi hermana?",
    "¿Te acuerdas de dónde aparqué mi coche?",
    "Où est-ce que j'habite ?",
    "Quel âge a mon frère ?",
    "Wo wohne ich?",
    "Weißt du noch, wann mein Zug fährt?",
    "Wie heißt meine Katze?",
    "Onde moro?",
    "Como se chama o meu gato?",
    "Dove abito?",
    "Come si chiama mia moglie?",
    "我住在哪里？",
    "我妹妹叫什么名字？",
    "妹の名前は何だっけ？",
    "私の誕生日はいつですか？",
)
EVERYDAY = (
    "What is the capital of Mongolia?",
    "How do I boil an egg?",
    "How long should I boil my egg?",
    "My cat keeps sneezing, is that normal?",
    "Can my landlord keep my deposit?",
    "Is my rent too high for two rooms?",
    "What's a good name for my dog?",
    "How old should my cat be before she is neutered?",
    "What's my name in Japanese?",
    "Where do I click to change my name?",
    "What is my function called with?",
    "What's my IP address?",
    "Who is my best bet for the title?",
    "Should I take the job?",
    "Why is my sister so tall?",
    "Do I need a visa for Japan?",
    "Write a poem about my cat.",
    "Translate this into French: I live in Porto.",
    "I live in Porto.",
    "Remind me to call my sister.",
    "Do you remember the name of the Titanic's captain?",
    "¿Qué debería cocinar?",
    "¿Cuánto tiempo cuezo mi huevo?",
    "¿Cuántos años vive un gato?",
    "Comment puis-je apprendre le piano ?",
    "Mon propriétaire peut-il garder ma caution ?",
    "Wie koche ich mein Ei?",
    "Was soll ich zu meinem Vorstellungsgespräch anziehen?",
    "Como se faz pão?",
    "O meu gato espirra muito, é normal?",
    "Quali sono i pianeti?",
    "Cosa mi metto per il mio colloquio?",
    "帮我写一封信",
    "我的鸡蛋要煮多久？",
    "日本の首都はどこですか？",
    "私の卵は何分ゆでればいいですか？",
)


def _is_personal(message: str) -> bool:
    analysis = analyse_text(message)
    return any(asks_only_user(one, analysis.language) for one in find_asks(analysis))


@pytest.mark.parametrize("message", ONLY_THE_USER)
def test_a_name_an_age_a_home_of_ones_own_and_what_was_told_before_only_the_user_can_have_told(message: str) -> None:
    assert _is_personal(message)


@pytest.mark.parametrize("message", EVERYDAY)
def test_advice_how_why_and_the_world_are_not_personal_whoever_says_i_or_my(message: str) -> None:
    assert not _is_personal(message)


def test_outside_the_known_languages_nothing_is_personal() -> None:
    assert not _is_personal("Где я живу, и с каких пор я там живу?")
