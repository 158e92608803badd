"""Confidence learns from what users give for free, for each user by themselves, and a person can take it back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insula.calibration import MISSES, MOST, OWN, PACE, Outcome, settle, shipped
from insula.memory.nights import Line, Noticed
from insula.memory.store import Store
from insula.metacognition import Metacognition
from insula.sleep.outcomes import Own, forget, outcomes, own
from insula.types import Provenance

FACT, ASKED, ANSWER = "My sister Ana lives in Lisbon.", "Where does Ana live?", "She lives in Porto."


def lines(*said: tuple[Provenance, str]) -> list[Line]:
    return [Line(i, (i + 1) // 2, by, text, float(i), None) for i, (by, text) in enumerate(said, 1)]


def turn(number: int, score: float = 0.8, *, shown: bool = True) -> Noticed:
    data = {"confidence": {"level": "high"}, "unadjusted": score, "recalled": [{"id": 1, "shown": shown}]}
    return Noticed(1, number, "meta:turn", data, 0.0)


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
    found = list(outcomes(lines(("user", ASKED), ("assistant", ANSWER), ("user", reaction)), [turn(1)]))
    assert found == ([] if held is None else [Outcome(0.8, held, said_high=True)])


def test_thanks_are_heard_in_the_language_of_the_talk() -> None:
    said = lines(("user", "Wo wohnt Ana?"), ("assistant", "Sie wohnt in Lissabon."), ("user", "Danke, perfekt."))
    assert list(outcomes(said, [turn(1)])) == [Outcome(0.8, held=True, said_high=True)]


def test_only_what_memory_had_a_say_in_counts() -> None:
    said = lines(("user", ASKED), ("assistant", ANSWER), ("user", "Thanks!"))
    assert not list(outcomes(said, [turn(1, shown=False)])), "nothing was shown"
    assert not list(outcomes(said, [])), "the turn was not recorded"
    assert not list(outcomes(said, [turn(1)], after=3)), "it was counted in an earlier night"
    told = lines(("user", FACT), ("assistant", "Noted."), ("user", "Thanks!"))
    assert not list(outcomes(told, [turn(1)])), "nothing was asked"


@pytest.mark.parametrize(
    "data", [{}, {"unadjusted": 0.5, "recalled": 3}, {"unadjusted": "x", "recalled": [{"shown": True}]}]
)
def test_a_broken_record_is_no_outcome(data: dict[str, object]) -> None:
    said = lines(("user", ASKED), ("assistant", ANSWER), ("user", "Thanks!"))
    assert not list(outcomes(said, [Noticed(1, 1, "meta:turn", data, 0.0)]))


UNIT = st.floats(0, 1)


@given(st.lists(st.tuples(UNIT, st.booleans()), max_size=300))
def test_of_what_is_called_high_no_more_is_wrong_than_promised_whatever_comes(stream: list[tuple[float, bool]]) -> None:
    calibration, said, wrong = shipped(), 0, 0
    for score, held in stream:
        high = score >= calibration.high
        said, wrong = said + high, wrong + (high and not held)
        calibration = settle(calibration, [Outcome(score, held, high)])
        assert calibration.medium <= calibration.high <= MOST
        if calibration.high == MOST:  # from there on nothing is promised
            return
    assert wrong <= MISSES * said + (MOST - shipped().high) / PACE + 1e-6


def test_high_comes_back_where_answers_hold_again() -> None:
    strict = settle(shipped(), [Outcome(0.99, held=False, said_high=True)] * 40)
    assert strict.high == MOST
    assert settle(strict, [Outcome(0.99, held=True, said_high=True)] * 30).high < 0.85


pytest_anyio = pytest.mark.anyio


async def _days(store: Store, reaction: str, days: int) -> None:
    metacognition = Metacognition(store, holdout=0.0)
    async with metacognition.turn("ana", "first", FACT) as first:
        first.finish("I will remember that.")
    for day in range(days):
        for message in (ASKED, reaction):
            async with metacognition.turn("ana", f"day {day}", message) as turn:
                turn.finish(ANSWER)


async def _asked(metacognition: Metacognition) -> tuple[float, str]:
    async with metacognition.turn("ana", "later", ASKED) as turn:
        turn.finish(ANSWER)
    return turn.confidence.score, turn.instructions


@pytest_anyio
async def test_corrections_lower_what_the_next_day_is_told_and_a_person_takes_it_back(store: Store) -> None:
    await _days(store, "No, that's wrong.", 12)
    metacognition = Metacognition(store, holdout=0.0)
    before, sentence = await _asked(metacognition)
    report = await metacognition.sleep("ana", force=True)
    assert report.failed == ()
    found = next(phase.found for phase in report.phases if phase.name == "calibration")
    assert (found["right"], found["wrong"]) == (0, 12)
    after, changed = await _asked(metacognition)
    assert after < before - 0.1
    assert changed != sentence, "the model is told of it"
    user_id = await store.sleeper("ana")
    assert user_id is not None
    assert (await own(store, user_id, shipped())).calibration.high > shipped().high
    await forget(store, user_id)
    assert await own(store, user_id, shipped()) == Own(shipped(), ())
    back, _ = await _asked(metacognition)
    assert back == pytest.approx(before, abs=0.05)


@pytest_anyio
async def test_a_night_counts_an_outcome_once(store: Store) -> None:
    await _days(store, "Thanks!", 3)
    metacognition = Metacognition(store, holdout=0.0)
    for _ in range(2):
        await metacognition.sleep("ana", force=True)
    user_id = await store.sleeper("ana")
    assert user_id is not None
    assert len((await own(store, user_id, shipped())).outcomes) == 3
    assert len(await store.revisions(user_id, OWN)) == 1


@pytest_anyio
async def test_the_night_begins_with_the_calibration_that_the_host_gave(store: Store) -> None:
    await _days(store, "Thanks!", 3)
    strict = replace(shipped(), high=0.9, shift=-0.5)
    metacognition = Metacognition(store, calibration=strict, holdout=0.0)
    await metacognition.sleep("ana", force=True)
    found = (await metacognition.learned(await store.place("ana", "later"))).calibration
    assert abs(found.high - 0.9) < 0.05
    assert abs(found.shift + 0.5) < 0.2


@pytest_anyio
async def test_what_was_said_before_a_person_began_anew_no_longer_counts(store: Store) -> None:
    await _days(store, "No, that's wrong.", 3)
    user_id = await store.sleeper("ana")
    assert user_id is not None
    await forget(store, user_id)
    await Metacognition(store, holdout=0.0).sleep("ana", force=True)
    assert await own(store, user_id, shipped()) == Own(shipped(), ())


@pytest_anyio
async def test_one_user_s_outcomes_change_nobody_else_s_confidence(store: Store) -> None:
    await _days(store, "No, that's wrong.", 12)
    metacognition = Metacognition(store, holdout=0.0)
    await metacognition.sleep("ana", force=True)
    place = await store.place("bo", "first")
    assert (await metacognition.learned(place)).calibration == shipped()
