"""The self-monitor: what must pass, what must not, and that nothing breaks it."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from insula import Identity, assess

PASS_THRESHOLD, HEDGE_THRESHOLD = 0.7, 0.5
MONGOLIA = "What is the capital of Mongolia, and how many people live there?"
GIT = "How do I undo the last git commit?"
WEATHER = "The weather in Lisbon is sunny today with a high of 25 degrees."
RECIPE = "Beat three eggs with sugar, fold in the flour, and bake the cake for forty minutes in a hot oven."


@pytest.mark.parametrize(
    ("message", "response"),
    [
        ("What is 2+2?", "4"),
        ("Is Paris in France?", "Yes."),
        ("Where do you live?", "Lisbon."),
        ("Where is the Eiffel Tower?", "Paris."),
        ("When did World War II end?", "In 1945."),
        ("Who painted the Mona Lisa?", "Leonardo da Vinci."),
        ("Tea or coffee?", "Tea, please."),
        ("What is 15% of 80?", "12"),
        ("¿Cuándo terminó la guerra?", "En 1945."),
        ("¿Tienes perro?", "Sí, tengo dos."),
        ("Qui a peint la Joconde ?", "Léonard de Vinci."),
        ("Wann endete der Zweite Weltkrieg?", "1945."),
        ("Quem pintou a Mona Lisa?", "Leonardo da Vinci."),
        ("Chi ha dipinto la Gioconda?", "Leonardo da Vinci."),
        ("中国的首都是哪里？", "北京。"),
        ("日本の首都はどこですか？", "東京です。"),
    ],
)
def test_a_short_right_answer_is_good(message: str, response: str) -> None:
    assessment = assess(message, response)
    assert assessment.score >= 0.8
    assert assessment.flags == ()


@pytest.mark.parametrize(
    ("message", "response"),
    [
        (GIT, WEATHER),
        (
            "How does a branch in git get rebased?",
            "The cake is baked for forty minutes in a hot oven, with eggs and flour.",
        ),
        ("¿Cómo instalo git en mi ordenador portátil?", "Mañana lloverá en el norte y hará viento cerca de la costa."),
        ("Comment installer git sur mon ordinateur portable ?", "Demain il pleuvra au nord, avec du vent sur la côte."),
        ("Wie installiere ich git auf meinem Rechner?", "Morgen regnet es im Norden, und an der Küste weht Wind."),
        ("Como instalo o git no meu computador?", "Amanhã vai chover no norte, com vento perto da costa."),
        ("Come installo git sul mio computer?", "Domani pioverà al nord, con vento vicino alla costa."),
        ("怎么在电脑上安装这个软件？", "明天北方有雨，沿海地区风力较大，气温会下降。"),
        ("パソコンにソフトをインストールする方法は？", "明日は北部で雨が降り、沿岸では風が強くなります。"),
    ],
)
def test_an_answer_to_another_question_is_not_known_to_be_one(message: str, response: str) -> None:
    assessment = assess(message, response)
    assert assessment.flags == ("off_topic",)
    assert assessment.outcome == "unclear"
    assert assessment.score >= HEDGE_THRESHOLD


@pytest.mark.parametrize(
    ("message", "half", "whole", "missing"),
    [
        (
            MONGOLIA,
            "The capital of Mongolia is Khantakal, which is the largest city in the country.",
            "The capital of Mongolia is Ulaanbaatar, where about 1.6 million people live.",
            "how many people live there?",
        ),
        (
            "¿Cuál es la capital de Mongolia y cuántas personas viven allí?",
            "La capital de Mongolia es Ulán Bator, la ciudad más grande del país.",
            "La capital de Mongolia es Ulán Bator, con 1,6 millones de habitantes.",
            "cuántas personas viven allí?",
        ),
        (
            "Quelle est la capitale de la Mongolie et combien de personnes y vivent ?",
            "La capitale de la Mongolie est Oulan-Bator, la plus grande ville du pays.",
            "La capitale de la Mongolie est Oulan-Bator, avec 1,6 million d'habitants.",
            "combien de personnes y vivent ?",
        ),
        (
            "Was ist die Hauptstadt der Mongolei, und wie viele Menschen leben dort?",
            "Die Hauptstadt der Mongolei ist Ulaanbaatar, die größte Stadt des Landes.",
            "Die Hauptstadt der Mongolei ist Ulaanbaatar mit 1,6 Millionen Einwohnern.",
            "wie viele Menschen leben dort?",
        ),
        (
            "Qual é a capital da Mongólia e quantas pessoas vivem lá?",
            "A capital da Mongólia é Ulan Bator, a maior cidade do país.",
            "A capital da Mongólia é Ulan Bator, com 1,6 milhão de habitantes.",
            "quantas pessoas vivem lá?",
        ),
        (
            "Qual è la capitale della Mongolia e quante persone ci vivono?",
            "La capitale della Mongolia è Ulan Bator, la città più grande del paese.",
            "La capitale della Mongolia è Ulan Bator, con 1,6 milioni di abitanti.",
            "quante persone ci vivono?",
        ),
        (
            "蒙古的首都是什么，那里有多少人口？",
            "蒙古的首都是乌兰巴托，是该国最大的城市。",
            "蒙古的首都是乌兰巴托，人口约160万。",
            "那里有多少人口？",
        ),
        (
            "モンゴルの首都はどこで、人口は何人ですか？",
            "モンゴルの首都はウランバートルで、国内最大の都市です。",
            "モンゴルの首都はウランバートルで、人口は約160万人です。",
            "人口は何人ですか？",
        ),
        (
            "What's the weather like today? And do you like dogs?",
            "It is sunny and warm today.",
            "It is sunny and warm today. And yes, I love dogs!",
            "And do you like dogs?",
        ),
        (
            "What is your name and where do you live?",
            "I'm Bob.",
            "I'm Bob, and I live in Leeds.",
            "where do you live?",
        ),
        (
            "Why did the build fail and how do I fix it?",
            "It failed because a dependency is missing.",
            "It failed because a dependency is missing. Add `numpy` to pyproject.toml and build again.",
            "how do I fix it?",
        ),
        (
            "What is Docker and how does Kubernetes work?",
            "Docker packages software in containers that share the kernel of the host and start within milliseconds.",
            "Docker packages software in containers. Kubernetes schedules containers on the machines of a cluster.",
            "how does Kubernetes work?",
        ),
    ],
)
def test_a_skipped_question_is_named_and_an_answered_one_is_not(
    message: str, half: str, whole: str, missing: str
) -> None:
    skipped = assess(message, half)
    assert skipped.unanswered == (missing,)
    assert "incomplete" in skipped.flags
    assert skipped.score < PASS_THRESHOLD
    complete = assess(message, whole)
    assert complete.unanswered == ()
    assert complete.passed


@pytest.mark.parametrize(
    ("message", "response"),
    [
        ("How many legs does a spider have?", "Spiders are arachnids that live almost everywhere on earth."),
        ("When was the Eiffel Tower built?", "The Eiffel Tower is a wrought-iron lattice tower in Paris."),
    ],
)
def test_a_text_on_the_topic_without_the_fact_is_incomplete(message: str, response: str) -> None:
    assessment = assess(message, response)
    assert assessment.flags == ("incomplete",)
    assert assessment.unanswered == (message,)
    assert not assessment.passed


@pytest.mark.parametrize(
    ("message", "response"),
    [
        ("What is my sister's name?", "I don't know your sister's name."),
        ("Is it going to rain tomorrow?", "I can't tell, because I have no access to weather data."),
        ("How many people live in my street?", "I don't have that information."),
        ("¿Cuántos vecinos tengo?", "No lo sé."),
        ("Combien de voisins ai-je ?", "Je ne sais pas."),
        ("Wie viele Nachbarn habe ich?", "Das weiß ich leider nicht."),
        ("Quantos vizinhos eu tenho?", "Não sei."),
        ("Quanti vicini ho?", "Non lo so."),
        ("我有多少个邻居？", "我不知道。"),
        ("私の隣人は何人ですか？", "わかりません。"),
        ("Which one is better?", "Do you mean Python or Go?"),
        ("How long will it take?", "Could you tell me which train you are going to take?"),
    ],
)
def test_declining_and_asking_back_are_answers(message: str, response: str) -> None:
    assessment = assess(message, response)
    assert assessment.passed
    assert assessment.unanswered == ()


def test_a_refusal_of_nothing_is_poor() -> None:
    assert assess("Hi!", "I cannot help with that.").outcome == "doubtful"
    assert assess("Hola", "No puedo ayudarte con eso.").outcome == "doubtful"


@pytest.mark.parametrize(
    ("message", "response"),
    [
        (MONGOLIA, "La capital de Mongolia es Ulán Bator y es la ciudad más grande del país."),
        ("¿Cuál es la capital de Francia?", "The capital of France is Paris."),
        ("Where is the bathroom of this house?", "トイレは廊下の奥にあります。"),
        ("Tell me about Lisbon", "Лиссабон"),
        ("Answer in Spanish: what is the capital of Italy?", "The capital of Italy is Rome, of course."),
    ],
)
def test_the_wrong_language_does_not_pass(message: str, response: str) -> None:
    assessment = assess(message, response)
    assert "wrong_language" in assessment.flags
    assert assessment.parts.consistency == 0.0
    assert assessment.score < HEDGE_THRESHOLD


@pytest.mark.parametrize(
    ("message", "response"),
    [
        ("Translate 'good morning' into Spanish.", "Buenos días"),
        ("How do you say cat in French?", "Chat."),
        ("Answer in German: what is the capital of Italy?", "Die Hauptstadt von Italien ist Rom."),
        ("Antworte auf Englisch: Was ist die Hauptstadt von Italien?", "The capital of Italy is Rome."),
    ],
)
def test_the_language_asked_for_passes(message: str, response: str) -> None:
    assessment = assess(message, response)
    assert assessment.passed
    assert assessment.flags == ()


def test_the_identity_s_first_language_is_fine_too() -> None:
    identity = Identity(languages=("de",))
    assert assess("Where is the station of this town?", "Der Bahnhof ist hinter dem Markt.", (), identity).passed
    assert assess("Where is the station of this town?", "The station is behind the market.", (), identity).passed


@pytest.mark.parametrize("response", ["", "   \n\t "])
def test_an_empty_response_scores_nothing(response: str) -> None:
    assessment = assess(MONGOLIA, response)
    assert assessment.score == 0.0
    assert assessment.flags == ("empty",)
    assert len(assessment.unanswered) == 2


@pytest.mark.parametrize(
    ("message", "response", "short"),
    [
        ("Explain why the sky is blue.", "It is.", True),
        ("List three fruits.", "no", True),
        ("What is 2+2?", "4", False),
        ("Thanks!", "Sure!", False),
        ("为什么天空是蓝色的？", "因为光的散射。", False),
    ],
)
def test_short_is_a_fault_only_where_more_is_expected(message: str, response: str, short: bool) -> None:
    assessment = assess(message, response)
    assert ("too_short" in assessment.flags) is short
    assert assessment.parts.length_ok is not short


def test_a_flood_in_answer_to_a_fact_is_too_long() -> None:
    assessment = assess("Is Paris in France?", "Yes. " + RECIPE * 60)
    assert "too_long" in assessment.flags
    assert not assessment.parts.length_ok


def test_the_last_answer_once_more_does_not_pass() -> None:
    earlier = ["First one.", "You can undo the last git commit with git reset, which keeps the changes in your files."]
    again = "You can undo the last git commit with git reset, which keeps the changes in your files!"
    assert assess(GIT, again).passed
    assessment = assess(GIT, again, earlier)
    assert assessment.flags == ("repetition",)
    assert assessment.parts.repetition
    assert not assessment.passed


def test_a_repetition_that_was_asked_for_is_none() -> None:
    earlier = ["The station is behind the market, on the left side of the river."]
    assert assess("Can you say that again?", earlier[0], earlier).passed
    assert assess(
        "¿Puedes repetir eso?", "La estación está detrás del mercado.", ["La estación está detrás del mercado."]
    ).passed


@pytest.mark.parametrize(("message", "response"), [("Is it far?", "Yes."), ("Thanks a lot!", "You're welcome!")])
def test_small_words_wear_out_by_no_use(message: str, response: str) -> None:
    assert "repetition" not in assess(message, response, [response]).flags


def test_quoting_the_user_is_no_repetition() -> None:
    message = "Is it true that the old bridge over the river was built by a pupil of Eiffel?"
    response = "Yes, it is true that the old bridge over the river was built by a pupil of Eiffel."
    assert assess(message, response).passed


def test_a_response_that_runs_in_circles_does_not_pass() -> None:
    loop = "The capital is the capital of the country. " * 12
    assert "repetition" in assess("What is the capital of France?", loop).flags


def test_forbidden_patterns_do_not_pass_and_broken_ones_do_not_raise() -> None:
    identity = Identity(forbidden=("as an ai", "(unclosed"))
    assessment = assess("Do you like dogs?", "As an AI, I like dogs.", (), identity)
    assert assessment.flags == ("forbidden_pattern",)
    assert not assessment.passed
    assert assess("Do you like dogs?", "Yes, I like dogs.", (), identity).passed


@pytest.mark.parametrize("response", ["Yes, I like dogs a lot 😀", "Yes, I like dogs!!"])
def test_emoji_and_shouting_are_mildly_off_tone_for_a_formal_voice(response: str) -> None:
    formal = assess("Do you like dogs?", response, (), Identity(voice="formal"))
    plain = assess("Do you like dogs?", response)
    assert formal.flags == ("off_tone",)
    assert formal.parts.consistency == 0.75
    assert formal.score < plain.score
    assert plain.flags == ()


@pytest.mark.parametrize("message", ["Какая столица Монголии и сколько там людей?", "몽골의 수도는 어디입니까?"])
def test_outside_the_known_languages_no_topic_is_judged(message: str) -> None:
    assessment = assess(
        message, "Да, конечно, я расскажу. " + message.rstrip("?") + "." if "К" in message else "네, 말씀드릴게요."
    )
    assert assessment.flags == ()
    assert assessment.passed


def test_bullets_code_and_quotations_are_no_foreign_language() -> None:
    response = "Run this:\n```sh\nsudo apt install git\n```\nThen `git --version` shows whether it worked."
    assert assess("How do I install git on Ubuntu?", response).flags == ()


HOSTILE = [
    "\x00" * 500,
    "\ud800 what is it?",
    "\u202eمرحبا كيف حالك؟" * 50,
    "?" * 5_000,
    "<b>" * 500,
    "a\u0301" * 500,
    "👩‍👩‍👧‍👦" * 200,
]


@pytest.mark.parametrize(("message", "response"), list(product(HOSTILE, HOSTILE)))
def test_hostile_text_is_assessed_all_the_same(message: str, response: str) -> None:
    assert 0.0 <= assess(message, response, [response, message]).score <= 1.0


@pytest.mark.parametrize(
    ("message", "response"),
    [
        ("What is love? " * 10_000, RECIPE),
        (MONGOLIA, "word " * 200_000),
        (MONGOLIA, "x" * 1_000_000),
        ("?" * 1_000_000, "!" * 1_000_000),
        ("什么，" * 100_000, "因为" * 100_000),
    ],
)
def test_the_cost_stays_bounded(message: str, response: str) -> None:
    def judge(size: int) -> None:
        said = response[:size]
        assess(message[:size], said, [said] * 5, Identity(voice="formal", forbidden=("as an ai",)))

    assess("Hello.", "Hello.")  # what is loaded on first use is no work of theirs
    assert growth(judge, int, max(len(message), len(response))) <= LINEAR


texts = st.text(max_size=200)
identities = st.builds(
    Identity,
    voice=st.sampled_from(["plain", "formal", "warm"]),
    languages=st.sampled_from([(), ("en",), ("de", "en"), ("ru",)]),
    forbidden=st.sampled_from([(), ("as an ai",), ("(",)]),
)


@given(texts, texts, st.lists(texts, max_size=3), identities)
def test_scores_and_parts_stay_in_range_whatever_is_written(
    message: str, response: str, recent: list[str], identity: Identity
) -> None:
    assessment = assess(message, response, recent, identity)
    parts = assessment.parts
    for value in (assessment.score, parts.responsiveness, parts.completeness, parts.consistency):
        assert 0.0 <= value <= 1.0
    assert assessment == assess(message, response, recent, identity)
    assert all(unanswered in message for unanswered in assessment.unanswered)


@pytest.mark.parametrize(
    "question",
    [
        "Where does my sister live?",
        "¿Dónde vive mi hermana?",
        "Wo wohnt meine Schwester?",
        "妹はどこに住んでいますか？",
    ],
)
def test_a_question_handed_back_is_no_answer(question: str) -> None:
    found = assess(question, question)
    assert not found.passed
    assert found.unanswered == (question.strip("?？"),) or "incomplete" in found.flags
