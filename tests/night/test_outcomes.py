"""Confidence learns from what users give for free, for each user by themselves, and a person can take it back."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula import Metacognition
from insula.calibration import MISSES, MOST, OWN, PACE, AnswerOutcome, load_shipped, move_threshold
from insula.memory.retrieval.embedding import embed_text
from insula.memory.storage.rows import StoredSignal, TranscriptLine
from insula.memory.storage.store import NightRepository, Store
from insula.night.cycle import PhaseName, sleep_cycle
from insula.night.outcomes import Own, calibrate_confidence, find_outcomes, judge_answer, read_calibration
from insula.types import Provenance

FACT, ASKED, ANSWER = "My sister Ana lives in Lisbon.", "Where does Ana live?", "She lives in Porto."
EVIDENCE = frozenset({1})
TALKS = {
    "en": (ASKED, ANSWER),
    "es": ("¿Dónde vive Ana?", "Vive en Lisboa."),
    "fr": ("Où habite Ana ?", "Elle habite à Lisbonne."),
    "de": ("Wo wohnt Ana?", "Sie wohnt in Lissabon."),
    "pt": ("Onde mora a Ana?", "Ela mora em Lisboa."),
    "it": ("Dove abita Ana?", "Abita a Lisbona."),
    "zh": ("安娜住在哪里？", "她住在里斯本。"),
    "ja": ("アナはどこに住んでいますか？", "リスボンです。"),
}


def lines(*said: tuple[Provenance, str]) -> list[TranscriptLine]:
    return [TranscriptLine(i, (i + 1) // 2, by, text, float(i), None) for i, (by, text) in enumerate(said, 1)]


def turn(number: int, score: float = 0.8, *, shown: bool = True) -> StoredSignal:
    data = {"confidence": {"level": "high"}, "unadjusted": score, "recalled": [{"id": 1, "shown": shown}]}
    return StoredSignal(1, number, "meta:turn", data, 0.0)


@pytest.mark.parametrize(
    ("reaction", "held"),
    [
        ("Thanks, that helps!", True),
        ("ありがとう", True),
        ("No, she lives in Lisbon.", False),
        ("That's wrong.", False),
        ("Where does Ana live?", False),
        ("And when did she move there?", None),
        ("Never mind.", None),
        ("No thanks.", None),
        ("Thank you for nothing", None),
        ("Thanks, but I am still not sure", None),
        ("Thanks, but where does Ana work?", None),
        ("Thanks to Ana I met Bo.", None),
        ("Write a poem about the sea.", None),
    ],
)
def test_a_reaction_says_that_the_answer_held_or_not_or_nothing(reaction: str, held: bool | None) -> None:
    assert became(reaction) == held


def became(reaction: str, language: str = "en") -> bool | None:
    """What a reaction says of the answer in a talk."""
    asked, answer = TALKS[language]
    said = lines(("user", asked), ("assistant", answer), ("user", reaction))
    found = list(find_outcomes(said, [turn(1)], EVIDENCE, embed_text))
    assert found in ([], [AnswerOutcome(0.8, True, True)], [AnswerOutcome(0.8, False, True)])
    return found[0].held if found else None


CONTENT = {
    "en": "Thanks|Thank you so much!|Thanks, Insula!|Perfect, thanks a lot.|That’s right.|Thanks for the help 😊|thx :)"
    "|Oh! Thanks.|THANK YOU!!|Great. That helps.",
    "es": "Gracias|¡Muchas gracias!|Mil gracias, perfecto.|Exacto.",
    "fr": "Merci !|Merci beaucoup, c'est parfait.|Super, merci 🙏|Exactement.",
    "de": "Danke|Danke, perfekt.|Vielen Dank!|Danke schön, Insula.|Genau.",
    "pt": "Obrigado|Muito obrigada!|Valeu, perfeito.|Isso mesmo.",
    "it": "Grazie|Grazie mille!|Perfetto, grazie.|Esatto.",
    "zh": "谢谢|非常感谢！|谢谢你的帮助。|太好了，谢谢|没错。",
    "ja": "ありがとう|ありがとうございます。|助かりました！|完璧です、ありがとう",
}
NOT_CONTENT = {
    "en": "Thanks, wrong Ana|Thanks, however she lives in Porto|Thanks, though that is Porto.|Thanks, Porto.|Thanks?"
    "|OK.|Thanks anyway|Thanks for trying.|Thank God it's Friday|Thanks, I'll look it up myself|Thanks, Bo."
    "|Thanks! She lives in Porto.|Thanks! Are you sure?|Thanks! Why Lisbon?|Great. Where did you hear?"
    "|Thanks! Who says so?|Thanks! What about Porto?|Thanks! But where does Ana really live?"
    "|Thanks! Where does she live, then?|Thanks!\nTry again."
    "|Where does she work? Thanks!|Thanks! Where does she work, I meant?|Thanks! Now check it.",
    "es": "Gracias, pero vive en Oporto|Gracias, sin embargo vive en Oporto|No, gracias.|Gracias por nada."
    "|Gracias de todos modos|¡Gracias! ¿Seguro?|Gracias. Vive en Oporto.",
    "fr": "Merci mais elle habite à Porto|Non merci|Merci pour rien.|Merci quand même|Merci ! Tu es sûr ?",
    "de": "Danke, aber sie wohnt in Porto|Nein danke|Danke für nichts|Danke trotzdem|Danke! Bist du sicher?",
    "pt": "Obrigado, mas ela mora no Porto.|Não, obrigado.|Obrigado por nada.|Obrigado pela tentativa"
    "|Obrigado! Tem certeza?",
    "it": "Grazie, ma abita a Porto|No grazie.|Grazie di niente.|Grazie lo stesso|Grazie! Sei sicuro?",
    "zh": "谢谢，但是她住在波尔图|不用了，谢谢|谢谢，不过我自己查|谢谢！你确定吗？|谢谢，波尔图。",
    "ja": "ありがとう、でも違います|いいえ、ありがとう|結構です、ありがとう|ありがとう！本当ですか？"
    "|ありがとう、ポルトです",
}


@pytest.mark.parametrize("language", TALKS)
def test_plain_thanks_say_that_it_held(language: str) -> None:
    assert [one for one in CONTENT[language].split("|") if not became(one, language)] == []


@pytest.mark.parametrize("language", TALKS)
def test_thanks_with_anything_else_never_say_that_it_held(language: str) -> None:
    assert [one for one in NOT_CONTENT[language].split("|") if became(one, language)] == []


def test_only_what_memory_had_a_say_in_counts() -> None:
    said = lines(("user", ASKED), ("assistant", ANSWER), ("user", "Thanks!"))
    assert not list(find_outcomes(said, [turn(1, shown=False)], EVIDENCE, embed_text)), "nothing was shown"
    assert not list(find_outcomes(said, [turn(1)], frozenset({2}), embed_text)), "what was shown is no evidence"
    assert not list(find_outcomes(said, [turn(1, 0.0)], EVIDENCE, embed_text)), "what was shown said nothing"
    assert not list(find_outcomes(said, [], EVIDENCE, embed_text)), "the turn was not recorded"
    assert not list(find_outcomes(said, [turn(1)], EVIDENCE, embed_text, after=3)), "it was counted in an earlier night"
    told = lines(("user", FACT), ("assistant", "Noted."), ("user", "Thanks!"))
    assert not list(find_outcomes(told, [turn(1)], EVIDENCE, embed_text)), "nothing was asked"


BROKEN: list[dict[str, object]] = [
    {},
    {"unadjusted": 0.5, "recalled": 3},
    {"unadjusted": 0.5, "recalled": [{"id": [], "shown": True}]},
    {"unadjusted": "x", "recalled": [{"id": 1, "shown": True}]},
    {"unadjusted": 7, "recalled": [{"id": 1, "shown": True}]},
]


@pytest.mark.parametrize("data", BROKEN)
def test_a_broken_record_is_no_outcome(data: dict[str, object]) -> None:
    said = lines(("user", ASKED), ("assistant", ANSWER), ("user", "Thanks!"))
    assert not list(find_outcomes(said, [StoredSignal(1, 1, "meta:turn", data, 0.0)], EVIDENCE, embed_text))


UNIT = st.floats(0, 1)


@given(st.lists(st.tuples(UNIT, st.booleans()), max_size=300))
def test_of_what_is_called_high_no_more_is_wrong_than_promised_whatever_comes(stream: list[tuple[float, bool]]) -> None:
    calibration, said, wrong = load_shipped(), 0, 0
    for score, held in stream:
        high = score >= calibration.high
        said, wrong = said + high, wrong + (high and not held)
        calibration = move_threshold(calibration, [AnswerOutcome(score, held, high)])
        assert calibration.medium <= calibration.high <= MOST
        if calibration.high == MOST:  # from there on nothing is promised
            return
    assert wrong <= MISSES * said + (MOST - load_shipped().high) / PACE + 1e-6


pytest_anyio = pytest.mark.anyio


async def _days(store: Store, reaction: str, days: int) -> None:
    metacognition = Metacognition(store, holdout=0.0)
    async with metacognition.turn("ana", "first", FACT) as first:
        first.finish("I will remember that.")
    for day in range(days):
        for message in (ASKED, reaction):
            async with metacognition.turn("ana", f"day {day}", message) as turn:
                turn.finish(ANSWER)


@pytest_anyio
async def test_a_night_counts_an_outcome_once(store: Store) -> None:
    await _days(store, "Thanks!", 3)
    metacognition = Metacognition(store, holdout=0.0)
    for _ in range(2):
        await metacognition.sleep("ana", force=True)
    user_id = await store.nights.find_user_id("ana")
    assert user_id is not None
    assert len((await read_calibration(store, user_id, load_shipped())).outcomes) == 3
    assert len(await store.guidance.list_revisions(user_id, OWN)) == 1


@pytest_anyio
async def test_the_night_begins_with_the_calibration_that_the_host_gave(store: Store) -> None:
    await _days(store, "Thanks!", 3)
    strict = replace(load_shipped(), high=0.9, shift=-0.5)
    metacognition = Metacognition(store, calibration=strict, holdout=0.0)
    await metacognition.sleep("ana", force=True)
    found = (await metacognition.engine.read_learned(await store.resolve_place("ana", "later"))).calibration
    assert abs(found.high - 0.9) < 0.05
    assert abs(found.shift + 0.5) < 0.2


@pytest_anyio
@pytest.mark.parametrize("reaction", ["Thanks, that helps!", "No, that's wrong."])
async def test_what_became_of_the_assistant_s_own_words_changes_nothing(store: Store, reaction: str) -> None:
    metacognition = Metacognition(store, holdout=0.0)
    for said, answer in (
        ("Can you recommend a restaurant in Lisbon?", "Taberna Sal Grosso in Lisbon is an excellent restaurant."),
        ("What was the name of the restaurant in Lisbon that you recommended?", "Taberna Sal Grosso."),
        (reaction, "Noted."),
    ):
        async with metacognition.turn("ana", "one", said) as turn:
            turn.finish(answer)
    user_id = await store.nights.find_user_id("ana")
    assert user_id is not None
    turns = await store.nights.list_session_signals(
        user_id, ["meta:turn"], [one.id for one in await store.nights.sessions_to_sleep_on(user_id)]
    )
    assert any(one["shown"] for one in turns[1].data["recalled"]), "the assistant's words were shown"
    report = await metacognition.sleep("ana", force=True)
    assert next(one.state for one in report.phases if one.name == "calibration") == "skipped"
    assert await read_calibration(store, user_id, load_shipped()) == Own(load_shipped(), ())


@pytest_anyio
async def test_a_word_on_an_answer_while_the_night_is_at_work_is_counted_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _days(store, "No, that's wrong.", 3)
    user_id = await store.nights.find_user_id("ana")
    assert user_id is not None
    former = NightRepository.list_session_signals

    async def judge_first(self: NightRepository, *args: Any, **named: Any) -> Any:
        monkeypatch.undo()
        await judge_answer(store, "ana", "day 0", 1, True, load_shipped())
        return await former(self, *args, **named)

    monkeypatch.setattr(NightRepository, "list_session_signals", judge_first)
    phases = [(PhaseName.CALIBRATION, calibrate_confidence)]
    (failed,) = (await sleep_cycle(store, "ana", phases, force=True, embed=embed_text)).failed
    assert (failed.name, "in the meantime" in failed.why) == ("calibration", True)
    assert (await sleep_cycle(store, "ana", phases, force=True, embed=embed_text)).failed == ()
    held = [outcome.held for outcome in (await read_calibration(store, user_id, load_shipped())).outcomes]
    assert sorted(held) == [False, False, False, True]
