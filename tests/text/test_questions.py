"""Questions: what a message asks, whether only its user could answer, and whether a response does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula.text.analysis import Analysis, analyse_text
from insula.text.answers import AskKind, carries_answer
from insula.text.questions import MAX_ASKS, find_asks, find_assertions
from insula.turn.remembered import asks_only_user


def kinds(message: str) -> list[str]:
    return [ask.kind for ask in find_asks(analyse_text(message))]


def texts(message: str) -> list[str]:
    return [ask.text for ask in find_asks(analyse_text(message))]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Do you like dogs?", "yes_no"),
        ("is python faster than go", "yes_no"),
        ("Is it better to rent or to buy?", "choice"),
        ("What is 2+2?", "number"),
        ("How old is the universe?", "number"),
        ("Who wrote Hamlet?", "person"),
        ("You live where?", "place"),
        ("where is my car", "place"),
        ("When was it built?", "time"),
        ("How long does it take?", "time"),
        ("Why is the sky blue?", "why"),
        ("explain why you like them", "why"),
        ("Could you tell me how to install git?", "how_to"),
        ("What is the name of our galaxy?", "name"),
        ("give me 5 tips for better sleep", "list"),
        ("Can you write a function that reverses a string?", "code"),
        ("Please explain the difference between TCP and UDP.", "request"),
        ("I wonder what the boiling point of water is.", "open"),
        ("I want to know who won the cup", "person"),
        ("que hora es", "time"),
        ("¿Tienes perro o no lo tienes?", "choice"),
        ("En España, ¿cuántos habitantes hay?", "number"),
        ("Por favor, traduce esta frase al inglés: me gusta el café.", "request"),
        ("Tu habites où ?", "place"),
        ("Peux-tu m'expliquer pourquoi le ciel est bleu ?", "why"),
        ("Kannst du mir erklären, warum der Himmel blau ist?", "why"),
        ("Magst du Hunde?", "yes_no"),
        ("Nenne drei Flüsse in Deutschland.", "list"),
        ("Schreibe eine Funktion, die eine Liste sortiert.", "code"),
        ("Você mora onde?", "place"),
        ("Mi puoi dire quanto costa il biglietto?", "number"),
        ("Abiti a Roma o a Milano?", "choice"),
        ("你喜欢狗吗？", "yes_no"),
        ("你能帮我翻译这句话吗？", "request"),
        ("请写一首关于春天的诗。", "request"),
        ("怎么安装这个软件？", "how_to"),
        ("富士山の高さを教えてください。", "request"),
        ("どうしてですか？", "why"),
        ("好きな食べ物は何ですか。", "open"),
    ],
)
def test_the_kind_of_what_is_asked(message: str, kind: str) -> None:
    assert kinds(message) == [kind]


@pytest.mark.parametrize(
    "message",
    [
        "He asked me what time it was.",
        'She asked: "Where are you going?"',
        "When I was a child I lived in Rome.",
        "what a day!",
        "My boss wants to know why sales fell.",
        "Book club was fun yesterday.",
        "Cuando llegué a casa, dormí.",
        "我不知道为什么",
        "我住在上海。",
        "私は東京に住んでいます。",
        "Did you know they have no rib cages?",
        "",
    ],
)
def test_a_statement_or_a_reported_question_asks_nothing(message: str) -> None:
    assert kinds(message) == []


def test_items_of_a_list_ask_each_for_itself() -> None:
    message = (
        "Answer these questions:\n1. What is an X-ray?\n2. Name two rivers of France.\n3) Who wrote Hamlet and when?"
    )
    assert texts(message) == ["What is an X-ray?", "Name two rivers of France.", "Who wrote Hamlet", "when?"]


def test_pasted_material_and_code_ask_nothing() -> None:
    assert texts("Summarise this:\nWho are we? Where do we go?") == ["Summarise this"]
    assert texts('Fix this:\n```python\nprint("what?")\n```') == ["Fix this"]


@pytest.mark.parametrize(
    "message", ["Какая столица Монголии?", "몽골의 수도는 어디입니까?", "ما هي عاصمة المغرب اليوم؟"]
)
def test_outside_the_known_languages_a_marked_question_is_open(message: str) -> None:
    assert kinds(message) == ["open"]


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of France? " * 5_000,
        "what is a and " * 10_000,
        ", what " * 10_000,
        "?" * 100_000,
        "“a " * 15_000,
        "1. " * 20_000,
        "please " * 10_000,
        "什么，" * 3_000,
    ],
)
def test_the_cost_stays_bounded(message: str) -> None:
    def read(analysis: Analysis) -> None:
        assert len(find_asks(analysis)) <= MAX_ASKS
        find_assertions(analysis)

    assert growth(read, lambda size: analyse_text(message[:size]), len(message)) <= LINEAR


@pytest.mark.parametrize("mark", ["!", "?", ".", "!?", "？", "「", "\n"])
def test_marks_without_end_are_read_in_bounded_time(mark: str) -> None:
    assert growth(analyse_text, lambda size: mark * size, 50_000) <= LINEAR


@given(st.text(max_size=300))
def test_asks_are_verbatim_and_in_order_whatever_is_written(message: str) -> None:
    analysis = analyse_text(message)
    for ask in find_asks(analysis):
        assert ask.text in message
    for sentence in find_assertions(analysis):
        assert sentence.text in message


# Whether a text holds an answer of the kind asked for


KINDS: tuple[AskKind, ...] = (
    "yes_no", "number", "person", "place", "time", "choice", "list", "how_to", "why", "code", "name", "open", "request",
)  # fmt: skip


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
        ("code", "Just reverse it.", "en"),
        ("open", "  ", "en"),
        ("yes_no", "…", "en"),
    ],
)
def test_what_does_not_answer_does_not_carry(kind: AskKind, text: str, language: str) -> None:
    assert not carries_answer(kind, text, language)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"number", "code", "time"}])
def test_outside_the_known_languages_everything_is_let_pass(kind: AskKind) -> None:
    assert carries_answer(kind, "Это просто текст", "ru")


@given(st.sampled_from(KINDS), st.text(max_size=300), st.sampled_from(["en", "de", "zh", "ja", "ru", "unknown"]))
def test_carrying_never_raises(kind: AskKind, text: str, language: str) -> None:
    assert carries_answer(kind, text, language) in {True, False}


@pytest.mark.parametrize("text", ["on monday", "on Monday", "ON MONDAY"])
def test_a_word_that_answers_is_found_however_it_is_written(text: str) -> None:
    assert carries_answer("time", f"We shall all of us meet there {text}", "en")
    assert not carries_answer(
        "time", f"We shall all of us meet there {text.replace('ay', 'ayish').replace('AY', 'AYISH')}", "en"
    )


# Whether a message asks for what only its user can have told: a strict form, in eight languages


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
