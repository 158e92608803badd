"""A real long conversation with a model that slows down: each lever acts, and says what it saved (S3, S5, S6, S11)."""

from collections.abc import Sequence
from itertools import chain, count

import pytest

from insula.agent.chat import Chat
from insula.metacognition import Metacognition, Regulator
from insula.session.saved import Lever, Saved
from insula.testing import FrozenClock, ScriptedModel, memory_store
from insula.types import Controls, Usage
from insula_bench import talks
from insula_bench.session import exchanges
from insula_bench.slowness import Answered, Lived, live_through

pytestmark = pytest.mark.anyio

CALM, STRETCH, OVER = 26, 12, 8
"""Turns as usual, at each slowness, and as usual again."""
SLOW, SEVERE = 3.0, 12.0
"""How many times slower the model becomes."""


def talk() -> list[tuple[str, str]]:
    """Talks of a user with an assistant, one after the other, from the second on: much is told and asked there."""
    said = list(chain.from_iterable(map(exchanges, talks.with_assistant()[1:])))
    return said[: CALM + 2 * STRETCH + OVER]


def of(found: Lived, *levers: Lever) -> dict[Lever, Saved]:
    """What the records of changes say was saved, by lever."""
    made = dict[Lever, Saved]()
    for one in found.adaptations:
        if one.lever in levers and one.saved:
            made[one.lever] = made.get(one.lever, Saved()) + one.saved
    return made


def slow(turns: Sequence[Answered], slower: float) -> Sequence[Answered]:
    """The last turns of a stretch, when it has long been noticed."""
    return [one for one in turns if one.slower == slower][-3:]


async def test_in_a_long_conversation_with_a_model_that_slows_down_each_lever_acts_and_says_what_it_saved() -> None:
    found = await live_through("slow", talk(), slower=(SLOW, SEVERE), calm=CALM, stretch=STRETCH)
    usual = await live_through("as usual", talk(), slower=())

    assert (found.early, usual.early, found.told, usual.told) == (0, 0, 0, 0)
    assert found.noticed is not None
    assert found.noticed <= 8
    assert found.late <= 8
    assert {one.controls.history_share for one in slow(found.turns, SLOW)} == {0.75}
    assert {one.controls.history_share for one in slow(found.turns, SEVERE)} == {0.5}
    assert max(one.controls.max_context_items for one in slow(found.turns, SLOW)) <= 12
    assert {one.controls.retry for one in slow(found.turns, SLOW)} == {0}
    assert {one.skipped for one in slow(found.turns, SLOW)} == {()}
    assert {one.skipped for one in slow(found.turns, SEVERE)} == {("embedding", "assessor_model")}
    assert found.turns[-1].controls.history_share == 1.0

    sent = [(one.history_chars, other.history_chars) for one, other in zip(usual.turns, found.turns, strict=True)]
    said = found.saved["history_share"].history_chars
    assert said == sum(one - other for one, other in sent) > 3_000
    assert found.saved["skipped_stages"].vectors
    assert found.saved["skipped_stages"].calls
    shown = [one for taken in found.snapshots for one in taken.advisories or ()]
    assert (
        sum(one.saved.history_chars or 0 for one in shown) == said
    )  # each snapshot says it of the turns since the last
    assert {one.reason for one in shown if one.lever == "history_share"} == {"performance_degraded"}
    levers: tuple[Lever, ...] = "history_share", "skipped_stages"
    assert of(found, *levers) == {lever: found.saved[lever] for lever in levers}
    assert found.advised >= sum(one.controls.history_share < 1 for one in found.turns) / 2


async def test_a_second_answer_that_a_slow_model_is_spared_is_counted_with_what_it_would_have_asked_for() -> None:
    clock = FrozenClock()
    model = ScriptedModel(lambda _: "The capital of Kenya is Nairobi.")
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store, regulator=Regulator(Controls(retry=1)))
        chat = Chat(mind, model, max_tokens=700)
        question = "What is the capital of Kenya, and how many people live there?"
        await chat.reply("ana", "now", question)
        asked_twice = len(model.requests)
        await spent(mind, clock, "scripted", [2.0] * 20 + [6.0] * 12)
        reply = await chat.reply("ana", "then", question)
        asked = len(model.requests) - asked_twice
    assert (asked_twice, asked) == (2, 1)
    assert {one.lever: one.saved.model_dump() for one in reply.advisories}["retry"] == {
        "calls": 1,
        "output_tokens": 700,
    }
    assert reply.record()["advisories"][0]["source_system"] == "metacog"


async def spent(mind: Metacognition, clock: FrozenClock, model: str, seconds: Sequence[float]) -> Controls:
    """Turns of some host that says how long its model took for a hundred tokens; returns what the last might use."""
    used = mind.controls
    for number, one in enumerate(seconds):
        clock.advance(60.0)
        async with mind.turn("bo", "talk", f"I saw fox number {number} today.", model=model) as turn:
            used = turn.controls
            turn.finish("Nice.", usage=Usage(calls=1, output_tokens=100, seconds=one))
    return used


async def test_a_conversation_of_long_answers_is_none_with_a_slow_model() -> None:
    """Answers that are thirty times as long take thirty times as long, and nothing is cut."""
    short, long = talk()[:CALM], talk()[CALM : CALM + STRETCH]
    said = [(message, "Well. " * 10) for message, _ in short] + [(message, "Well. " * 300) for message, _ in long]
    found = await live_through("long answers", said, slower=())
    assert {one.controls.history_share for one in found.turns} == {1.0}
    assert not {"history_share", "retry", "skipped_stages"} & found.saved.keys()


async def test_insula_s_own_time_is_none_of_the_model_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk, or a machine, that becomes slow makes each turn long; the model answers as fast as ever."""
    clock, ticks = FrozenClock(), count(0.0, 9.0)
    monkeypatch.setattr("insula.metacognition.turn.time.perf_counter", lambda: next(ticks))
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store)
        used = await spent(mind, clock, "tiny", [2.0] * 60)
        found = mind.engine.regulator.measure_performance("tiny", clock().timestamp())
    assert used == Controls()
    assert found.slowdown == 1.0
    assert found.latency_p95_ms is not None
    assert found.latency_p95_ms > 9_000.0


async def test_a_host_that_does_not_know_how_long_its_model_took_is_never_slow() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store)
        used = await spent(mind, clock, "tiny", [0.0] * 60)
        assert mind.engine.regulator.measure_performance("tiny", clock().timestamp()).slowdown is None
    assert used == Controls()


async def test_nothing_is_said_to_be_saved_where_a_lever_moved_and_there_was_nothing_to_cut() -> None:
    clock = FrozenClock()
    async with memory_store(lambda: clock().timestamp()) as store:
        mind = Metacognition(store)
        await spent(mind, clock, "scripted", [2.0] * 20 + [6.0] * 12)
        reply = await Chat(mind, ScriptedModel(lambda _: "Hello.")).reply("zoe", "first", "Hello there!")
    assert reply.controls.max_context_items == 12
    assert reply.advisories == ()
    assert "advisories" not in reply.record()
